import { systemRandom, type Random } from '@mound/vcs';
import { systemTime, type Time } from '../../core/time.ts';
import { defaultRetryPolicy, type RetryPolicy } from '../retry.ts';
import { Breaker } from './breaker.ts';
import { Gate, type GatePolicy } from './gate.ts';
import { defaultRetryBudget, RetryBudget, type RetryBudgetPolicy } from './retry-budget.ts';

export interface EndpointsOptions {
  readonly time?: Time;
  readonly random?: Random;
  readonly retryBudget?: RetryBudgetPolicy;
}

/**
 * What all models of one process share: a breaker for each endpoint, a gate for
 * each model at it, and one budget of retries.
 */
export class Endpoints {
  readonly time: Time;
  readonly random: Random;
  readonly budget: RetryBudget;
  readonly #breakers = new Map<string, Breaker>();
  readonly #gates = new Map<string, Gate>();

  constructor(options: EndpointsOptions = {}) {
    this.time = options.time ?? systemTime;
    this.random = options.random ?? systemRandom;
    this.budget = new RetryBudget(this.time, options.retryBudget ?? defaultRetryBudget);
  }

  /** The first to ask for a gate sets its policies. */
  gate(baseURL: string, model: string, retry: RetryPolicy = defaultRetryPolicy, policy?: GatePolicy): Gate {
    const key = `${baseURL}\n${model}`;
    const known = this.#gates.get(key);
    if (known !== undefined) return known;
    const breaker = this.#breakers.get(baseURL) ?? new Breaker(this.time, this.random, retry);
    this.#breakers.set(baseURL, breaker);
    const gate = new Gate(`${model} at ${baseURL}`, this.time, this.random, breaker, retry, policy);
    this.#gates.set(key, gate);
    return gate;
  }

  /** How each gate stands. */
  states(): readonly (Gate['state'] & { readonly endpoint: string; readonly model: string })[] {
    return [...this.#gates].map(([key, gate]) => {
      const [endpoint = '', model = ''] = key.split('\n');
      return { endpoint, model, ...gate.state };
    });
  }
}
