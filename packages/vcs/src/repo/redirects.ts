import type { RepoPath, Seq } from '../core/ids.ts';
import type { Lineage } from '../land/lineage.ts';
import type { LogReader } from '../log/log-reader.ts';
import type { Version } from '../log/version.ts';
import type { RedirectView, Whereabouts } from './api.ts';

/** The splits of a path up to a seq, oldest first. */
export function redirectsOf(reader: LogReader, lineage: Lineage, path: RepoPath, upTo: number): RedirectView[] {
  return lineage.splitsOf(path, 0, upTo).flatMap((seq): RedirectView[] => {
    const { split, changes, authorId } = reader.landing(seq);
    if (split === undefined) return [];
    const made = new Set([...split.ranges.map(({ toPathId }) => toPathId), split.pathId]);
    const isThere = (pathId: number): boolean => changes.some((row) => row.pathId === pathId && row.mode !== undefined);
    const ranges = split.ranges.map(({ start, count, toPathId, toStart }) => ({
      start: start + 1,
      count,
      path: reader.pathOf(toPathId),
      toStart: toStart + 1,
    }));
    const modules = [...made].filter(isThere).map((pathId) => reader.pathOf(pathId));
    return [{ path, seq: seq as Seq, author: reader.author(authorId), modules, ranges }];
  });
}

/** Where the file that stood under a path at a version is; a tombstone stands for the last file there. */
export function whereaboutsOf(
  reader: LogReader,
  lineage: Lineage,
  path: RepoPath,
  version: Version | undefined,
): Whereabouts | undefined {
  let file = version;
  while (file !== undefined && file.target === undefined) {
    file = file.previous.seq === 0 ? undefined : reader.version(file.previous);
  }
  if (file === undefined) return undefined;
  const paths = lineage.placesOf(path, file.place);
  if (paths.isSplit) return { kind: 'split', paths: paths.live };
  const [only] = paths.live;
  if (only === undefined) return { kind: 'deleted' };
  return { kind: only === path ? 'here' : 'moved', path: only };
}
