import type { Cursor, RepoEvent } from '@mound/vcs';
import { taskOfName, type TaskId } from '../core/ids.ts';
import type { SwarmEvent } from '../events/event.ts';
import { translate } from '../events/translate.ts';
import { followBreakages } from './breakages.ts';
import { fightsIn } from './contradictions.ts';
import type { Controls } from './control.ts';
import type { RunContext } from './run-context.ts';
import { followLandings } from './green-keeper.ts';
import type { Swarm } from './swarm.ts';

/** Of a conflict, the planners that its sides have in common: only the records know those of tasks that have ended. */
function withPlanners(context: RunContext, swarm: Swarm, event: RepoEvent, meant: SwarmEvent): SwarmEvent {
  if (meant.kind !== 'conflict.opened' || event.kind !== 'conflict.opened') return meant;
  const lines = event.met.flatMap(({ task: name }) => {
    const task = taskOfName(context.run, name);
    return task === undefined ? [] : [new Set<TaskId>(swarm.ancestorsOf(task).slice(1))];
  });
  const own = swarm.ancestorsOf(meant.task).slice(1);
  return { ...meant, planners: own.filter((planner) => lines.every((line) => line.has(planner))) };
}

/** Coordination through the store: what others do there becomes this run's events. */
export async function follow(
  context: RunContext,
  swarm: Swarm,
  controls: Controls,
  from: Cursor,
  signal: AbortSignal,
): Promise<void> {
  try {
    for await (const event of context.repo.follow(from, signal)) {
      const meant = translate(context.run, event);
      if (meant !== undefined) swarm.dispatch(withPlanners(context, swarm, event, meant));
      for (const fight of fightsIn(context, event)) swarm.dispatch(fight);
      controls.follow(event);
      followBreakages(context, swarm, event);
      followLandings(context, swarm, event);
    }
  } catch (error) {
    if (!signal.aborted) swarm.fail(error);
  }
}
