import type { AgentId, TaskId } from '../core/ids.ts';
import { emptyHandoff, type TaskReport } from '../core/task.ts';
import type { SwarmEvent } from '../events/event.ts';
import type { ConflictState, SwarmState, TaskState } from './state.ts';

const withEntry = <K, V>(map: ReadonlyMap<K, V>, key: K, value: V): ReadonlyMap<K, V> => new Map(map).set(key, value);

function without<K, V>(map: ReadonlyMap<K, V>, key: K): ReadonlyMap<K, V> {
  if (!map.has(key)) return map;
  const copy = new Map(map);
  copy.delete(key);
  return copy;
}

const setTask = (state: SwarmState, task: TaskState): SwarmState => ({
  ...state,
  tasks: withEntry(state.tasks, task.id, task),
});

const setConflict = (state: SwarmState, conflict: ConflictState): SwarmState => ({
  ...state,
  conflicts: withEntry(state.conflicts, conflict.id, conflict),
});

/** The task's conflicts need no more watching either. */
function endTask(state: SwarmState, report: TaskReport): SwarmState {
  const own = [...state.conflicts.values()].filter(({ task }) => task === report.task);
  const conflicts = own.reduce((left, { id }) => without(left, id), state.conflicts);
  return { ...state, conflicts, tasks: without(state.tasks, report.task), reports: [...state.reports, report] };
}

/**
 * The worker's report and the feed's word on a conflict come in either order;
 * the task ends when both are there (or when no merger will come).
 */
function settleConflict(state: SwarmState, report: TaskReport | undefined): SwarmState {
  if (report?.conflict === undefined) return state;
  if (!state.merging) return endTask(state, report);
  const conflict = state.conflicts.get(report.conflict);
  if (conflict?.status === 'abandoned') return endTask(state, report);
  if (conflict?.status !== 'resolved') return state;
  const seq = conflict.seq === undefined ? {} : { seq: conflict.seq };
  return endTask(state, { ...report, ...seq, outcome: 'resolved' });
}

const changeConflict = (state: SwarmState, conflict: ConflictState): SwarmState =>
  settleConflict(setConflict(state, conflict), state.tasks.get(conflict.task)?.report);

function openConflict(state: SwarmState, id: string, task: TaskId, paths: readonly string[]): SwarmState {
  if (!state.merging || state.conflicts.has(id) || !state.tasks.has(task)) return state;
  return setConflict(state, { id, task, paths, status: 'open', attempts: 0, seq: undefined });
}

function finishTask(state: SwarmState, report: TaskReport): SwarmState {
  const task = state.tasks.get(report.task);
  // A worker whose task was taken over has no say in it.
  if (task === undefined || task.status === 'conflicted' || task.agent !== report.agent) return state;
  if (report.outcome !== 'conflicted' || report.conflict === undefined) return endTask(state, report);
  return settleConflict(setTask(state, { ...task, status: 'conflicted', report }), report);
}

function reopenTask(state: SwarmState, event: Extract<SwarmEvent, { kind: 'task.reopened' }>): SwarmState {
  const task = state.tasks.get(event.task);
  if (task === undefined || task.status === 'conflicted' || task.agent !== event.agent) return state;
  const attempts = task.attempts + 1;
  if (attempts < state.taskAttemptsMax) {
    const open: TaskState = { ...task, status: 'open', attempts, agent: undefined };
    return { ...state, tasks: without(state.tasks, task.id), queue: [...state.queue, open] };
  }
  const concerns = [`gave up after ${attempts} attempts; the last one: ${event.reason}`];
  const handoff = { ...emptyHandoff, concerns };
  return endTask(state, { task: task.id, agent: task.agent, outcome: 'none', handoff });
}

function resolveConflict(state: SwarmState, id: string, seq: number): SwarmState {
  const conflict = state.conflicts.get(id);
  return conflict === undefined ? state : changeConflict(state, { ...conflict, status: 'resolved', seq });
}

function leaveConflict(state: SwarmState, id: string): SwarmState {
  const conflict = state.conflicts.get(id);
  if (conflict === undefined || conflict.status !== 'assigned') return state;
  const attempts = conflict.attempts + 1;
  const status = attempts < state.mergeAttemptsMax ? 'open' : 'abandoned';
  return changeConflict(state, { ...conflict, status, attempts });
}

function startAgent(state: SwarmState, event: Extract<SwarmEvent, { kind: 'agent.started' }>): SwarmState {
  const agent = { id: event.agent, role: event.role, task: event.task, conflict: event.conflict };
  const started: SwarmState = { ...state, agents: withEntry(state.agents, event.agent, agent) };
  if (event.role === 'planner') return { ...started, planner: 'working' };
  const task = state.queue.find(({ id }) => id === event.task);
  if (event.role === 'merger' || task === undefined) return started;
  const queue = state.queue.filter((open) => open !== task);
  return setTask({ ...started, queue }, { ...task, status: 'starting', agent: event.agent });
}

function endAgent(state: SwarmState, id: AgentId, finished: boolean): SwarmState {
  const agent = state.agents.get(id);
  if (agent === undefined) return state;
  const ended = { ...state, agents: without(state.agents, id) };
  return agent.role === 'planner' ? { ...ended, planner: finished ? 'finished' : 'failed' } : ended;
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

/** The state after an event. Pure; an event that does not fit the state changes nothing. */
export function reduce(state: SwarmState, event: SwarmEvent): SwarmState {
  switch (event.kind) {
    case 'run.started': {
      const { kind: _, ...settings } = event;
      return state.phase === 'new' ? { ...state, ...settings, phase: 'running' } : state;
    }
    case 'run.aborting':
      return state.phase === 'running' ? { ...state, phase: 'aborting' } : state;
    case 'run.ended':
      return state.phase === 'ended' ? state : { ...state, phase: 'ended', endReason: event.reason };
    case 'task.created': {
      const { task: id, title, scope } = event;
      if (state.tasks.has(id) || state.queue.some((open) => open.id === id)) return state;
      const fresh = { attempts: 0, generation: 0, agent: undefined, report: undefined };
      return { ...state, queue: [...state.queue, { id, title, scope, status: 'open', ...fresh }] };
    }
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
      return openConflict(state, event.conflict, event.task, event.paths);
    case 'conflict.assigned': {
      const conflict = state.conflicts.get(event.conflict);
      return conflict?.status === 'open' ? setConflict(state, { ...conflict, status: 'assigned' }) : state;
    }
    case 'conflict.resolved':
      return resolveConflict(state, event.conflict, event.seq);
    case 'conflict.unresolved':
      return leaveConflict(state, event.conflict);
    case 'file.flagged':
      // A freeze is the stronger mark.
      if (state.files.get(event.path) === 'frozen') return state;
      return { ...state, files: withEntry(state.files, event.path, 'flagged') };
    case 'file.frozen':
      return { ...state, files: withEntry(state.files, event.path, 'frozen') };
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
    case 'agent.warned':
      return state;
    case 'planner.waiting':
      return state.planner === 'working' ? { ...state, planner: 'waiting' } : state;
    default: {
      // planner.woken: the last of the union, so that a new kind of event does not compile here.
      const told = new Set(event.tasks);
      const reports = state.reports.filter((report) => !told.has(report.task));
      return state.planner === 'waiting' ? { ...state, planner: 'working', reports } : state;
    }
  }
}
