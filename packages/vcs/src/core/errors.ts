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
  | 'operation-mismatch'
  | 'no-such-seq'
  | 'no-such-branch'
  | 'no-such-path'
  | 'no-such-commit'
  | 'no-such-conflict'
  | 'no-such-object'
  | 'object-damaged'
  | 'repo-closed'
  | 'invalid-argument'
  | 'git-missing'
  | 'git-too-old'
  | 'git-failed'
  | 'not-a-git-repository'
  | 'stdin-malformed'
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

/** A broken invariant is a bug in Mound: it stops the operation, in production too. */
export function invariant(holds: unknown, statement: string): asserts holds {
  if (!holds) throw new Error(`invariant broken: ${statement}`);
}
