import { faultsOfAcknowledged } from '../acknowledged-faults.ts';
import type { Acknowledged, InitialFiles } from '../../workloads/operation.ts';
import { fastImportSeed, operationIdsIn } from './commit-text.ts';
import { initGitRepo, type GitRepo } from './git-repo.ts';

/** A repository with the initial files as its first commit on `main`; without bare, they are checked out too. */
export async function seededGitRepo(
  files: InitialFiles,
  dir: string,
  options: { readonly bare: boolean; readonly signal: AbortSignal },
): Promise<GitRepo> {
  const repo = await initGitRepo(dir, options.bare, options.signal);
  try {
    // The seed is not measured, so it need not wait for the disk.
    await repo.run(['-c', 'core.fsync=none', 'fast-import', '--quiet'], { input: fastImportSeed(files) });
    if (!options.bare) await repo.run(['-c', 'core.fsync=none', 'reset', '--quiet', '--hard', 'main']);
    return repo;
  } catch (error) {
    await repo.close();
    throw error;
  }
}

/** Reads history and heads back through git itself. */
export async function gitFaults(repo: GitRepo, acknowledged: Acknowledged): Promise<readonly string[]> {
  const log = (await repo.run(['log', '--format=%B', 'main'])).toString('utf8');
  const contents = await readHeads(repo, [...acknowledged.files.keys()]);
  return faultsOfAcknowledged(acknowledged, operationIdsIn(log), (path) => contents.get(path));
}

/** Content of each path that exists on `main`. */
async function readHeads(repo: GitRepo, paths: readonly string[]): Promise<Map<string, Buffer>> {
  const found = new Map<string, Buffer>();
  const input = paths.map((path) => `main:${path}\n`).join('');
  const output = await repo.run(['cat-file', '--batch'], { input });
  let at = 0;
  for (const path of paths) {
    const end = output.indexOf(10, at);
    const header = output.toString('utf8', at, end);
    at = end + 1;
    const size = /^[0-9a-f]+ blob (\d+)$/.exec(header)?.[1];
    if (size === undefined) continue;
    found.set(path, output.subarray(at, at + Number(size)));
    at += Number(size) + 1;
  }
  return found;
}
