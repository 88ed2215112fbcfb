/** Bounds of what a tokenizer makes of a byte: code and words at the lower end, digits and rare scripts at the upper. */
const tokensPerByteMin = 1 / 10;
const tokensPerByteMax = 1;

/** Tokens of a request before it is sent: a quarter of its bytes, until the provider's own counts tell better. */
export class TokenGauge {
  #tokensPerByte = 1 / 4;

  tokens(bytes: number): number {
    return Math.ceil(bytes * this.#tokensPerByte);
  }

  bytes(tokens: number): number {
    return Math.floor(tokens / this.#tokensPerByte);
  }

  /** What the provider counted for a request of so many bytes. */
  learn(bytes: number, tokens: number): void {
    // Of a small request most is what the provider adds itself.
    if (bytes < 2000 || tokens <= 0) return;
    this.#tokensPerByte = Math.min(tokensPerByteMax, Math.max(tokensPerByteMin, tokens / bytes));
  }
}
