declare const brand: unique symbol;
type Branded<T, Name extends string> = T & { readonly [brand]: Name };

/** One execution of a swarm; unique within a repository. */
export type RunId = Branded<string, 'RunId'>;
/** One unit of assigned work; unique within a run. */
export type TaskId = Branded<string, 'TaskId'>;
/** A running actor, `<role kind>-<number>`; unique within a run while it lives. */
export type AgentId = Branded<string, 'AgentId'>;

/** The task of the whole goal: the parent of what nobody else handed out. */
export const rootTask: TaskId = 'root' as TaskId;

/** Letters, digits, `.`, `_`, `-`: ids stand in record keys and operation ids, where `/` separates. */
const idPattern = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/;

export const isRunId = (text: string): text is RunId => idPattern.test(text);
export const isTaskId = (text: string): text is TaskId => idPattern.test(text);
export const agentIdOf = (kind: string, number: number): AgentId => `${kind}-${number}` as AgentId;

/** What stands in an intent's `task`: unique across the runs of one repository. */
export const taskNameOf = (run: RunId, task: TaskId): string => `${run}/${task}`;

/** The task in an intent's `task`, or undefined where it is not one of this run. */
export function taskOfName(run: RunId, name: string | undefined): TaskId | undefined {
  if (name === undefined || !name.startsWith(`${run}/`)) return undefined;
  const task = name.slice(run.length + 1);
  return isTaskId(task) ? task : undefined;
}
