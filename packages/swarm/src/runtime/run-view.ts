import { readGreen, type Repo } from '@mound/vcs';
import type { RunId, TaskId } from '../core/ids.ts';
import type { HandoffStatus, Task } from '../core/task.ts';
import type { BudgetNode } from '../state/budget.ts';
import type { AgentRecord } from './agent-life.ts';
import type { GreenSummary } from '../core/green.ts';
import { goalStatus } from './goal-status.ts';
import { greenSummaryOf } from './green-summary.ts';
import { readHeader, type RunHeader } from './run-header.ts';
import { RunKeys } from './run-keys.ts';
import type { RunPolicy } from './run-options.ts';
import { decodeTask, type TaskRecord } from './task-book.ts';

export interface QuestionView {
  readonly id: string;
  readonly task: TaskId;
  readonly question: string;
  /** Something waits for a yes. */
  readonly approval?: true;
}

/** A run as its records tell it, to whoever opens the repository, also while it goes on. */
export interface RunView {
  readonly run: RunId;
  readonly header: RunHeader;
  readonly tasks: readonly { readonly task: Task; readonly record: TaskRecord }[];
  /** What agents came to and cost, in the order in which they ended. */
  readonly agents: readonly AgentRecord[];
  readonly budgets: ReadonlyMap<TaskId, BudgetNode>;
  /** Of the goal, where the run has finished. */
  readonly status: HandoffStatus | undefined;
  readonly questions: readonly QuestionView[];
  /** How the build stood; undefined where nobody kept green. */
  readonly green: GreenSummary | undefined;
  /** Edits that have not landed: paths by task. */
  readonly drafts: ReadonlyMap<TaskId, readonly string[]>;
}

/** undefined where there is no such run. */
export function readRun(repo: Repo, run: RunId): RunView | undefined {
  const keys = new RunKeys(run);
  const head = readHeader(repo, keys);
  if (head === undefined) return undefined;
  const snapshot = repo.snapshot();
  const values = (prefix: string): { readonly id: string; readonly value: unknown; readonly version: number }[] =>
    snapshot.records(prefix).map(({ key, value, version }) => {
      return { id: key.slice(prefix.length), value: JSON.parse(value.toString('utf8')) as unknown, version };
    });
  const briefs = new Map(values(keys.brief('')).map(({ id, value }) => [id, value as Task]));
  const tasks = snapshot.records(keys.task('')).flatMap(({ key, value }) => {
    const task = briefs.get(key.slice(keys.task('').length));
    return task === undefined ? [] : [{ task, record: decodeTask(value) }];
  });
  const agents = [...values(keys.handoff('')), ...values(keys.merges)];
  const drafts = values(`${keys.prefix}draft/`);
  return {
    run,
    header: head.header,
    tasks,
    agents: agents.toSorted((left, right) => left.version - right.version).map(({ value }) => value as AgentRecord),
    budgets: new Map(values(keys.budget('')).map(({ id, value }) => [id as TaskId, value as BudgetNode])),
    status: head.header.reason === 'finished' ? goalStatus(repo, keys, head.header) : undefined,
    questions: values(keys.questions).map(({ value }) => value as QuestionView),
    green: greenOf(repo, head.header),
    drafts: new Map(
      drafts.map(({ id, value }) => [id as TaskId, Object.keys((value as { readonly files: object }).files)]),
    ),
  };
}

function greenOf(repo: Repo, { settings, startedAt, endedAt }: RunHeader): GreenSummary | undefined {
  const policy = settings['policy'] as Partial<RunPolicy> | undefined;
  if (policy?.green === undefined || policy.coordination?.green === 'off') return undefined;
  const checks = readGreen(repo).checks;
  const until = endedAt ?? Math.max(startedAt, ...checks.map(({ time }) => time));
  return greenSummaryOf(repo, policy.green.command, startedAt, until);
}
