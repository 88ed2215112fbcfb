import type { TaskId } from '../core/ids.ts';
import type { TaskReport } from '../core/task.ts';
import { withEntry, without } from './maps.ts';
import type { PlannerState, SwarmState, TaskState } from './state.ts';

export const setPlanner = (state: SwarmState, planner: PlannerState): SwarmState => ({
  ...state,
  planners: withEntry(state.planners, planner.id, planner),
});

export function changePlanner(state: SwarmState, id: TaskId, change: Partial<PlannerState>): SwarmState {
  const planner = state.planners.get(id);
  return planner === undefined ? state : setPlanner(state, { ...planner, ...change });
}

export function addPlanner(
  state: SwarmState,
  id: TaskId,
  parent: TaskId | undefined,
  phase: PlannerState['phase'],
): SwarmState {
  return setPlanner(state, { id, parent, phase, waitsFor: 'all', unsettled: 0, reports: [] });
}

/** One more task of this planner has not ended. */
export function countTask(state: SwarmState, parent: TaskId): SwarmState {
  const planner = state.planners.get(parent);
  return planner === undefined ? state : setPlanner(state, { ...planner, unsettled: planner.unsettled + 1 });
}

/** One fewer to wait for, of which there is nothing to report. */
export function uncountTask(state: SwarmState, parent: TaskId): SwarmState {
  const planner = state.planners.get(parent);
  return planner === undefined ? state : setPlanner(state, { ...planner, unsettled: planner.unsettled - 1 });
}

/** Information moves up, one step: to the planner that handed the task out. */
export function deliver(state: SwarmState, parent: TaskId, report: TaskReport): SwarmState {
  const planner = state.planners.get(parent);
  if (planner === undefined) return state;
  const { unsettled, reports } = planner;
  return setPlanner(state, { ...planner, unsettled: unsettled - 1, reports: [...reports, report] });
}

/** A planner has ended: what it leaves behind is its own planner's from now on. */
export function removePlanner(state: SwarmState, id: TaskId): SwarmState {
  const planner = state.planners.get(id);
  if (planner?.parent === undefined) return state;
  const { parent, unsettled, reports } = planner;
  const left: SwarmState = { ...state, planners: without(state.planners, id) };
  if (unsettled === 0 && reports.length === 0) return left;
  const adopt = (task: TaskState): TaskState => (task.parent === id ? { ...task, parent } : task);
  const planners = new Map(
    [...left.planners].map(([key, node]) => [key, node.parent === id ? { ...node, parent } : node] as const),
  );
  const adopted: SwarmState = {
    ...left,
    planners,
    queue: left.queue.map(adopt),
    tasks: new Map([...left.tasks].map(([key, task]) => [key, adopt(task)] as const)),
    reviews: new Map(
      [...left.reviews].map(([key, review]) => [key, review.planner === id ? { ...review, planner: parent } : review]),
    ),
  };
  const above = planners.get(parent);
  if (above === undefined) return adopted;
  return setPlanner(adopted, {
    ...above,
    unsettled: above.unsettled + unsettled,
    reports: [...above.reports, ...reports],
  });
}
