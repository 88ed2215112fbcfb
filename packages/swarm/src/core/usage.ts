/** Tokens of model calls. */
export interface Usage {
  /** All input tokens, the cached ones included. */
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cachedTokens: number;
  /** True where any part was counted by us and not reported by the provider. */
  readonly estimated: boolean;
}

export const noUsage: Usage = { inputTokens: 0, outputTokens: 0, cachedTokens: 0, estimated: false };

export const addUsage = (left: Usage, right: Usage): Usage => ({
  inputTokens: left.inputTokens + right.inputTokens,
  outputTokens: left.outputTokens + right.outputTokens,
  cachedTokens: left.cachedTokens + right.cachedTokens,
  estimated: left.estimated || right.estimated,
});

/** Four characters a token: crude, cheap and always marked as an estimate. */
export const estimateTokens = (characters: number): number => Math.max(1, Math.ceil(characters / 4));
