import type { Snapshot } from '@mound/vcs';
import { runAgent, type AgentEnd } from '../agent/agent.ts';
import { renderBrief, type Decision, type MergerWork } from '../core/brief.ts';
import { rootTask, type AgentId, type TaskId } from '../core/ids.ts';
import type { Role } from '../core/role.ts';
import { emptyHandoff, type Handoff, type Task, type TaskOutcome, type TaskReport } from '../core/task.ts';
import { noUsage } from '../core/usage.ts';
import type { Message } from '../model/model.ts';
import { commonPlanner } from '../state/reduce.ts';
import type { ConflictState } from '../state/state.ts';
import { mergerTools } from '../tools/merger-tools.ts';
import { outcomeAnswer } from '../tools/outcome-answer.ts';
import { plannerTools } from '../tools/planner-tools.ts';
import type { Tool, ToolAnswer } from '../tools/tool.ts';
import { Toolset } from '../tools/toolset.ts';
import { workerTools } from '../tools/worker-tools.ts';
import { AgentLife, type AgentRecord, type LifeOptions } from './agent-life.ts';
import { decisionsOf } from './decisions.ts';
import { Draft } from './draft.ts';
import { guideOf } from './field-guide.ts';
import { LeaseTimer } from './lease-timer.ts';
import { RepoMerger } from './repo-merger.ts';
import { RepoPlanner } from './repo-planner.ts';
import { RepoWorker } from './repo-worker.ts';
import type { RunContext } from './run-context.ts';
import type { Swarm } from './swarm.ts';
import type { Claim } from './task-book.ts';

interface Run {
  readonly agent: AgentId;
  readonly life: AgentLife;
  readonly role: Role;
  readonly brief: string;
  readonly history: readonly Message[];
  readonly tools: readonly Tool[];
  /** Changes when the tree or the plan does. */
  readonly progress: () => string | number;
  readonly lease?: LeaseTimer;
  readonly signal: AbortSignal;
}

function run(context: RunContext, swarm: Swarm, parts: Run): Promise<AgentEnd> {
  const { agent, life, role, brief, history, tools, progress, lease, signal } = parts;
  return runAgent({
    role,
    model: context.model(role),
    brief,
    history,
    toolset: new Toolset(role, tools),
    signal,
    answerCharsMax: context.parts.limits.answerCharsMax,
    hooks: life,
    progress,
    onWarning: ({ code, says }) => swarm.dispatch({ kind: 'agent.warned', agent, code, says }),
    onNotice: (notice) => {
      switch (notice.kind) {
        case 'waiting':
          lease?.pause();
          return swarm.dispatch({ kind: 'agent.waiting', agent, until: notice.until, reason: notice.reason });
        case 'asking':
          lease?.resume();
          return swarm.dispatch({ kind: 'agent.resumed', agent });
        case 'fallback': {
          const says = `${notice.to} answers instead of ${notice.from}: ${notice.reason}`;
          return swarm.dispatch({ kind: 'agent.warned', agent, code: 'fallback', says });
        }
      }
    },
  });
}

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

/** Decisions and Field Guide, as they stand when an agent starts. */
function surroundingsOf(context: RunContext): { decisions?: readonly Decision[]; guide?: string } {
  const decisions = decisionsOf(context).map(({ id, topics, text }) => ({ id, topics, text }));
  const guide = guideOf(context);
  return { ...(decisions.length > 0 && { decisions }), ...(guide !== '' && { guide }) };
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

function lifeOf(
  context: RunContext,
  swarm: Swarm,
  options: Pick<LifeOptions, 'agent' | 'role' | 'task' | 'generation' | 'base' | 'goesOn'> & { conflict?: string },
  onTurn: () => void,
): AgentLife {
  const [draws] = context.drawChain(options.task);
  return new AgentLife(context, {
    ...options,
    draws,
    spender: { role: options.role.name, agent: options.agent, task: options.task },
    gate: () => swarm.gate(),
    takeNotices: () => swarm.takeNotices(options.task),
    onTurn,
  });
}

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
  const end = await run(context, swarm, { agent, life, role, brief, history, tools, progress, signal });
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
    const end = await run(context, swarm, { agent, life, role, brief: text, history, tools, progress, lease, signal });
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

/** Works on conflicts of the same files; what became of them comes through the store's feed. */
export async function runMerger(
  context: RunContext,
  swarm: Swarm,
  agent: AgentId,
  ids: readonly string[],
  signal: AbortSignal,
): Promise<AgentEnd> {
  const conflicts = ids.flatMap((id) => swarm.state.conflicts.get(id) ?? []);
  const [first, ...others] = conflicts;
  if (first === undefined) throw new Error(`conflict ${ids.join(', ')} is not known`);
  const attempt = first.attempts + 1;
  const { task } = first;
  const base = context.repo.snapshot().seq;
  const workOf = (conflict: ConflictState): MergerWork => {
    const { input } = context.mustTask(conflict.task);
    const { id, paths } = conflict;
    return { conflict: id, paths, task: conflict.task, ...(input !== undefined && { input }) };
  };
  const brief = renderBrief({
    role: 'merger',
    run: context.run,
    agent,
    base,
    ...workOf(first),
    attempt,
    ...(others.length > 0 && { also: others.map(workOf) }),
    ...surroundingsOf(context),
  });
  const role = context.role('merger');
  // Apart from the attempts of an earlier process.
  const generation = swarm.runGeneration * 1000 + attempt;
  const operations = new RepoMerger(context, agent, ids, generation);
  const life = lifeOf(
    context,
    swarm,
    { agent, role, task, generation, base, goesOn: false, conflict: first.id },
    () => undefined,
  );
  const progress = (): number => operations.open.length;
  const tools = mergerTools(operations);
  const end = await run(context, swarm, { agent, life, role, brief, history: [], tools, progress, signal });
  await life.close(end, undefined, false);
  // The merger's own word does not count.
  for (const id of operations.open) leaveConflict(swarm, id, end);
  return end;
}

/** The conflict is still open: another merger tries it, or its planners are told. */
function leaveConflict(swarm: Swarm, id: string, end: AgentEnd): void {
  const conflict = swarm.state.conflicts.get(id);
  if (conflict === undefined) return;
  const isLast = conflict.attempts + 1 >= swarm.state.mergeAttemptsMax;
  const planner = isLast ? commonPlanner(swarm.state, conflict) : undefined;
  swarm.dispatch({ kind: 'conflict.unresolved', conflict: id, reason: end.detail ?? end.reason });
  if (planner !== undefined) swarm.dispatch({ kind: 'conflict.escalated', conflict: id, planner });
}
