import type { AgentEnd } from '../agent/agent.ts';
import { renderBrief, type MergerWork } from '../core/brief.ts';
import { rootTask, type AgentId } from '../core/ids.ts';
import { noUsage } from '../core/usage.ts';
import { commonPlanner } from '../state/reduce.ts';
import type { ConflictState } from '../state/state.ts';
import { decomposerTools } from '../tools/decomposer-tools.ts';
import { mergerTools } from '../tools/merger-tools.ts';
import { reconcilerTools } from '../tools/reconciler-tools.ts';
import { lifeOf, runOne, surroundingsOf } from './agent-run.ts';
import { landingsOn, tellOfDecision } from './contradictions.ts';
import { RepoDecomposer } from './repo-decomposer.ts';
import { RepoMerger } from './repo-merger.ts';
import { RepoReconciler } from './repo-reconciler.ts';
import type { RunContext } from './run-context.ts';
import type { Swarm } from './swarm.ts';

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
  const end = await runOne(context, swarm, { agent, life, role, brief, history: [], tools, progress, signal });
  await life.close(end, undefined, false);
  // The merger's own word does not count.
  // Each merger settles something, or counts as a try of its first: what it did not come to is not tried by it.
  for (const id of operations.open) leaveConflict(swarm, id, end, id === first.id);
  return end;
}

/** The conflict is still open: another merger tries it, or its planners are told. */
function leaveConflict(swarm: Swarm, id: string, end: AgentEnd, isTried: boolean): void {
  const conflict = swarm.state.conflicts.get(id);
  if (conflict === undefined) return;
  const isLast = isTried && conflict.attempts + 1 >= swarm.state.mergeAttemptsMax;
  const planner = isLast ? commonPlanner(swarm.state, conflict) : undefined;
  const reason = end.detail ?? end.reason;
  swarm.dispatch({ kind: 'conflict.unresolved', conflict: id, reason, ...(!isTried && { untried: true }) });
  if (planner !== undefined) swarm.dispatch({ kind: 'conflict.escalated', conflict: id, planner });
}

/** Settles a contradiction; what follows from it is queued, and both sides are told. */
export async function runReconciler(
  context: RunContext,
  swarm: Swarm,
  agent: AgentId,
  id: string,
  signal: AbortSignal,
): Promise<AgentEnd> {
  const contradiction = swarm.state.contradictions.get(id);
  if (contradiction === undefined) throw new Error(`contradiction ${id} is not known`);
  const { cause, paths, decisions, conflict } = contradiction;
  const base = context.repo.snapshot().seq;
  const parent = swarm.commonPlannerOf(contradiction.planners);
  const brief = renderBrief({
    role: 'reconciler',
    run: context.run,
    agent,
    base,
    contradiction: id,
    cause,
    paths,
    clash: decisions,
    ...(conflict !== undefined && { conflict }),
    planners: contradiction.planners.map((task) => ({ task, goal: swarm.goalOf(task) })),
    landings: landingsOn(context, contradiction),
    ...surroundingsOf(context),
  });
  const role = context.role('reconciler');
  const generation = swarm.runGeneration * 1000 + contradiction.attempts + 1;
  const operations = new RepoReconciler({ context, agent, contradiction, generation, parent, base });
  const life = lifeOf(
    context,
    swarm,
    { agent, role, task: parent, generation, base, goesOn: false, conflict: id },
    () => undefined,
  );
  const progress = (): number => Number(operations.settled !== undefined);
  const tools = reconcilerTools(operations);
  const end = await runOne(context, swarm, { agent, life, role, brief, history: [], tools, progress, signal });
  await life.close(end, undefined, false);
  const { settled } = operations;
  if (settled === undefined) {
    swarm.dispatch({ kind: 'contradiction.unsettled', contradiction: id, reason: end.detail ?? end.reason });
    // The document's own conflict is a merger's then.
    return end;
  }
  const tasks = settled.tasks.map((task) => task.id);
  tellOfDecision(context, swarm, contradiction, settled.decision);
  for (const task of settled.tasks) swarm.addTask(task);
  swarm.dispatch({ kind: 'contradiction.settled', contradiction: id, decision: settled.decision, tasks });
  return end;
}

/** Freezes a marked file, has it split, and thaws it where that came to nothing: work on it is parked meanwhile. */
export async function runDecomposer(
  context: RunContext,
  swarm: Swarm,
  agent: AgentId,
  path: string,
  signal: AbortSignal,
): Promise<AgentEnd> {
  const { repo } = context;
  const attempts = swarm.state.decompositions.get(path)?.attempts ?? 0;
  const role = context.role('decomposer');
  const author = context.author(role, agent);
  const reason = `${agent} splits it`;
  const owner = context.agentName(agent);
  if (repo.freezes().some((freeze) => freeze.path === path && freeze.owner !== owner)) {
    // Somebody outside of the run has it in hand.
    swarm.dispatch({ kind: 'decomposition.failed', path, reason: 'another holds its freeze' });
    return { reason: 'finished', turns: 0, usage: noUsage };
  }
  await repo.freeze(path, { author, reason, owner, ms: context.parts.limits.leaseMs });
  const base = repo.snapshot().seq;
  const head = repo.snapshot(base).head(path);
  const text = repo.snapshot(base).readText(path) ?? '';
  const brief = renderBrief({
    role: 'decomposer',
    run: context.run,
    agent,
    base,
    path,
    reason: swarm.reasonOf(path),
    lines: text.split('\n').length,
    bytes: head?.size ?? 0,
    attempt: attempts + 1,
    ...surroundingsOf(context),
  });
  const generation = swarm.runGeneration * 1000 + attempts + 1;
  const operations = new RepoDecomposer({ context, agent, author, path, generation, task: rootTask, base });
  const name = `split-${Buffer.from(path).toString('hex').slice(0, 60)}`;
  const options = { agent, role, task: rootTask, generation, base, goesOn: false, conflict: name };
  const life = lifeOf(context, swarm, options, () => undefined);
  const progress = (): number => Number(operations.isSplit);
  const tools = decomposerTools(operations);
  const end = await runOne(context, swarm, { agent, life, role, brief, history: [], tools, progress, signal });
  await life.close(end, undefined, false);
  // What came of a split is told by the store's feed.
  if (!operations.isSplit) {
    swarm.dispatch({ kind: 'decomposition.failed', path, reason: end.detail ?? end.reason });
    if (repo.freezes().some((freeze) => freeze.path === path && freeze.owner === owner))
      await repo.thaw(path, { author, reason: 'it was not split' });
  }
  return end;
}
