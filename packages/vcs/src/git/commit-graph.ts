import { linesOf, spawnGit, writeAll } from './git-command.ts';

export interface GraphCommit {
  readonly id: string;
  readonly parents: readonly string[];
}

/**
 * The commits reachable from `tips` and not from `known`, parents before
 * children. Parents as git walks them: none at the edge of a shallow clone.
 */
export async function* walkCommits(
  gitDir: string,
  tips: readonly string[],
  known: readonly string[] = [],
  options: { readonly isFirstParentOnly?: boolean } = {},
): AsyncGenerator<GraphCommit> {
  const firstParent = options.isFirstParentOnly === true ? ['--first-parent'] : [];
  // A known commit may be gone from the repository by now.
  const args = ['rev-list', '--topo-order', '--reverse', '--parents', '--ignore-missing', ...firstParent, '--stdin'];
  const git = spawnGit(args, { gitDir });
  const input = [...tips, ...known.map((id) => `^${id}`)].map((line) => `${line}\n`);
  const written = writeAll(git.stdin, [input.join('')]);
  for await (const line of linesOf(git)) {
    const [id, ...parents] = line.split(' ');
    if (id !== undefined && id !== '') yield { id, parents };
  }
  await written;
}
