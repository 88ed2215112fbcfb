import type { Repo } from '@mound/vcs';
import { rootTask } from '../core/ids.ts';
import type { HandoffStatus } from '../core/task.ts';
import type { RunHeader } from './run-header.ts';
import type { RunKeys } from './run-keys.ts';
import { decodeTask, type TaskRecord } from './task-book.ts';

const isDone = ({ state }: TaskRecord): boolean => state === 'done';

/**
 * How the goal of a run stands: as its planner says; where the tasks were given with the goal, as all of them ended,
 * `partial` if only some are done, `failed` if they ended in several ways and none is. undefined where nobody has said
 * yet.
 */
export function goalStatus(repo: Repo, keys: RunKeys, { root }: Pick<RunHeader, 'root'>): HandoffStatus | undefined {
  const snapshot = repo.snapshot();
  const own = keys.task(rootTask);
  if (root === 'planner') {
    const head = snapshot.record(own);
    const record = head && decodeTask(head.value);
    return record !== undefined && isDone(record) ? 'done' : record?.status;
  }
  const given = snapshot.records(keys.task('')).flatMap(({ key, value }) => (key === own ? [] : decodeTask(value)));
  const ways = new Set(given.map((record) => (isDone(record) ? 'done' : record.status)));
  const [way] = ways;
  if (ways.size === 1) return way;
  return ways.has('done') ? 'partial' : 'failed';
}
