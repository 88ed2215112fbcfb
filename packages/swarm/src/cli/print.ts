import { formatCost, type CostSum } from '../cost/cost-ledger.ts';
import type { SwarmEvent } from '../events/event.ts';
import { greenLines } from '../runtime/green-summary.ts';
import type { MergeReport } from '../runtime/merge-tally.ts';
import type { SwarmResult } from '../runtime/run-swarm.ts';
import { lineOf } from '../ui/event-line.ts';
import { isLive, LiveView } from '../ui/live-view.ts';
import { reviewLines } from './review-lines.ts';
import type { Check } from './doctor.ts';

export interface OutputFlags {
  readonly json?: true;
  readonly jsonl?: true;
}

/** Of the tree before and after the run, where a command scores it; undefined where it printed none. */
export interface Scores {
  readonly before: number | undefined;
  readonly after: number | undefined;
}

export function printResult(result: SwarmResult, { json, jsonl }: OutputFlags, scores?: Scores): void {
  if (json || jsonl) {
    const score = scores && { score: scores.after ?? null, scoreBefore: scores.before ?? null };
    console.log(JSON.stringify({ ...result, ...score }));
    return;
  }
  const { outcomes, tasks, agents, landings, roles, cost, merges, green, review } = result;
  const turns = Object.values(roles).reduce((sum, role) => sum + role.turns, 0);
  const byRole = Object.entries(cost.byRole).map(([role, sum]) => `${role} ${formatCost(sum)}`);
  console.log(
    [
      `run ${result.run}: ${result.reason} after ${result.seconds.toFixed(2)} s`,
      `${tasks.ended} of ${tasks.created} tasks ended${tasks.reopened > 0 ? ` (${tasks.reopened} tries came to nothing)` : ''}; ${agents.names} agents, ${agents.liveMax} at once; ${turns} model turns`,
      `landed ${outcomes.landed}, merged ${outcomes.merged}, conflicted ${outcomes.conflicted}, resolved ${outcomes.resolved}, parked ${outcomes.parked}, rejected ${outcomes.rejected}`,
      ...(landings.count === 0
        ? []
        : [`a landing took ${landings.p50Ms.toFixed(1)} ms at the median, ${landings.p99Ms.toFixed(1)} ms at p99`]),
      ...(merges.attempts > 0 ? [mergesLine(merges)] : []),
      ...(green === undefined ? [] : greenLines(green)),
      ...(review === undefined ? [] : reviewLines(review)),
      ...(scores === undefined ? [] : [`score ${scores.before ?? 'none'} before, ${scores.after ?? 'none'} after`]),
      `cost: ${formatCost(cost.total)}${byRole.length > 1 ? ` (${byRole.join(', ')})` : ''}`,
    ].join('\n'),
  );
}

function mergesLine({ queueDelayMs: { p50, p99 }, survival: { current, incoming }, escalated }: MergeReport): string {
  const kept = [current, incoming].map(({ survived, lines }) => `${survived} of ${lines}`);
  return `a conflict waited ${p50.toFixed(0)} ms for its merger at the median, ${p99.toFixed(0)} ms at p99; of added lines survived ${kept[0]} (current), ${kept[1]} (incoming); ${escalated} left to planners`;
}

/** Shows a run while it goes on. */
export interface Follower {
  readonly onEvent: (event: SwarmEvent) => void;
  readonly onSpent?: (total: CostSum) => void;
  close(): void;
}

/** With `--jsonl` every event, on stdout; on a terminal a picture, off it lines, both on stderr; with `--json` off a terminal nothing. */
export function follower({ json, jsonl }: OutputFlags): Follower {
  if (jsonl) return { onEvent: (event) => console.log(JSON.stringify(event)), close: () => undefined };
  if (isLive(process.stderr, process.env)) {
    const view = new LiveView(process.stderr, process.env);
    return { onEvent: (event) => view.see(event), onSpent: (total) => view.spent(total), close: () => view.close() };
  }
  const say = (line: string | undefined): void => {
    if (line !== undefined) console.error(line);
  };
  return { onEvent: (event) => !json && say(lineOf(event)), close: () => undefined };
}

export function printChecks(checks: readonly Check[], { json }: OutputFlags): void {
  if (json) {
    console.log(JSON.stringify({ ok: isWell(checks), checks }));
    return;
  }
  for (const { state, subject, check, says, next } of checks) {
    console.log(`${state.padEnd(4)}  ${subject}, ${check}: ${says}${next === undefined ? '' : `; ${next}`}`);
  }
}

export const isWell = (checks: readonly Check[]): boolean => checks.every(({ state }) => state !== 'fail');
