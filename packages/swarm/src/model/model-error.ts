import type { Spend } from '../core/usage.ts';

export type ModelErrorCode =
  /** The connection failed, or the stream ended before the answer did. */
  | 'transport'
  /** The provider said that it failed (5xx, or an error inside a stream). */
  | 'provider'
  | 'rate-limited'
  /** The account has no money or no quota left: waiting is of no use. */
  | 'quota-exhausted'
  /** The request is longer than the model's context; it has to be made shorter. */
  | 'context-overflow'
  /** The provider refuses the request as it is; asking again is of no use. */
  | 'refused'
  /** The answer was withheld by the provider's content filter. */
  | 'filtered'
  /** Status 200, but no event stream. */
  | 'not-a-stream'
  /** A line of the stream is no JSON. */
  | 'malformed-stream'
  | 'idle-timeout'
  | 'total-timeout'
  /** Nothing was sent: the endpoint is closed for longer than the caller would wait. */
  | 'unavailable'
  | 'key-missing'
  | 'script-missing'
  /** A cassette holds no answer to the request. */
  | 'replay-diverged'
  /** A command could not be started, or ended without anything to go on with. */
  | 'command-failed'
  | 'aborted';

const retried: ReadonlySet<ModelErrorCode> = new Set([
  'transport',
  'provider',
  'rate-limited',
  'malformed-stream',
  'idle-timeout',
]);

/** Codes after which another model may do better. */
const elsewhere: ReadonlySet<ModelErrorCode> = new Set([
  ...retried,
  'quota-exhausted',
  'refused',
  'filtered',
  'not-a-stream',
  'total-timeout',
  'unavailable',
]);

export interface ModelErrorMore {
  readonly status?: number | undefined;
  readonly retryAfterMs?: number | undefined;
  readonly spent?: readonly Spend[];
  readonly contextTokens?: number | undefined;
  readonly cause?: unknown;
}

export class ModelError extends Error {
  override readonly name = 'ModelError';
  readonly code: ModelErrorCode;
  readonly status: number | undefined;
  /** What the provider asked to wait. */
  readonly retryAfterMs: number | undefined;
  /** Tokens spent before it failed, one entry a request. */
  readonly spent: readonly Spend[];
  /** With `context-overflow`: the limit, where the provider names it. */
  readonly contextTokens: number | undefined;

  constructor(code: ModelErrorCode, message: string, more: ModelErrorMore = {}) {
    super(message, more.cause === undefined ? undefined : { cause: more.cause });
    this.code = code;
    this.status = more.status;
    this.retryAfterMs = more.retryAfterMs;
    this.spent = more.spent ?? [];
    this.contextTokens = more.contextTokens;
  }

  /** True where the same request may succeed later. */
  get isRetryable(): boolean {
    return retried.has(this.code);
  }

  /** True where another model may answer the same request. */
  get isForAnother(): boolean {
    return elsewhere.has(this.code);
  }

  /** The same, with what earlier attempts had spent. */
  after(spent: readonly Spend[]): ModelError {
    if (spent.length === 0) return this;
    const { status, retryAfterMs, contextTokens } = this;
    const more = { status, retryAfterMs, contextTokens, spent: [...spent, ...this.spent], cause: this };
    return new ModelError(this.code, this.message, more);
  }
}
