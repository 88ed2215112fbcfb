/** The command line asks for something that cannot be: one line, exit code 2. */
export class UsageError extends Error {}

/** The run stopped at its budget or time limit: exit code 53. */
export class OutOfBounds extends Error {}
