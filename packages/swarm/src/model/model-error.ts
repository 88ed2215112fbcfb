import type { Usage } from '../core/usage.ts';

export type ModelErrorCode =
  /** The connection failed, or the stream ended before the answer did. */
  | 'transport'
  /** The provider said that it failed (5xx, or an error inside a stream). */
  | 'provider'
  | 'rate-limited'
  /** The provider refuses the request as it is; asking again is of no use. */
  | 'refused'
  /** Status 200, but no event stream. */
  | 'not-a-stream'
  /** A line of the stream is no JSON. */
  | 'malformed-stream'
  | 'idle-timeout'
  | 'total-timeout'
  | 'key-missing'
  | 'script-missing'
  | 'aborted';

const retried: ReadonlySet<ModelErrorCode> = new Set([
  'transport',
  'provider',
  'rate-limited',
  'malformed-stream',
  'idle-timeout',
]);

export class ModelError extends Error {
  override readonly name = 'ModelError';
  readonly code: ModelErrorCode;
  readonly status: number | undefined;
  /** What the provider asked to wait. */
  readonly retryAfterMs: number | undefined;
  /** Tokens reported before it failed. */
  readonly usage: Usage | undefined;

  constructor(
    code: ModelErrorCode,
    message: string,
    more: {
      readonly status?: number | undefined;
      readonly retryAfterMs?: number | undefined;
      readonly usage?: Usage | undefined;
      readonly cause?: unknown;
    } = {},
  ) {
    super(message, more.cause === undefined ? undefined : { cause: more.cause });
    this.code = code;
    this.status = more.status;
    this.retryAfterMs = more.retryAfterMs;
    this.usage = more.usage;
  }

  /** True where the same request may succeed later. */
  get isRetryable(): boolean {
    return retried.has(this.code);
  }
}
