/** The command line asks for something that cannot be: one line, exit code 2. */
export class UsageError extends Error {}
