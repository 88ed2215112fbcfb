import { openRepo, type Repo } from '@mound/vcs';
import type { RunId } from '../core/ids.ts';
import { listRuns } from '../runtime/run-header.ts';
import { readRun, type RunView } from '../runtime/run-view.ts';
import { UsageError } from './usage-error.ts';

/** The run that is named, or the newest. Errors: `UsageError`. */
export function runNamed(repo: Repo, name: string | undefined): RunView {
  const runs = listRuns(repo).map(({ run }) => run);
  if (runs.length === 0) throw new UsageError("this repository has no run; 'mound swarm run GOAL' starts one");
  const found = name === undefined ? runs.at(-1) : runs.find((run) => run === name);
  const view = found === undefined ? undefined : readRun(repo, found as RunId);
  if (view === undefined)
    throw new UsageError(`there is no run '${name}'; the newest are ${runs.slice(-5).join(', ')}`);
  return view;
}

/** The first of many names, and how many more there are. */
export const namesOf = (names: readonly string[]): string =>
  names.length <= 5 ? names.join(', ') : `${names.slice(0, 5).join(', ')} and ${names.length - 5} more`;

export async function withRepo<T>(dir: string, use: (repo: Repo) => Promise<T> | T): Promise<T> {
  const repo = await openRepo(dir);
  try {
    return await use(repo);
  } finally {
    await repo.close();
  }
}
