import { formatCost } from '../cost/cost-ledger.ts';
import type { SwarmEvent } from '../events/event.ts';
import type { MergeReport } from '../runtime/merge-tally.ts';
import type { SwarmResult } from '../runtime/run-swarm.ts';
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
  const { outcomes, tasks, agents, landings, roles, cost, merges } = result;
  const turns = Object.values(roles).reduce((sum, role) => sum + role.turns, 0);
  const byRole = Object.entries(cost.byRole).map(([role, sum]) => `${role} ${formatCost(sum)}`);
  console.log(
    [
      `run ${result.run}: ${result.reason} after ${result.seconds.toFixed(2)} s`,
      `${tasks.ended} of ${tasks.created} tasks ended; ${agents.names} agents, ${agents.liveMax} at once; ${turns} model turns`,
      `landed ${outcomes.landed}, merged ${outcomes.merged}, conflicted ${outcomes.conflicted}, resolved ${outcomes.resolved}, parked ${outcomes.parked}, rejected ${outcomes.rejected}`,
      `a landing took ${landings.p50Ms.toFixed(1)} ms at the median, ${landings.p99Ms.toFixed(1)} ms at p99`,
      ...(merges.attempts > 0 ? [mergesLine(merges)] : []),
      ...(scores === undefined ? [] : [`score ${scores.before ?? 'none'} before, ${scores.after ?? 'none'} after`]),
      `cost: ${formatCost(cost.total)}${byRole.length > 1 ? ` (${byRole.join(', ')})` : ''}`,
    ].join('\n'),
  );
}

function mergesLine({ queueDelayMs: { p50, p99 }, survival: { current, incoming }, escalated }: MergeReport): string {
  const kept = [current, incoming].map(({ survived, lines }) => `${survived} of ${lines}`);
  return `a conflict waited ${p50.toFixed(0)} ms for its merger at the median, ${p99.toFixed(0)} ms at p99; of added lines survived ${kept[0]} (current), ${kept[1]} (incoming); ${escalated} left to planners`;
}

/** With `--jsonl` every event; else, to a terminal, those that somebody would want to know at once. */
export function eventPrinter({ jsonl }: OutputFlags): (event: SwarmEvent) => void {
  return (event) => {
    if (jsonl) console.log(JSON.stringify(event));
    else if (process.stderr.isTTY) tell(event);
  };
}

function tell(event: SwarmEvent): void {
  if (event.kind === 'agent.waiting') {
    console.error(`${event.agent} waits until ${new Date(event.until).toISOString()}: ${event.reason}`);
  } else if (event.kind === 'agent.warned') {
    console.error(`${event.agent}: ${event.says}`);
  } else if (event.kind === 'agent.ended' && event.detail !== undefined) {
    console.error(`${event.agent} ended (${event.reason}): ${event.detail}`);
  }
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
