/**
 * Environment faults. Expected outcomes are values (see `outcome.ts`); a fault
 * is thrown as a {@link MoundError} whose `code` is stable and whose `fields`
 * name what was found.
 */
export type ErrorCode =
  | 'no-repository'
  | 'already-a-repository'
  | 'corrupt-store'
  | 'format-newer'
  | 'format-unknown'
  | 'permission-denied'
  | 'disk-full'
  | 'disk-failed'
  | 'writer-stalled'
  | 'too-many-readers'
  | 'other-namespace'
  | 'shared-file-system'
  | 'operation-mismatch'
  | 'no-such-seq'
  | 'no-such-branch'
  | 'branch-moved'
  | 'no-such-path'
  | 'no-such-commit'
  | 'no-such-conflict'
  | 'no-such-object'
  | 'object-damaged'
  | 'purged'
  | 'repo-closed'
  | 'no-such-workspace'
  | 'workspace-exists'
  | 'workspace-has-work'
  | 'workspace-has-files'
  | 'not-a-workspace'
  | 'path-clash'
  | 'path-refused'
  | 'file-changing'
  | 'invalid-argument'
  | 'git-missing'
  | 'git-too-old'
  | 'git-failed'
  | 'git-unreadable'
  | 'not-a-git-repository'
  | 'stdin-malformed'
  | 'already-served'
  | 'server-unreachable'
  | 'not-authorised'
  | 'forbidden'
  | 'interrupted';

export type ErrorFields = Readonly<Record<string, string | number | boolean | null | readonly string[]>>;

export class MoundError extends Error {
  override readonly name = 'MoundError';
  readonly code: ErrorCode;
  readonly fields: ErrorFields;

  constructor(code: ErrorCode, message: string, fields: ErrorFields = {}, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.fields = fields;
  }
}

export function isMoundError(error: unknown, code?: ErrorCode): error is MoundError {
  return error instanceof MoundError && (code === undefined || error.code === code);
}

/** The commands' exit codes. */
export const exitCodes = {
  ok: 0,
  other: 1,
  usage: 2,
  /** Conflicted or parked: kept, nothing landed. */
  kept: 3,
  rejected: 4,
  /** Something named cannot be read as what it should be. */
  unreadable: 42,
  /** A run ended at its budget or time limit. */
  budget: 53,
  interrupted: 130,
} as const;

const unreadable: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'no-repository',
  'corrupt-store',
  'format-newer',
  'format-unknown',
  'object-damaged',
  'purged',
  'other-namespace',
  'shared-file-system',
  'git-missing',
  'git-too-old',
  'not-a-git-repository',
  'git-unreadable',
  'not-a-workspace',
  'stdin-malformed',
  'server-unreachable',
]);

/** The exit code of a command that ended with this error. */
export function exitCodeOfError(error: unknown): number {
  if (!isMoundError(error)) return exitCodes.other;
  if (error.code === 'interrupted') return exitCodes.interrupted;
  if (error.code === 'invalid-argument') return exitCodes.usage;
  if (error.code === 'operation-mismatch' || error.code === 'branch-moved') return exitCodes.rejected;
  return unreadable.has(error.code) ? exitCodes.unreadable : exitCodes.other;
}

/** A broken invariant is a bug in Mound: it stops the operation, in production too. */
export function invariant(holds: unknown, statement: string): asserts holds {
  if (!holds) throw new Error(`invariant broken: ${statement}`);
}
