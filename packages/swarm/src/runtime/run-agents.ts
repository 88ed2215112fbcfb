import type { Snapshot } from '@mound/vcs';
import type { AgentEnd } from '../agent/agent.ts';
import { renderBrief } from '../core/brief.ts';
import { rootTask, type AgentId, type TaskId } from '../core/ids.ts';
import type { Role } from '../core/role.ts';
import { emptyHandoff, type Handoff, type Task, type TaskOutcome, type TaskReport } from '../core/task.ts';
import { noUsage } from '../core/usage.ts';
import { outcomeAnswer } from '../tools/outcome-answer.ts';
import { plannerTools } from '../tools/planner-tools.ts';
import type { ToolAnswer } from '../tools/tool.ts';
import { workerTools } from '../tools/worker-tools.ts';
import type { AgentLife, AgentRecord } from './agent-life.ts';
import { lifeOf, runOne, surroundingsOf } from './agent-run.ts';
import { Draft } from './draft.ts';
import { LeaseTimer } from './lease-timer.ts';
import { RepoPlanner } from './repo-planner.ts';
import { RepoWorker } from './repo-worker.ts';
import type { RunContext } from './run-context.ts';
import type { Swarm } from './swarm.ts';
import type { Claim } from './task-book.ts';

/** What a call that was cut off came to, as far as the store knows. */
function interruptedAnswer(context: RunContext, operationId: string, tool: string): ToolAnswer | undefined {
  const outcome = context.repo.outcome(operationId);
  if (outcome === undefined) return undefined;
  if (['edit', 'write', 'patch', 'run'].includes(tool)) {
    return { ok: true, says: 'interrupted, but the edit was kept: read the file to see it' };
  }
  const answer = outcomeAnswer(outcome);
  return { ...answer, says: `interrupted, but the repository has it: ${answer.says}` };
}

/** Claims the task for an agent; undefined where there is nothing (more) to do, which is told. */
async function claim(context: RunContext, swarm: Swarm, agent: AgentId, task: Task): Promise<Claim | undefined> {
  const state = swarm.state.tasks.get(task.id);
  const attempts = state?.attempts ?? 0;
  const answer = await context.book.claim({
    task: task.id,
    agent,
    author: context.author(context.role(task.role), agent),
    leaseMs: context.parts.limits.leaseMs,
    attempts,
    // A second attempt, or a resumed run, follows on one that has been declared over.
    takeOver: attempts > 0 || swarm.isResumed,
  });
  if (answer.kind === 'claimed') {
    swarm.dispatch({ kind: 'task.claimed', task: task.id, agent, generation: answer.claim.generation });
    return answer.claim;
  }
  const isDone = answer.kind === 'done';
  const outcome: TaskOutcome = isDone ? 'landed' : 'none';
  const concerns = [isDone ? 'an earlier worker had landed it' : 'another claimer holds it'];
  const commits = isDone ? answer.record.operations : [];
  const handoff = { ...emptyHandoff, status: isDone ? ('done' as const) : ('failed' as const), commits, concerns };
  const seq = isDone ? { seq: answer.seq } : {};
  swarm.dispatch({ kind: 'task.finished', task: task.id, report: { task: task.id, agent, outcome, ...seq, handoff } });
  return undefined;
}

/** What an agent needs to begin a task; undefined where it could not claim it. */
async function takeUp(
  context: RunContext,
  swarm: Swarm,
  agent: AgentId,
  id: TaskId,
): Promise<{ readonly task: Task; readonly held: Claim; readonly role: Role } | undefined> {
  const task = context.mustTask(id);
  const held = await claim(context, swarm, agent, task);
  return held && { task, held, role: context.role(task.role) };
}

/** Where its transcript ends it goes on; calls that were cut off are answered with what the store knows. */
function historyOf(context: RunContext, life: AgentLife, id: TaskId): ReturnType<AgentLife['history']> {
  const earlier = life.recalled?.generation ?? 0;
  return life.history((key, tool) => interruptedAnswer(context, `${context.run}/${id}/${earlier}/${key}`, tool));
}

const lost: AgentEnd = { reason: 'lost', turns: 0, usage: noUsage };

export async function runPlanner(
  context: RunContext,
  swarm: Swarm,
  agent: AgentId,
  id: TaskId,
  signal: AbortSignal,
): Promise<AgentEnd> {
  const taken = await takeUp(context, swarm, agent, id);
  if (taken === undefined) return lost;
  const { task, held, role } = taken;
  const base = context.repo.snapshot().seq;
  const goesOn = swarm.goesOn(id);
  const { generation } = held;
  const life = lifeOf(context, swarm, { agent, role, task: id, generation, base, goesOn }, () => undefined);
  const operations = new RepoPlanner({
    context,
    swarm,
    agent,
    task,
    claim: held,
    base,
    onTold: (tasks) => life.told(tasks),
  });
  // What it was told before is not told again.
  if (life.recalled !== undefined)
    swarm.dispatch({ kind: 'planner.woken', planner: id, tasks: [...life.recalled.told] });
  const known = operations.inspect();
  const brief = renderBrief({
    role: 'planner',
    run: context.run,
    agent,
    base,
    goal: id === rootTask ? swarm.state.goal : task.brief || task.title,
    task: id,
    scope: task.scope,
    depth: swarm.depthOf(id),
    agentsMax: swarm.state.agentsMax,
    ...(known.length > 0 && { known }),
    ...surroundingsOf(context),
  });
  const history = historyOf(context, life, id);
  const progress = (): string => {
    const counts = swarm.counts();
    return `${counts['task.created']} ${counts['task.finished']}`;
  };
  const tools = plannerTools(operations);
  const end = await runOne(context, swarm, { agent, life, role, brief, history, tools, progress, signal });
  if (id !== rootTask && (end.reason === 'budget' || end.reason === 'turns')) {
    await operations.giveUp(end.detail ?? end.reason);
  }
  const report = operations.taskReport();
  await life.close(end, report, report !== undefined);
  settle(swarm, id, agent, end, report);
  return end;
}

/** Tells the swarm what became of a task; one that stops with the run stays as it is. */
function settle(swarm: Swarm, id: TaskId, agent: AgentId, end: AgentEnd, report: TaskReport | undefined): void {
  if (report !== undefined) swarm.dispatch({ kind: 'task.finished', task: id, report });
  else if (swarm.state.phase !== 'stopping' && swarm.state.tasks.get(id)?.agent === agent) {
    swarm.dispatch({ kind: 'task.reopened', task: id, agent, reason: end.detail ?? end.reason });
  }
}

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

/** Claims the task, works on it and reports what the store says became of it. */
export async function runWorker(
  context: RunContext,
  swarm: Swarm,
  agent: AgentId,
  id: TaskId,
  signal: AbortSignal,
): Promise<AgentEnd> {
  const taken = await takeUp(context, swarm, agent, id);
  if (taken === undefined) return lost;
  const { task, held, role } = taken;
  const { generation } = held;
  const author = context.author(role, agent);
  const draft = new Draft(context.repo, context.keys, id, author);

  const { leaseMs } = context.parts.limits;
  const onLeaseEnd = (): void => {
    swarm.dispatch({ kind: 'task.reopened', task: id, agent, reason: 'its lease ran out' });
    swarm.abortAgent(agent);
  };
  const lease = new LeaseTimer(context.parts.time, leaseMs, onLeaseEnd);
  try {
    const { title, scope, brief, input, check } = task;
    const goesOn = swarm.goesOn(id);
    const operations = new RepoWorker(context, task, held, draft, signal);
    const life = lifeOf(context, swarm, { agent, role, task: id, generation, base: operations.base, goesOn }, () =>
      lease.renew(),
    );
    const before = handoffsBefore(context, task);
    const text = renderBrief({
      role: 'worker',
      run: context.run,
      agent,
      base: operations.base,
      task: { id, title, scope, brief, ...(check !== undefined && { check }) },
      generation,
      ...(input !== undefined && { input }),
      ...(before.length > 0 && { before }),
      ...(!draft.isEmpty && { draft: [...draft.files.keys()] }),
      ...surroundingsOf(context),
    });
    const history = historyOf(context, life, id);
    const progress = (): string => operations.progress;
    const tools = workerTools(operations);
    const end = await runOne(context, swarm, {
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
    const isOwn = swarm.state.tasks.get(id)?.agent === agent;
    if (isOwn && end.reason === 'budget') {
      // Where it drew on the goal's own budget nobody else has any left: the run stops, and the task waits.
      if (context.drawChain(id)[0] === rootTask) swarm.stop('budget', 'turns', end.detail);
      else await operations.giveUp(end.detail ?? 'its budget is used up');
    }
    if (isOwn) await operations.closeRefused();
    const report = operations.taskReport();
    await life.close(end, report, report !== undefined && report.outcome !== 'conflicted');
    settle(swarm, id, agent, end, report);
    return end;
  } finally {
    lease.stop();
  }
}
