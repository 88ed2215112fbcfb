import { join } from 'node:path';
import { readdirSync, existsSync } from 'node:fs';
import { absent, type Outcome, type Snapshot } from '@mound/vcs';
import { rootTask, taskOfName, type TaskId } from '../core/ids.ts';
import { emptyHandoff, type Task, type TaskReport } from '../core/task.ts';
import { CostLedger } from '../cost/cost-ledger.ts';
import { amountOf, type AgentRecord } from './agent-life.ts';
import type { RunContext } from './run-context.ts';
import { system } from './run-header.ts';
import type { Swarm } from './swarm.ts';
import { decodeTask, type TaskRecord } from './task-book.ts';
import { sumLife } from './transcript-costs.ts';
import { readTranscript, type TranscriptLine } from './transcript.ts';

export interface RestoredTask {
  readonly task: Task;
  readonly record: TaskRecord;
  readonly seq: number;
}

/** All tasks of a run as their records say, planners before what they handed out. */
export function restoreTasks(context: RunContext): RestoredTask[] {
  const { keys, repo } = context;
  const snapshot = repo.snapshot();
  const records = snapshot.records(keys.task(''));
  const found = new Map<TaskId, RestoredTask>();
  for (const { key, value, version: seq } of records) {
    const id = key.slice(keys.task('').length) as TaskId;
    const brief = snapshot.record(keys.brief(id));
    if (brief === undefined) continue;
    found.set(id, { task: JSON.parse(brief.value.toString('utf8')) as Task, record: decodeTask(value), seq });
  }
  const depth = (id: TaskId): number => {
    let steps = 0;
    for (let at = id; at !== rootTask && steps < 1000; steps++) at = found.get(at)?.task.parent ?? rootTask;
    return steps;
  };
  // Within one planner in the order in which they were made.
  const made = (id: TaskId): number => snapshot.record(keys.brief(id))?.version ?? 0;
  return [...found.values()].toSorted(
    (left, right) => depth(left.task.id) - depth(right.task.id) || made(left.task.id) - made(right.task.id),
  );
}

/** Agents that a process had begun and not ended. */
export const begunTasks = (tasks: readonly RestoredTask[]): Set<TaskId> =>
  new Set(tasks.filter(({ record }) => record.state === 'claimed').map(({ task }) => task.id));

/**
 * Brings a swarm to where the records say that the run stands: what is open is
 * queued again, what has ended and its planner was not told of is reported, and
 * conflicts that wait for a merger wait again.
 */
export function restore(context: RunContext, swarm: Swarm, tasks: readonly RestoredTask[]): void {
  const told = toldTasks(context, tasks);
  for (const { task, record, seq } of tasks) {
    if (task.id === rootTask) continue;
    const hasEnded = record.state === 'done' || record.state === 'ended';
    if (hasEnded && told.has(task.id)) {
      swarm.countTask();
      continue;
    }
    swarm.addTask(task);
    const report = hasEnded ? reportOf(context, task, record, seq) : keptReport(context, task, record);
    if (report !== undefined) swarm.dispatch({ kind: 'task.finished', task: task.id, report });
  }
  for (const conflict of context.repo.conflicts()) {
    const task = taskOfName(context.run, conflict.task);
    if (task !== undefined) {
      swarm.dispatch({
        kind: 'conflict.opened',
        conflict: conflict.id,
        task,
        paths: conflict.paths.map(({ path }) => path),
      });
    }
  }
}

/** Tasks that stand as told in the transcript of a planner that has not ended. */
function toldTasks(context: RunContext, tasks: readonly RestoredTask[]): Set<TaskId> {
  const told = new Set<TaskId>();
  for (const { task, record } of tasks) {
    if (context.role(task.role).kind !== 'planner' && task.id !== rootTask) continue;
    for (const line of linesOf(context, `task-${task.id}`)) {
      if (line.kind === 'told') for (const id of line.tasks) told.add(id);
    }
    if (record.state === 'done' || record.state === 'ended') {
      for (const { task: child } of tasks) if (child.parent === task.id) told.add(child.id);
    }
  }
  return told;
}

/** Lines of the newest transcript of an agent. */
function linesOf(context: RunContext, stem: string): readonly TranscriptLine[] {
  const { transcripts } = context.parts.policy;
  if (transcripts === undefined || !existsSync(transcripts)) return [];
  const numbers = readdirSync(transcripts)
    .filter((name) => name.startsWith(`${stem}.`))
    .map((name) => Number(/^(\d+)\.jsonl$/.exec(name.slice(stem.length + 1))?.[1] ?? -1));
  const newest = Math.max(-1, ...numbers);
  return newest < 0 ? [] : readTranscript(join(transcripts, `${stem}.${newest}.jsonl`)).lines;
}

const recordsOf = (snapshot: Snapshot, prefix: string): AgentRecord[] =>
  snapshot.records(prefix).map(({ value }) => JSON.parse(value.toString('utf8')) as AgentRecord);

/** What is told of a task that has ended, from what its agent reported, or from the store where it had no time to. */
function reportOf(context: RunContext, task: Task, record: TaskRecord, seq: number): TaskReport {
  const records = recordsOf(context.repo.snapshot(), `${context.keys.handoff(task.id)}/`);
  const made = records.findLast(({ report }) => report !== undefined)?.report;
  if (made !== undefined) return endedReport(made, record, seq);
  const last = record.operations.at(-1);
  const outcome = last === undefined ? undefined : context.repo.outcome(last);
  const status = record.status ?? (record.state === 'done' ? 'done' : 'failed');
  const why = status === 'failed' ? `given up after ${record.attempts} tries` : 'its agent ended before it reported';
  return {
    task: task.id,
    agent: undefined,
    outcome: outcome === undefined || outcome.kind === 'rejected' ? 'none' : outcome.kind,
    seq: outcome === undefined || outcome.kind === 'rejected' ? seq : outcome.seq,
    handoff: { ...emptyHandoff, status, commits: record.operations, concerns: [why] },
  };
}

/**
 * A worker's report of a conflict is older than the task's end: who has ended waits for no merger any more, and the
 * word of the feed on that conflict lies before what this process follows.
 */
function endedReport({ conflict, ...made }: TaskReport, { state }: TaskRecord, seq: number): TaskReport {
  if (made.outcome !== 'conflicted') return { ...made, ...(conflict !== undefined && { conflict }), agent: undefined };
  if (state !== 'done') return { ...made, agent: undefined };
  return { ...made, ...(conflict !== undefined && { conflict }), agent: undefined, outcome: 'resolved', seq };
}

/** A report for a task whose work the store keeps as a conflict or parked. */
function keptReport(context: RunContext, task: Task, record: TaskRecord): TaskReport | undefined {
  if (record.state !== 'claimed') return undefined;
  const name = `${context.run}/${task.id}`;
  const conflict = context.repo.conflicts().find((view) => view.task === name);
  if (conflict === undefined) return undefined;
  const outcome: Outcome | undefined =
    conflict.operationId === undefined ? undefined : context.repo.outcome(conflict.operationId);
  return {
    task: task.id,
    agent: undefined,
    outcome: 'conflicted',
    conflict: conflict.id,
    ...(outcome !== undefined && outcome.kind !== 'rejected' && { seq: outcome.seq }),
    handoff: {
      ...emptyHandoff,
      status: 'done',
      commits: conflict.operationId === undefined ? [] : [conflict.operationId],
      concerns: ['its agent ended before it reported'],
    },
  };
}

/**
 * Agents that died with their process left no record of what they had spent:
 * their transcripts tell, and it is written now, once. `only`: of these tasks.
 */
export async function settleLost(
  context: RunContext,
  tasks: readonly RestoredTask[],
  only?: ReadonlySet<TaskId>,
): Promise<void> {
  const { transcripts } = context.parts.policy;
  if (transcripts === undefined || !existsSync(transcripts)) return;
  const states = new Map(tasks.map(({ task, record }) => [task.id, record.state]));
  const snapshot = context.repo.snapshot();
  for (const name of readdirSync(transcripts).filter((file) => file.endsWith('.jsonl'))) {
    const { lines } = readTranscript(join(transcripts, name));
    const starts = lines.flatMap((line, at) => (line.kind === 'start' ? [at] : []));
    for (const [nth, from] of starts.entries()) {
      const start = lines[from];
      if (start?.kind !== 'start' || start.task === undefined || only?.has(start.task) === false) continue;
      const { conflict, generation, task } = start;
      const key =
        conflict === undefined ? context.keys.handoff(task, generation) : context.keys.merge(conflict, generation);
      if (snapshot.record(key) !== undefined) continue;
      await settleOne(context, start, lines.slice(from, starts[nth + 1]), key, states.get(task));
    }
  }
}

async function settleOne(
  context: RunContext,
  start: Extract<TranscriptLine, { kind: 'start' }>,
  lines: readonly TranscriptLine[],
  key: string,
  state: TaskRecord['state'] | undefined,
): Promise<void> {
  const { task = rootTask, conflict, generation, agent, role, model } = start;
  const costs = new CostLedger(context.parts.prices);
  const spender = { role, agent, task };
  const { turns, ms, asked } = sumLife(lines, costs, spender);
  // It died while it was asking: unknown is not nothing.
  if (asked !== undefined) costs.record(spender, [asked]);
  const { total, byModel } = costs.report();
  const lost: AgentRecord = {
    format: 1,
    task,
    ...(conflict !== undefined && { conflict }),
    generation,
    agent,
    role,
    model,
    reason: 'lost',
    turns,
    cost: total,
    byModel,
    ms,
  };
  const ended = state === 'done' || state === 'ended' ? context.ownNode(task) : undefined;
  await context.parts.budgets.settle(
    { draws: context.drawChain(task), spent: amountOf(total, ms), ...(ended !== undefined && { ended }) },
    {
      records: [{ key, expect: absent, value: JSON.stringify(lost) }],
      author: system,
      message: `report of ${agent} on ${task}, which was lost`,
      operationId: undefined,
    },
  );
}
