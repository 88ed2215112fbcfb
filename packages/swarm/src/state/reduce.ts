import { rootTask, type AgentId, type TaskId } from '../core/ids.ts';
import { emptyHandoff, type TaskReport } from '../core/task.ts';
import type { SwarmEvent } from '../events/event.ts';
import {
  addContradiction,
  assignContradiction,
  contest,
  contradictingDocument,
  leaveContradiction,
  settleContradiction,
} from './contradiction.ts';
import { beginGreen, endGreen, greenDue, newGreen, sawLanding } from './green.ts';
import { withEntry, without } from './maps.ts';
import {
  assignDecomposition,
  endDecomposition,
  isAwaited,
  leaveDecomposition,
  unparkedReport,
  wantDecomposition,
  type UnparkedOutcome,
} from './parked.ts';
import type { ConflictState, PlannerState, SwarmState, TaskState } from './state.ts';
import { addPlanner, changePlanner, countTask, deliver, removePlanner, uncountTask } from './tree.ts';

type EventOf<Kind extends SwarmEvent['kind']> = Extract<SwarmEvent, { kind: Kind }>;

const setTask = (state: SwarmState, task: TaskState): SwarmState => ({
  ...state,
  tasks: withEntry(state.tasks, task.id, task),
});

const setConflict = (state: SwarmState, conflict: ConflictState): SwarmState => ({
  ...state,
  conflicts: withEntry(state.conflicts, conflict.id, conflict),
});

/** The task's conflicts need no more watching either. */
function endTask(state: SwarmState, task: TaskState, report: TaskReport): SwarmState {
  const own = [...state.conflicts.values()].filter((conflict) => conflict.task === task.id);
  const conflicts = own.reduce((left, { id }) => without(left, id), state.conflicts);
  const ended: SwarmState = { ...state, conflicts, tasks: without(state.tasks, task.id) };
  return deliver(task.plans ? removePlanner(ended, task.id) : ended, task.parent, report);
}

/** The planner that is told of a conflict that mergers left; undefined where none of them is there any more. */
export const commonPlanner = (state: SwarmState, { planners }: ConflictState): TaskId | undefined =>
  planners.find((id) => state.planners.has(id));

/** Its own planner is told in any case. */
function escalate(state: SwarmState, task: TaskState, report: TaskReport, conflict: ConflictState): SwarmState {
  const to = commonPlanner(state, conflict);
  const planner = to === undefined || to === task.parent ? undefined : state.planners.get(to);
  if (planner === undefined) return state;
  return changePlanner(state, planner.id, { reports: [...planner.reports, { ...report, escalated: true }] });
}

/**
 * The worker's report and the feed's word on a conflict come in either order;
 * the task ends when both are there (or when no merger will come).
 */
function settleConflict(state: SwarmState, task: TaskState | undefined): SwarmState {
  const report = task?.report;
  if (task === undefined || report?.conflict === undefined) return state;
  if (state.coordination.merger === 'off') return endTask(state, task, report);
  const conflict = state.conflicts.get(report.conflict);
  if (conflict?.status === 'abandoned') return endTask(escalate(state, task, report, conflict), task, report);
  if (conflict?.status !== 'resolved') return state;
  const seq = conflict.seq === undefined ? {} : { seq: conflict.seq };
  return endTask(state, task, { ...report, ...seq, outcome: 'resolved' });
}

const changeConflict = (state: SwarmState, conflict: ConflictState): SwarmState =>
  settleConflict(setConflict(state, conflict), state.tasks.get(conflict.task));

function openConflict(state: SwarmState, event: EventOf<'conflict.opened'>): SwarmState {
  const { conflict: id, task, paths, planners = [] } = event;
  if (state.coordination.merger === 'off' || state.conflicts.has(id) || !state.tasks.has(task)) return state;
  const conflict: ConflictState = { id, task, paths, planners, status: 'open', attempts: 0, seq: undefined };
  const opened = contradictingDocument(setConflict(state, conflict), conflict);
  const waiting = opened.tasks.get(task);
  if (waiting?.status !== 'parked' || waiting.report === undefined) return opened;
  return conflictParked(opened, waiting, waiting.report, id);
}

function createTask(state: SwarmState, event: EventOf<'task.created'>): SwarmState {
  const { task: id, parent, plans, title, scope, after = [] } = event;
  if (state.tasks.has(id) || state.queue.some((open) => open.id === id)) return state;
  const fresh = { attempts: 0, generation: 0, agent: undefined, report: undefined };
  const task: TaskState = { id, parent, plans, title, scope, after, status: 'open', ...fresh };
  const counted = countTask({ ...state, queue: [...state.queue, task] }, parent);
  return plans ? addPlanner(counted, id, parent, 'absent') : counted;
}

/** Its worker's part is over. */
const isDone = ({ status }: TaskState): boolean => status === 'conflicted' || status === 'parked';

function finishTask(state: SwarmState, report: TaskReport): SwarmState {
  const queued = report.agent === undefined ? state.queue.find(({ id }) => id === report.task) : undefined;
  const task = queued ?? state.tasks.get(report.task);
  // A worker whose task was taken over has no say in it.
  if (task === undefined || isDone(task) || task.agent !== report.agent) return state;
  const left = queued === undefined ? state : { ...state, queue: state.queue.filter((open) => open !== queued) };
  if (isAwaited(state, report)) return awaitThaw(left, task, report);
  if (report.outcome !== 'conflicted' || report.conflict === undefined) return endTask(left, task, report);
  const conflicted: TaskState = { ...task, status: 'conflicted', report };
  return settleConflict(setTask(left, conflicted), conflicted);
}

/** The parked intent ends the task when the store has decided it, which may have been already. */
function awaitThaw(state: SwarmState, task: TaskState, report: TaskReport): SwarmState {
  const parked: TaskState = { ...task, status: 'parked', report };
  const known = state.unparked.get(report.parked ?? '');
  const waiting = setTask(state, parked);
  if (known === undefined) return waiting;
  return decideParked({ ...waiting, unparked: without(state.unparked, report.parked ?? '') }, parked, known);
}

function decideParked(
  state: SwarmState,
  task: TaskState,
  { outcome, seq }: { readonly outcome: UnparkedOutcome; readonly seq: number },
): SwarmState {
  const { report } = task;
  if (report === undefined) return state;
  const decided = unparkedReport(report, outcome, seq);
  if (decided !== undefined) return endTask(state, task, decided);
  // Its conflict is known by the task: the feed tells of both.
  const conflict = [...state.conflicts.values()].find((one) => one.task === task.id);
  return conflict === undefined ? state : conflictParked(state, task, report, conflict.id);
}

function conflictParked(state: SwarmState, task: TaskState, report: TaskReport, conflict: string): SwarmState {
  const { parked: _, ...rest } = report;
  const conflicted: TaskState = { ...task, status: 'conflicted', report: { ...rest, outcome: 'conflicted', conflict } };
  return settleConflict(setTask(state, conflicted), conflicted);
}

function unparkTask(state: SwarmState, event: EventOf<'work.unparked'>): SwarmState {
  const { parked, outcome, seq } = event;
  const task = state.tasks.get(event.task);
  if (task === undefined) return state;
  if (task.status === 'parked') return decideParked(state, task, { outcome, seq });
  return { ...state, unparked: withEntry(state.unparked, parked, { outcome, seq }) };
}

function strandTasks(state: SwarmState, tasks: readonly TaskId[]): SwarmState {
  return tasks.reduce((left, id) => {
    const task = left.tasks.get(id);
    return task?.status === 'parked' && task.report !== undefined ? endTask(left, task, task.report) : left;
  }, state);
}

function reopenTask(state: SwarmState, event: EventOf<'task.reopened'>): SwarmState {
  const task = state.tasks.get(event.task);
  if (task === undefined || isDone(task) || task.agent !== event.agent) return state;
  const attempts = task.attempts + 1;
  if (attempts < state.taskAttemptsMax) {
    const open: TaskState = { ...task, status: 'open', attempts, agent: undefined };
    const left: SwarmState = { ...state, tasks: without(state.tasks, task.id), queue: [...state.queue, open] };
    return task.plans ? changePlanner(left, task.id, { phase: 'absent' }) : left;
  }
  const concerns = [`gave up after ${attempts} attempts; the last one: ${event.reason}`];
  const handoff = { ...emptyHandoff, concerns };
  return endTask(state, task, { task: task.id, agent: task.agent, outcome: 'none', handoff });
}

function resolveConflict(state: SwarmState, id: string, seq: number): SwarmState {
  const conflict = state.conflicts.get(id);
  return conflict === undefined ? state : changeConflict(state, { ...conflict, status: 'resolved', seq });
}

function leaveConflict(state: SwarmState, id: string, untried: boolean): SwarmState {
  const conflict = state.conflicts.get(id);
  if (conflict === undefined || conflict.status !== 'assigned') return state;
  const attempts = conflict.attempts + Number(!untried);
  const status = attempts < state.mergeAttemptsMax ? 'open' : 'abandoned';
  return changeConflict(state, { ...conflict, status, attempts });
}

function startAgent(state: SwarmState, event: EventOf<'agent.started'>): SwarmState {
  const agent = { id: event.agent, role: event.role, task: event.task, conflicts: event.conflicts ?? [] };
  const started: SwarmState = { ...state, agents: withEntry(state.agents, event.agent, agent) };
  const planning =
    event.role === 'planner' && event.task !== undefined
      ? changePlanner(started, event.task, { phase: 'working' })
      : started;
  const task = state.queue.find(({ id }) => id === event.task);
  if (event.role === 'merger' || task === undefined) return planning;
  const queue = state.queue.filter((open) => open !== task);
  return setTask({ ...planning, queue }, { ...task, status: 'starting', agent: event.agent });
}

function endAgent(state: SwarmState, id: AgentId, finished: boolean): SwarmState {
  const agent = state.agents.get(id);
  if (agent === undefined) return state;
  const ended = { ...state, agents: without(state.agents, id) };
  // A planner below the goal's ends with its task, by `task.finished` or `task.reopened`.
  return agent.task === rootTask ? changePlanner(ended, rootTask, { phase: finished ? 'finished' : 'failed' }) : ended;
}

function setWaiting(state: SwarmState, id: AgentId, until: number | undefined): SwarmState {
  const agent = state.agents.get(id);
  if (agent === undefined || agent.waitingUntil === until) return state;
  const { waitingUntil: _, ...rest } = agent;
  return {
    ...state,
    agents: withEntry(state.agents, id, until === undefined ? rest : { ...rest, waitingUntil: until }),
  };
}

function wakePlanner(state: SwarmState, planner: PlannerState, tasks: readonly TaskId[]): SwarmState {
  const told = new Set(tasks);
  const reports = planner.reports.filter(({ task }) => !told.has(task));
  const phase = planner.phase === 'waiting' ? 'working' : planner.phase;
  return changePlanner(state, planner.id, { phase, reports });
}

function startRun(state: SwarmState, event: EventOf<'run.started'>): SwarmState {
  if (state.phase !== 'new') return state;
  const { kind: _, root, greenEvery, unsafeWithout: __, ...settings } = event;
  const green = greenEvery === undefined ? undefined : newGreen(greenEvery);
  return addPlanner(
    { ...state, ...settings, green, phase: 'running' },
    rootTask,
    undefined,
    root === 'planner' ? 'absent' : 'given',
  );
}

/** The state after an event. Pure; an event that does not fit the state changes nothing. */
export function reduce(state: SwarmState, event: SwarmEvent): SwarmState {
  switch (event.kind) {
    case 'run.started':
      return startRun(state, event);
    case 'run.stopping':
      return state.phase === 'running' || state.phase === 'paused'
        ? { ...state, phase: 'stopping', endReason: event.reason }
        : state;
    case 'run.paused':
      return state.phase === 'running' ? { ...state, phase: 'paused' } : state;
    case 'run.unpaused':
      return state.phase === 'paused' ? { ...state, phase: 'running' } : state;
    case 'goal.changed':
      return { ...state, goal: event.goal };
    case 'run.ended':
      return state.phase === 'ended' ? state : { ...state, phase: 'ended', endReason: event.reason };
    case 'task.created':
      return createTask(state, event);
    case 'task.claimed': {
      const task = state.tasks.get(event.task);
      if (task === undefined || task.agent !== event.agent || task.status !== 'starting') return state;
      return setTask(state, { ...task, status: 'running', generation: event.generation });
    }
    case 'task.finished':
      return finishTask(state, event.report);
    case 'task.reopened':
      return reopenTask(state, event);
    case 'conflict.opened':
      return openConflict(state, event);
    case 'conflict.assigned': {
      const conflict = state.conflicts.get(event.conflict);
      return conflict?.status === 'open' ? setConflict(state, { ...conflict, status: 'assigned' }) : state;
    }
    case 'conflict.resolved':
      return resolveConflict(state, event.conflict, event.seq);
    case 'conflict.unresolved':
      return leaveConflict(state, event.conflict, event.untried === true);
    case 'path.contested':
      return contest(state, event.path, event.how, event.planners);
    case 'decisions.overlapped': {
      const { decisions, paths, planners } = event;
      return addContradiction(state, { cause: 'topics', decisions, paths, planners });
    }
    case 'contradiction.assigned':
      return assignContradiction(state, event.contradiction);
    case 'contradiction.settled':
      return settleContradiction(state, event.contradiction);
    case 'contradiction.unsettled':
      return leaveContradiction(state, event.contradiction);
    case 'review.wanted': {
      const { review: id, lens, seq, task, planner } = event;
      if (state.reviews.has(id)) return state;
      const reviews = withEntry(state.reviews, id, { id, lens, seq, task, planner, status: 'open' as const });
      return countTask({ ...state, reviews }, planner);
    }
    case 'review.assigned': {
      const review = state.reviews.get(event.review);
      if (review === undefined) return state;
      return { ...state, reviews: withEntry(state.reviews, review.id, { ...review, status: 'assigned' as const }) };
    }
    case 'review.ended': {
      const review = state.reviews.get(event.review);
      if (review === undefined) return state;
      return uncountTask({ ...state, reviews: without(state.reviews, review.id) }, review.planner);
    }
    case 'file.flagged':
      // A freeze is the stronger mark.
      if (state.files.get(event.path) === 'frozen') return state;
      return wantDecomposition({ ...state, files: withEntry(state.files, event.path, 'flagged') }, event.path);
    case 'file.frozen':
      return { ...state, files: withEntry(state.files, event.path, 'frozen') };
    case 'decomposition.assigned':
      return assignDecomposition(state, event.path);
    case 'file.split':
      return endDecomposition(state, event.path);
    case 'decomposition.failed':
      return leaveDecomposition(state, event.path);
    case 'work.unparked':
      return unparkTask(state, event);
    case 'tasks.stranded':
      return strandTasks(state, event.tasks);
    case 'file.thawed':
      return { ...state, files: without(state.files, event.path) };
    case 'agent.started':
      return startAgent(state, event);
    case 'agent.ended':
      return endAgent(state, event.agent, event.reason === 'finished');
    case 'agent.waiting':
      return setWaiting(state, event.agent, event.until);
    case 'agent.resumed':
      return setWaiting(state, event.agent, undefined);
    case 'trunk.landed':
      return sawLanding(state, event.seq);
    case 'green.due':
      return greenDue(state);
    case 'green.begun':
      return beginGreen(state);
    case 'green.ended':
      return endGreen(state, event.head);
    case 'green.checked':
    case 'green.broken':
    case 'agent.warned':
    case 'task.given-up':
    case 'question.asked':
    case 'question.answered':
    case 'intent.answered':
    case 'topic.refused':
    case 'agent.told':
    case 'conflict.escalated':
      return state;
    case 'planner.waiting': {
      const planner = state.planners.get(event.planner);
      if (planner?.phase !== 'working') return state;
      return changePlanner(state, planner.id, { phase: 'waiting', waitsFor: event.for });
    }
    default: {
      // planner.woken: the last of the union, so that a new kind of event does not compile here.
      const planner = state.planners.get(event.planner);
      return planner === undefined ? state : wakePlanner(state, planner, event.tasks);
    }
  }
}
