import type { RepoPath } from '../core/ids.ts';
import { parentsOfPath } from '../core/path.ts';
import type { LogReader } from '../log/log-reader.ts';
import type { Version } from '../log/version.ts';
import type { Lineage } from './lineage.ts';
import { pathsBelow } from './paths-below.ts';

export interface FileMove {
  readonly from: RepoPath;
  readonly to: RepoPath;
}

/** Where a path in a directory goes along with the files that moved from there; undefined where these do not agree. */
export function goneAlong(path: RepoPath, directory: RepoPath, moves: readonly FileMove[]): RepoPath | undefined {
  const targets = new Set(
    moves.map(({ from, to }) => {
      const rest = from.slice(directory.length);
      return to.endsWith(rest) ? to.slice(0, -rest.length) : to === rest.slice(1) ? '' : undefined;
    }),
  );
  const [target, ...others] = targets;
  if (target === undefined || others.length > 0 || target === directory) return undefined;
  const rest = path.slice(directory.length + 1);
  return (target === '' ? rest : `${target}/${rest}`) as RepoPath;
}

/** One branch as it stood at some seq. */
export interface BranchState {
  readonly reader: LogReader;
  readonly lineage: Lineage;
  head(path: RepoPath): Version | undefined;
}

/**
 * Where an added path belongs, by the nearest directory above it that was there
 * as of a seq and is gone: all that it held and that was not deleted must have
 * moved, under the same names, to one other directory.
 */
export function movedDirectoryOf(state: BranchState, path: RepoPath, asOf: number): RepoPath | undefined {
  const { reader, lineage } = state;
  for (const directory of parentsOfPath(path)) {
    const moves: FileMove[] = [];
    for (const below of pathsBelow(reader, directory)) {
      const head = state.head(below);
      if (head?.target !== undefined) return undefined;
      const seen = head && reader.versionAsOf(head, asOf);
      if (seen?.target === undefined) continue;
      const trace = lineage.trace(below, seen.place);
      if (trace.kind === 'at' && trace.path !== below && trace.head?.target !== undefined) {
        moves.push({ from: below, to: trace.path });
      }
    }
    if (moves.length > 0) return goneAlong(path, directory, moves);
  }
  return undefined;
}
