import type { Snapshot } from '@mound/vcs';
import type { AgentEnd } from '../agent/agent.ts';
import { renderBrief } from '../core/brief.ts';
import { rootTask, type AgentId, type TaskId } from '../core/ids.ts';
import type { Handoff, Task } from '../core/task.ts';
import { workerTools } from '../tools/worker-tools.ts';
import type { AgentRecord } from './agent-life.ts';
import { lifeOf, runOne, surroundingsOf } from './agent-run.ts';
import type { Desk } from './desk.ts';
import { Draft } from './draft.ts';
import { LeaseTimer } from './lease-timer.ts';
import { RepoWorker } from './repo-worker.ts';
import type { RunContext } from './run-context.ts';
import { historyOf, lost, settle, takeUp } from './task-run.ts';

/** Handoffs of the tasks that had to end first. */
function handoffsBefore(context: RunContext, task: Task): { task: TaskId; handoff: Handoff }[] {
  const snapshot: Snapshot = context.repo.snapshot();
  return (task.after ?? []).flatMap((id) => {
    const records = snapshot.records(`${context.keys.handoff(id)}/`);
    const reports = records.map(({ value }) => (JSON.parse(value.toString('utf8')) as AgentRecord).report);
    const report = reports.findLast((made) => made !== undefined);
    return report === undefined ? [] : [{ task: id, handoff: report.handoff }];
  });
}

/** A task that comes after others starts from where they ended, and so from all that they had seen. */
function behind(context: RunContext, task: Task): Task {
  const snapshot = context.repo.snapshot();
  const ends = (task.after ?? []).map((id) => snapshot.record(context.keys.task(id))?.version ?? 0);
  return { ...task, base: Math.max(task.base, ...ends) };
}

/** Claims the task, works on it and reports what the store says became of it. */
export async function runWorker(
  context: RunContext,
  desk: Desk,
  agent: AgentId,
  id: TaskId,
  signal: AbortSignal,
): Promise<AgentEnd> {
  const taken = await takeUp(context, desk, agent, id);
  if (taken === undefined) return lost;
  const { task, held, role } = taken;
  const { generation } = held;
  const author = context.author(role, agent);
  const draft = new Draft(context.repo, context.keys, id, author, context.has('fences'));

  const { leaseMs } = context.parts.limits;
  const onLeaseEnd = (): void => {
    desk.dispatch({ kind: 'task.reopened', task: id, agent, reason: 'its lease ran out' });
    if (context.has('fences')) desk.abortAgent(agent);
  };
  const lease = new LeaseTimer(context.parts.time, leaseMs, onLeaseEnd);
  try {
    const { title, scope, brief, input, check } = task;
    const goesOn = desk.goesOn(id);
    const before = handoffsBefore(context, task);
    const operations = new RepoWorker(context, behind(context, task), held, draft, signal);
    const life = lifeOf(
      context,
      desk,
      { agent, role, task: id, generation, base: operations.base, goesOn },
      () => lease.renew(),
      () => operations.freshen(),
    );
    const text = renderBrief({
      role: 'worker',
      run: context.run,
      agent,
      base: operations.base,
      task: { id, title, scope, brief, ...(check !== undefined && { check }) },
      generation,
      ...(input !== undefined && { input }),
      ...(before.length > 0 && { before: before.map(({ task: earlier, handoff }) => ({ task: earlier, handoff })) }),
      ...(!draft.isEmpty && { draft: [...draft.files.keys()] }),
      ...surroundingsOf(context),
    });
    const history = historyOf(context, life, id);
    operations.recall(history);
    const progress = (): string => operations.progress;
    const tools = workerTools(operations);
    const end = await runOne(context, desk, {
      agent,
      life,
      role,
      brief: text,
      history,
      tools,
      progress,
      lease,
      signal,
    });
    // Its lease may have run out: then it has no say in the task any more.
    const isOwn = desk.isHolder(id, agent);
    if (isOwn && end.reason === 'budget') {
      // Where it drew on the goal's own budget nobody else has any left: the run stops, and the task waits.
      if (context.drawChain(id)[0] === rootTask) desk.stop('budget', 'turns', end.detail);
      else await operations.giveUp(end.detail ?? 'its budget is used up');
    }
    if (isOwn) await operations.closeRefused();
    const report = operations.taskReport();
    await life.close(end, report, report !== undefined && report.outcome !== 'conflicted');
    settle(desk, id, agent, end, report);
    return end;
  } finally {
    lease.stop();
  }
}
