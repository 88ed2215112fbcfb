import type { GitHistoryCopy } from './git-history.ts';

/** How an exported repository differs from the one that was imported, by plain git. */
export interface Differences {
  /** Commits that are missing or have another tree. */
  readonly trees: readonly string[];
  /** Branches and tags that are missing, stand elsewhere, or are not git's. */
  readonly refs: readonly string[];
  /** Objects that are missing. */
  readonly objects: readonly string[];
}

export async function compareHistories(source: GitHistoryCopy, exported: GitHistoryCopy): Promise<Differences> {
  const [refs, otherRefs] = [await source.refs(), await exported.refs()];
  const [trees, otherTrees] = [await source.trees(), await exported.trees()];
  const otherObjects = new Set(await exported.objects());
  return {
    trees: differing(trees, otherTrees),
    refs: [...differing(refs, otherRefs), ...[...otherRefs.keys()].filter((name) => !refs.has(name))],
    objects: (await source.objects()).filter((id) => !otherObjects.has(id)),
  };
}

const differing = (wanted: ReadonlyMap<string, string>, found: ReadonlyMap<string, string>): string[] =>
  [...wanted].filter(([name, id]) => found.get(name) !== id).map(([name]) => name);

/**
 * Makes an exported repository wrong, to see that the comparison finds it: one
 * commit gets an empty tree, one branch goes.
 */
export async function spoil(exported: GitHistoryCopy): Promise<void> {
  const [branch] = [...(await exported.refs()).keys()].filter((name) => name.startsWith('refs/heads/'));
  const [commit] = (await exported.trees()).keys();
  if (branch === undefined || commit === undefined) return;
  const empty = (await exported.git(['hash-object', '-t', 'tree', '-w', '--stdin'])).toString('latin1').trim();
  const other = (await exported.git(['commit-tree', '-m', 'spoilt', empty])).toString('latin1').trim();
  await exported.git(['replace', commit, other]);
  await exported.git(['update-ref', '-d', branch]);
}
