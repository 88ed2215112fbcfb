/** Tokens of model calls. */
export interface Usage {
  /** All input tokens, those read from or written to a cache included. */
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Input tokens read from the provider's cache. */
  readonly cachedTokens: number;
  /** Input tokens written to the provider's cache, where it reports (and prices) them. */
  readonly cacheWriteTokens?: number;
  /** True where any part was counted by us and not reported by the provider. */
  readonly estimated: boolean;
}

export const noUsage: Usage = { inputTokens: 0, outputTokens: 0, cachedTokens: 0, estimated: false };

export function addUsage(left: Usage, right: Usage): Usage {
  const written = (left.cacheWriteTokens ?? 0) + (right.cacheWriteTokens ?? 0);
  return {
    inputTokens: left.inputTokens + right.inputTokens,
    outputTokens: left.outputTokens + right.outputTokens,
    cachedTokens: left.cachedTokens + right.cachedTokens,
    ...(written > 0 && { cacheWriteTokens: written }),
    estimated: left.estimated || right.estimated,
  };
}

/**
 * Four bytes of UTF-8 a token: crude, cheap, and always marked as an estimate.
 * A tokenizer would be no better for an unknown model, and takes minutes on
 * some inputs.
 */
export const estimateTokens = (bytes: number): number => Math.max(1, Math.ceil(bytes / 4));

/** Tokens that one model served in one request, whether its answer could be used or not. */
export interface Spend {
  /** Name under which the provider knows the model; a command's name where it is one. */
  readonly model: string;
  /** Base URL that served it; undefined where none did. */
  readonly endpoint?: string;
  /** undefined: tokens were spent, and nobody says how many. */
  readonly usage?: Usage;
  /** What the provider or command itself says that it cost, in US dollars. */
  readonly costUsd?: number;
}
