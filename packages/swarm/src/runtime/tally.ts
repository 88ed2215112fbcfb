import { createHistogram, type RecordableHistogram } from 'node:perf_hooks';
import type { OutcomeKind } from '@mound/vcs';
import { eachKind, type RoleKind } from '../core/role.ts';
import { addUsage, noUsage, type Usage } from '../core/usage.ts';

import { ReviewLedger } from '../review/review-ledger.ts';
import { MergeTally } from './merge-tally.ts';

/** Intents with changes by the store's answer; a conflict's resolution counts as `resolved`, not as `landed`. */
export type OutcomeCounts = Readonly<Record<OutcomeKind | 'resolved', number>>;

export interface LandingTimes {
  readonly count: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
}

export interface RoleSpend {
  /** Agents that ran to their end. */
  readonly agents: number;
  readonly turns: number;
  readonly usage: Usage;
}

const nothing: RoleSpend = { agents: 0, turns: 0, usage: noUsage };

/** What a run counts as it goes. */
export class Tally {
  readonly merges: MergeTally = new MergeTally();
  readonly reviews: ReviewLedger = new ReviewLedger();
  readonly #outcomes: Record<OutcomeKind | 'resolved', number> = {
    landed: 0,
    unchanged: 0,
    merged: 0,
    conflicted: 0,
    parked: 0,
    rejected: 0,
    resolved: 0,
  };
  readonly #times: RecordableHistogram = createHistogram();
  readonly #spend: Record<RoleKind, RoleSpend> = eachKind(() => nothing);

  /** One answered intent and how long the store took, in milliseconds. */
  landing(kind: OutcomeKind | 'resolved', ms: number): void {
    this.#outcomes[kind] += 1;
    // The histogram takes whole numbers from 1: microseconds.
    this.#times.record(Math.max(1, Math.round(ms * 1000)));
  }

  agent(role: RoleKind, turns: number, usage: Usage): void {
    const spend = this.#spend[role];
    this.#spend[role] = {
      agents: spend.agents + 1,
      turns: spend.turns + turns,
      usage: addUsage(spend.usage, usage),
    };
  }

  outcomes(): OutcomeCounts {
    return { ...this.#outcomes };
  }

  spend(): Readonly<Record<RoleKind, RoleSpend>> {
    return { ...this.#spend };
  }

  times(): LandingTimes {
    const { count } = this.#times;
    if (count === 0) return { count, p50Ms: 0, p99Ms: 0, maxMs: 0 };
    const at = (percentile: number): number => this.#times.percentile(percentile) / 1000;
    return { count, p50Ms: at(50), p99Ms: at(99), maxMs: this.#times.max / 1000 };
  }
}
