import type { GitRepo } from './git/git-repo.ts';

/** The bytes behind each name (`main:src/a.ts`), in one process; what is not there is left out. */
export async function readGitFiles<Key>(repo: GitRepo, names: ReadonlyMap<Key, string>): Promise<Map<Key, Buffer>> {
  const found = new Map<Key, Buffer>();
  if (names.size === 0) return found;
  const output = await repo.run(['cat-file', '--batch'], { input: [...names.values(), ''].join('\n') });
  let at = 0;
  for (const key of names.keys()) {
    const end = output.indexOf('\n', at);
    const size = /^[0-9a-f]+ blob (\d+)$/.exec(output.toString('utf8', at, end))?.[1];
    at = end + 1;
    if (size === undefined) continue;
    found.set(key, output.subarray(at, at + Number(size)));
    at += Number(size) + 1;
  }
  return found;
}
