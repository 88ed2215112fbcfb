import { runAgent, type AgentEnd } from '../agent/agent.ts';
import { renderBrief } from '../core/brief.ts';
import type { AgentId, TaskId } from '../core/ids.ts';
import type { RoleKind } from '../core/role.ts';
import { emptyHandoff, type TaskOutcome } from '../core/task.ts';
import { noUsage } from '../core/usage.ts';
import { mergerTools } from '../tools/merger-tools.ts';
import { plannerTools } from '../tools/planner-tools.ts';
import type { Tool } from '../tools/tool.ts';
import { Toolset } from '../tools/toolset.ts';
import { workerTools } from '../tools/worker-tools.ts';
import { LeaseTimer } from './lease-timer.ts';
import { RepoMerger } from './repo-merger.ts';
import { RepoPlanner } from './repo-planner.ts';
import { RepoWorker } from './repo-worker.ts';
import type { RunContext } from './run-context.ts';
import type { Swarm } from './swarm.ts';

interface Work {
  readonly kind: RoleKind;
  readonly agent: AgentId;
  readonly task?: TaskId;
  readonly brief: string;
  readonly tools: readonly Tool[];
  /** Changes when the tree or the plan does. */
  readonly progress: () => string | number;
  readonly lease?: LeaseTimer;
}

function run(context: RunContext, swarm: Swarm, work: Work, signal: AbortSignal): Promise<AgentEnd> {
  const { kind, agent, task, brief, lease, progress } = work;
  const role = context.role(kind);
  return runAgent({
    role,
    model: context.model(kind),
    brief,
    toolset: new Toolset(role, work.tools),
    signal,
    answerCharsMax: context.answerCharsMax,
    progress,
    onSpent: (spent) => context.costs.record({ role: role.name, agent, task }, spent),
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

export function runPlanner(context: RunContext, swarm: Swarm, agent: AgentId, signal: AbortSignal): Promise<AgentEnd> {
  const base = context.repo.snapshot().seq;
  const { goal, agentsMax } = swarm.state;
  const brief = renderBrief({ role: 'planner', run: context.run, agent, base, goal, agentsMax });
  const operations = new RepoPlanner(context, swarm, agent, base);
  const progress = (): string => {
    const counts = swarm.counts();
    return `${counts['task.created']} ${counts['task.finished']}`;
  };
  return run(context, swarm, { kind: 'planner', agent, brief, tools: plannerTools(operations), progress }, signal);
}

/** Claims the task, works on it and reports what the store says became of it. */
export async function runWorker(
  context: RunContext,
  swarm: Swarm,
  agent: AgentId,
  id: TaskId,
  signal: AbortSignal,
): Promise<AgentEnd> {
  const task = context.tasks.get(id);
  if (task === undefined) throw new Error(`task ${id} has no definition`);
  // A second attempt follows on one that this run has declared over.
  const takeOver = (swarm.state.tasks.get(id)?.attempts ?? 0) > 0;
  const author = context.author('worker', agent);
  const answer = await context.ledger.claim(id, agent, author, context.leaseMs, takeOver);
  if (answer.kind !== 'claimed') {
    const isDone = answer.kind === 'done';
    const outcome: TaskOutcome = isDone ? 'landed' : 'none';
    const concerns = [isDone ? 'an earlier worker had landed it' : 'another claimer holds it'];
    const commits = isDone ? answer.record.operations : [];
    const handoff = { ...emptyHandoff, status: isDone ? ('done' as const) : ('failed' as const), commits, concerns };
    const seq = isDone ? { seq: answer.seq } : {};
    swarm.dispatch({ kind: 'task.finished', task: id, report: { task: id, agent, outcome, ...seq, handoff } });
    return { reason: 'lost', turns: 0, usage: noUsage };
  }
  const { claim } = answer;
  swarm.dispatch({ kind: 'task.claimed', task: id, agent, generation: claim.generation });

  const lease = new LeaseTimer(context.time, context.leaseMs, () => {
    swarm.dispatch({ kind: 'task.reopened', task: id, agent, reason: 'its lease ran out' });
    swarm.abortAgent(agent);
  });
  try {
    const { title, scope, brief, base, input } = task;
    const text = renderBrief({
      role: 'worker',
      run: context.run,
      agent,
      base,
      task: { id, title, scope, brief },
      generation: claim.generation,
      ...(input !== undefined && { input }),
    });
    const operations = new RepoWorker(context, task, claim);
    const tools = workerTools(operations);
    const progress = (): number => operations.landings;
    const end = await run(
      context,
      swarm,
      { kind: 'worker', agent, task: id, brief: text, tools, progress, lease },
      signal,
    );
    const report = operations.taskReport();
    // Its lease may have run out: then it has no say in the task any more.
    const isOwn = swarm.state.tasks.get(id)?.agent === agent;
    if (report !== undefined) swarm.dispatch({ kind: 'task.finished', task: id, report });
    else if (isOwn) {
      if (end.handoff !== undefined) await context.ledger.report(id, claim.generation, end.handoff, author);
      swarm.dispatch({ kind: 'task.reopened', task: id, agent, reason: end.detail ?? end.reason });
    }
    return end;
  } finally {
    lease.stop();
  }
}

/** Works on one conflict; what became of it comes through the store's feed. */
export async function runMerger(
  context: RunContext,
  swarm: Swarm,
  agent: AgentId,
  id: string,
  signal: AbortSignal,
): Promise<AgentEnd> {
  const conflict = swarm.state.conflicts.get(id);
  if (conflict === undefined) throw new Error(`conflict ${id} is not known`);
  const attempt = conflict.attempts + 1;
  const input = context.tasks.get(conflict.task)?.input;
  const brief = renderBrief({
    role: 'merger',
    run: context.run,
    agent,
    base: context.repo.snapshot().seq,
    conflict: id,
    paths: conflict.paths,
    task: conflict.task,
    attempt,
    ...(input !== undefined && { input }),
  });
  const operations = new RepoMerger(context, agent, id, attempt);
  const tools = mergerTools(operations);
  const progress = (): number => Number(operations.isResolved());
  const end = await run(context, swarm, { kind: 'merger', agent, task: conflict.task, brief, tools, progress }, signal);
  // The merger's own word does not count.
  if (!operations.isResolved()) {
    swarm.dispatch({ kind: 'conflict.unresolved', conflict: id, reason: end.detail ?? end.reason });
  }
  return end;
}
