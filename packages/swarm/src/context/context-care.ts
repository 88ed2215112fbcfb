import type { History } from '../model/history.ts';
import type { ModelTurn, ToolSpec } from '../model/model.ts';
import { compact, messagesBytes } from './compact.ts';
import { TokenGauge } from './gauge.ts';

/** Assumed where a model's context is not known; an overflow teaches better. */
const contextTokensAssumed = 128_000;
/** Of the context, what is kept free for the answer. */
const answerShare = 0.15;
const answerTokensMax = 16_000;
/** Compaction goes below the limit, so that it is not needed again at once. */
const compactShare = 0.7;

export type Fit =
  | { readonly kind: 'fits' }
  | { readonly kind: 'compacted'; readonly fromTokens: number; readonly toTokens: number }
  | { readonly kind: 'exhausted'; readonly says: string };

/** Keeps one agent's requests within its model's context: checked before each request. */
export class ContextCare {
  readonly #gauge = new TokenGauge();
  readonly #toolBytes: number;
  #contextTokens: number;

  constructor(contextTokens: number | undefined, tools: readonly ToolSpec[]) {
    this.#contextTokens = contextTokens ?? contextTokensAssumed;
    this.#toolBytes = Buffer.byteLength(JSON.stringify(tools));
  }

  get contextTokens(): number {
    return this.#contextTokens;
  }

  /** Makes the history fit, where it does not. */
  fit(history: History): Fit {
    const messages = history.messages();
    const tokens = this.#gauge.tokens(messagesBytes(messages) + this.#toolBytes);
    const limit = this.#contextTokens - Math.min(answerTokensMax, Math.floor(this.#contextTokens * answerShare));
    if (tokens <= limit) return { kind: 'fits' };
    const target = (share: number): number => this.#gauge.bytes(limit * share) - this.#toolBytes;
    let compaction = compact(messages, target(compactShare));
    // Better a full context than none.
    if (compaction.kind === 'stuck') compaction = compact(messages, target(1));
    if (compaction.kind === 'stuck') {
      const says = `${compaction.says} in a context of ${this.#contextTokens} tokens (about ${tokens} are needed)`;
      return { kind: 'exhausted', says };
    }
    history.replace(compaction.messages);
    return { kind: 'compacted', fromTokens: tokens, toTokens: this.#gauge.tokens(compaction.bytes + this.#toolBytes) };
  }

  /** The provider took the history; what it counted is better than a guess. */
  took(history: History, { usage, warnings = [] }: ModelTurn): void {
    const cut = warnings.find(({ code }) => code === 'context-cut');
    if (cut !== undefined) this.#contextTokens = Math.min(this.#contextTokens, cut.contextTokens);
    else if (!usage.estimated)
      this.#gauge.learn(messagesBytes(history.messages()) + this.#toolBytes, usage.inputTokens);
  }

  /** The provider said that the history does not fit; the next {@link fit} has to make it shorter. */
  overflowed(history: History, contextTokens: number | undefined): void {
    const sent = this.#gauge.tokens(messagesBytes(history.messages()) + this.#toolBytes);
    const named = contextTokens ?? Infinity;
    // Where it should have fitted by its own word, our count is wrong: then by a quarter less than was sent.
    this.#contextTokens = Math.min(this.#contextTokens, named, Math.floor(sent * 0.75));
  }
}
