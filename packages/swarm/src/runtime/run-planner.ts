import type { AgentEnd } from '../agent/agent.ts';
import { renderBrief } from '../core/brief.ts';
import { rootTask, type AgentId, type TaskId } from '../core/ids.ts';
import { plannerTools } from '../tools/planner-tools.ts';
import type { AgentLife } from './agent-life.ts';
import { lifeOf, runOne, surroundingsOf } from './agent-run.ts';
import { RepoPlanner } from './repo-planner.ts';
import type { RunContext } from './run-context.ts';
import type { Swarm } from './swarm.ts';
import { decodeTask } from './task-book.ts';
import { historyOf, lost, settle, takeUp } from './task-run.ts';

export async function runPlanner(
  context: RunContext,
  swarm: Swarm,
  agent: AgentId,
  id: TaskId,
  signal: AbortSignal,
): Promise<AgentEnd> {
  const taken = await takeUp(context, swarm, agent, id);
  if (taken === undefined) return hasFinished(context, id) ? { ...lost, reason: 'finished' } : lost;
  const { task, held, role } = taken;
  const base = context.repo.snapshot().seq;
  const goesOn = swarm.goesOn(id);
  const { generation } = held;
  const life: AgentLife = lifeOf(
    context,
    swarm,
    { agent, role, task: id, generation, base, goesOn },
    () => undefined,
    () => operations.freshen(),
  );
  const operations: RepoPlanner = new RepoPlanner({
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
  operations.recall(history);
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

/** A process that died after its planner had finished, and before the run had. */
function hasFinished(context: RunContext, id: TaskId): boolean {
  const head = context.repo.snapshot().record(context.keys.task(id));
  return head !== undefined && decodeTask(head.value).state === 'done';
}
