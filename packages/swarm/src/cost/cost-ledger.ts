import { addUsage, noUsage, type Spend, type Usage } from '../core/usage.ts';
import type { Cost, PriceBook } from './prices.ts';

/** For whom tokens were spent. */
export interface Spender {
  readonly role: string;
  readonly agent: string;
  readonly task?: string | undefined;
}

/** A sum of requests. What is not known is counted apart and never taken for nothing. */
export interface CostSum {
  readonly requests: number;
  readonly usage: Usage;
  /** Billionths of a US dollar of those requests whose price is known. */
  readonly nanoUsd: number;
  /** Requests of which nobody says what they cost. */
  readonly unknownRequests: number;
  /** Requests of which nobody says how many tokens they took; absent: none. */
  readonly unmeasuredRequests?: number;
  /** True where any of it was estimated. */
  readonly estimated: boolean;
}

export interface CostReport {
  readonly total: CostSum;
  readonly byRole: Readonly<Record<string, CostSum>>;
  readonly byTask: Readonly<Record<string, CostSum>>;
  readonly byAgent: Readonly<Record<string, CostSum>>;
  /** By `model`, or `model at endpoint` where it has one. */
  readonly byModel: Readonly<Record<string, CostSum>>;
}

const nothing: CostSum = { requests: 0, usage: noUsage, nanoUsd: 0, unknownRequests: 0, estimated: false };

/** Spent for the run as a whole, by the planner. */
const noTask = '(none)';

/** What a run has spent, by role, task, agent and model. */
export class CostLedger {
  readonly #prices: PriceBook;
  readonly #sums = {
    byRole: new Map<string, CostSum>(),
    byTask: new Map<string, CostSum>(),
    byAgent: new Map<string, CostSum>(),
    byModel: new Map<string, CostSum>(),
  };
  #total = nothing;

  constructor(prices: PriceBook) {
    this.#prices = prices;
  }

  record({ role, agent, task = noTask }: Spender, spent: readonly Spend[]): void {
    for (const spend of spent) {
      const cost = this.#prices.cost(spend);
      const model = spend.endpoint === undefined ? spend.model : `${spend.model} at ${spend.endpoint}`;
      this.#total = added(this.#total, spend, cost);
      for (const [sums, key] of [
        [this.#sums.byRole, role],
        [this.#sums.byTask, task],
        [this.#sums.byAgent, agent],
        [this.#sums.byModel, model],
      ] as const) {
        sums.set(key, added(sums.get(key) ?? nothing, spend, cost));
      }
    }
  }

  get total(): CostSum {
    return this.#total;
  }

  report(): CostReport {
    const { byRole, byTask, byAgent, byModel } = this.#sums;
    return {
      total: this.#total,
      byRole: Object.fromEntries(byRole),
      byTask: Object.fromEntries(byTask),
      byAgent: Object.fromEntries(byAgent),
      byModel: Object.fromEntries(byModel),
    };
  }
}

function added(sum: CostSum, { usage }: Spend, cost: Cost): CostSum {
  return {
    requests: sum.requests + 1,
    usage: addUsage(sum.usage, usage ?? noUsage),
    nanoUsd: sum.nanoUsd + (cost.kind === 'known' ? cost.nanoUsd : 0),
    unknownRequests: sum.unknownRequests + (cost.kind === 'unknown' ? 1 : 0),
    ...unmeasured((sum.unmeasuredRequests ?? 0) + (usage === undefined ? 1 : 0)),
    estimated: sum.estimated || (cost.kind === 'known' && cost.estimated),
  };
}

const unmeasured = (requests: number): Pick<CostSum, 'unmeasuredRequests'> =>
  requests === 0 ? {} : { unmeasuredRequests: requests };

/** Two sums as one. */
export function addCosts(left: CostSum | undefined, right: CostSum): CostSum {
  if (left === undefined) return right;
  return {
    requests: left.requests + right.requests,
    usage: addUsage(left.usage, right.usage),
    nanoUsd: left.nanoUsd + right.nanoUsd,
    unknownRequests: left.unknownRequests + right.unknownRequests,
    ...unmeasured((left.unmeasuredRequests ?? 0) + (right.unmeasuredRequests ?? 0)),
    estimated: left.estimated || right.estimated,
  };
}

/** `$0.0123`, `~$0.0123` where a part is an estimate, `unknown` where nothing is known, `$0.01 and 3 requests of unknown cost`. */
export function formatCost({ requests, nanoUsd, unknownRequests, estimated }: CostSum): string {
  if (requests === 0) return 'nothing';
  if (unknownRequests === requests) return 'unknown';
  const known = `${estimated ? '~' : ''}$${(nanoUsd / 1e9).toFixed(4)}`;
  return unknownRequests === 0 ? known : `${known} and ${unknownRequests} requests of unknown cost`;
}

/** `~900 tokens in (0 cached), ~40 out`, with `~` where a part is an estimate; `tokens unknown` where nobody tells. */
export function formatTokens({ requests, usage, unmeasuredRequests = 0 }: CostSum): string {
  if (unmeasuredRequests === requests) return 'tokens unknown';
  const about = usage.estimated ? '~' : '';
  const known = `${about}${usage.inputTokens} tokens in (${usage.cachedTokens} cached), ${about}${usage.outputTokens} out`;
  return unmeasuredRequests === 0 ? known : `${known} and ${unmeasuredRequests} requests of unknown tokens`;
}
