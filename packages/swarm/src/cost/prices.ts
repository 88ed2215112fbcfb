import { calcPrice } from '@pydantic/genai-prices';
import type { Clock } from '@mound/vcs';
import type { Spend, Usage } from '../core/usage.ts';

/** Prices that an operator sets: they go before those of the table. US dollars for a million tokens. */
export interface PriceOverride {
  /** Name of the model; a `*` at its end stands for any ending. */
  readonly model: string;
  /** Base URL; default: any. */
  readonly endpoint?: string | undefined;
  /** Day from which it holds, `2026-01-31`; default: always. The newest that holds counts. */
  readonly from?: string | undefined;
  readonly input: number;
  readonly output: number;
  /** Read from the cache; default: as input. */
  readonly cached?: number | undefined;
  /** Written to the cache; default: as input. */
  readonly cacheWrite?: number | undefined;
}

/** What one request cost. Money is whole billionths of a US dollar, so that sums are exact. */
export type Cost =
  | {
      readonly kind: 'known';
      readonly nanoUsd: number;
      /** True where its tokens are an estimate. */
      readonly estimated: boolean;
      readonly source: 'operator' | 'table' | 'reported';
    }
  | { readonly kind: 'unknown' };

const nanoOf = (usd: number): number => Math.round(usd * 1e9);

/** What tokens cost at a time: by the operator, else by what the provider reports, else by the table, else nobody knows. */
export class PriceBook {
  readonly #overrides: readonly PriceOverride[];
  readonly #clock: Clock;

  /** Throws `TypeError` on a price that is none. */
  constructor(overrides: readonly PriceOverride[], clock: Clock) {
    for (const override of overrides) mustPrice(override);
    this.#overrides = overrides.toSorted((left, right) => ((left.from ?? '') < (right.from ?? '') ? 1 : -1));
    this.#clock = clock;
  }

  cost({ model, endpoint, usage, costUsd }: Spend): Cost {
    if (usage !== undefined) {
      const nanoUsd = this.#byOperator(model, endpoint, usage);
      if (nanoUsd !== undefined) return { kind: 'known', nanoUsd, estimated: usage.estimated, source: 'operator' };
    }
    if (costUsd !== undefined) return { kind: 'known', nanoUsd: nanoOf(costUsd), estimated: false, source: 'reported' };
    if (usage === undefined || endpoint === undefined) return { kind: 'unknown' };
    const nanoUsd = this.#byTable(model, endpoint, usage);
    return nanoUsd === undefined
      ? { kind: 'unknown' }
      : { kind: 'known', nanoUsd, estimated: usage.estimated, source: 'table' };
  }

  #byOperator(model: string, endpoint: string | undefined, usage: Usage): number | undefined {
    const today = new Date(this.#clock.now()).toISOString().slice(0, 10);
    const override = this.#overrides.find(
      (one) =>
        isNamed(one.model, model) &&
        (one.endpoint === undefined || one.endpoint === endpoint) &&
        (one.from === undefined || one.from <= today),
    );
    if (override === undefined) return undefined;
    const { input, output, cached = input, cacheWrite = input } = override;
    const written = usage.cacheWriteTokens ?? 0;
    const fresh = Math.max(0, usage.inputTokens - usage.cachedTokens - written);
    return Math.round(
      (fresh * input + usage.cachedTokens * cached + written * cacheWrite + usage.outputTokens * output) * 1000,
    );
  }

  #byTable(model: string, endpoint: string, usage: Usage): number | undefined {
    const tokens = {
      input_tokens: usage.inputTokens,
      output_tokens: usage.outputTokens,
      ...(usage.cachedTokens > 0 && { cache_read_tokens: usage.cachedTokens }),
      ...(usage.cacheWriteTokens !== undefined && { cache_write_tokens: usage.cacheWriteTokens }),
    };
    try {
      const timestamp = new Date(this.#clock.now());
      const price = calcPrice(tokens, model, { providerApiUrl: endpoint, timestamp });
      return price === null ? undefined : nanoOf(price.total_price);
    } catch {
      // The table refuses what it has no price for.
      return undefined;
    }
  }
}

const isNamed = (pattern: string, model: string): boolean =>
  pattern.endsWith('*') ? model.startsWith(pattern.slice(0, -1)) : pattern === model;

function mustPrice({ model, from, input, output, cached, cacheWrite }: PriceOverride): void {
  const isPrice = (price: number | undefined): boolean => price === undefined || (Number.isFinite(price) && price >= 0);
  if (![input, output, cached, cacheWrite].every(isPrice))
    throw new TypeError(`price of '${model}': not an amount of dollars`);
  if (from !== undefined && (!/^\d{4}-\d\d-\d\d$/.test(from) || Number.isNaN(Date.parse(from)))) {
    throw new TypeError(`price of '${model}': from '${from}' is not a day such as 2026-01-31`);
  }
}
