/** Options of the program itself that are followed by a value. */
const valued: ReadonlySet<string> = new Set(['--repo', '--author', '--agent', '--role', '--model']);

/** The command that a command line names. */
export const commandOf = (argv: readonly string[]): string | undefined =>
  argv.find((word, at) => !word.startsWith('-') && !valued.has(argv[at - 1] ?? ''));

/** Without the repository that it names. */
export const withoutRepo = (argv: readonly string[]): string[] =>
  argv.filter((word, at) => !isRepo(word) && argv[at - 1] !== '--repo');

const isRepo = (word: string): boolean => word === '--repo' || word.startsWith('--repo=');

/**
 * Commands that look at the store alone, so that a server can run them for who cannot open it: none that reads or
 * writes files of its caller.
 */
const throughServer: ReadonlySet<string> = new Set([
  'put', 'cat', 'ls', 'events', 'log', 'show', 'branch', 'merge', 'tag', 'diff', 'blame', 'restore', 'revert',
  'conflicts', 'rules', 'explain', 'flag', 'freeze', 'thaw', 'signals', 'stats', 'fsck', 'gc', 'token',
]); // prettier-ignore

/** Whether a server may run a command line; it knows by itself which repository is meant. */
export const goesThroughServer = (words: readonly string[]): boolean =>
  !words.some(isRepo) && throughServer.has(commandOf(words) ?? '');
