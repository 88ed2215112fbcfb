import type { Spend } from '../core/usage.ts';
import { ModelError } from './model-error.ts';
import type { AskOptions, Model, ModelRequest, ModelTurn } from './model.ts';

/** With another model at hand nobody waits longer for one that is closed. */
const waitMsMaxDefault = 30_000;

/** Several models for one role: the first that answers. Nothing of a failed turn was run, so going on with another is safe. */
export class FallbackModel implements Model {
  readonly name: string;
  readonly contextTokens: number | undefined;
  readonly abortMsMax: number;
  /** Of the dearest; not known where one does not say. */
  readonly costUsdMax: number | undefined;
  readonly #models: readonly Model[];
  readonly #waitMsMax: number;

  constructor(models: readonly [Model, ...Model[]], options: { readonly waitMsMax?: number } = {}) {
    this.name = models[0].name;
    const windows = models.flatMap(({ contextTokens }) => contextTokens ?? []);
    this.contextTokens = windows.length > 0 ? Math.min(...windows) : undefined;
    const bounds = models.flatMap(({ costUsdMax }) => costUsdMax ?? []);
    this.costUsdMax = bounds.length === models.length ? Math.max(...bounds) : undefined;
    this.abortMsMax = Math.max(...models.map((model) => model.abortMsMax ?? 0));
    this.#models = models;
    this.#waitMsMax = options.waitMsMax ?? waitMsMaxDefault;
  }

  async complete(request: ModelRequest, signal: AbortSignal, options: AskOptions = {}): Promise<ModelTurn> {
    const spent: Spend[] = [];
    for (const [at, model] of this.#models.entries()) {
      const next = this.#models[at + 1];
      const waitMsMax =
        next === undefined ? options.waitMsMax : Math.min(options.waitMsMax ?? Infinity, this.#waitMsMax);
      try {
        const turn = await model.complete(request, signal, {
          ...options,
          ...(waitMsMax !== undefined && { waitMsMax }),
        });
        if (spent.length === 0) return turn;
        return { ...turn, spent: [...spent, ...(turn.spent ?? [{ model: model.name, usage: turn.usage }])] };
      } catch (error) {
        if (!(error instanceof ModelError)) throw error;
        if (next === undefined || !error.isForAnother) throw error.after(spent);
        spent.push(...error.spent);
        options.notice?.({
          kind: 'fallback',
          from: model.name,
          to: next.name,
          reason: `${error.code}: ${error.message}`,
        });
      }
    }
    throw new Error('a fallback model without models');
  }
}
