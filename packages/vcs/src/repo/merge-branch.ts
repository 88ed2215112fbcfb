import { MoundError } from '../core/errors.ts';
import type { RepoPath } from '../core/ids.ts';
import { absent, version, type Change } from '../core/intent.ts';
import type { Mode } from '../core/mode.ts';
import type { Outcome } from '../core/outcome.ts';
import type { Place } from '../format/entry.ts';
import { headKey } from '../format/keys.ts';
import { admit } from '../intent/admit.ts';
import { isRejected } from '../intent/reject.ts';
import type { Lander } from '../land/lander.ts';
import { noExtras } from '../land/prepared.ts';
import type { BranchRow } from '../format/branch.ts';
import { decodeHead } from '../format/head.ts';
import type { LogReader } from '../log/log-reader.ts';
import type { MergeOptions } from './api.ts';

/** Says that a branch was merged: written with the merge, so that it happens once. */
const mergedKey = (branch: string, into: string): string => `mound/merged/${into}/${branch}`;

/**
 * Lands what a branch changed since its fork on the branch that it was forked
 * from, as one intent with two parents. Every change is based on the fork, so
 * what the other branch did since is merged, or becomes a conflict.
 */
export async function mergeBranch(
  reader: LogReader,
  lander: Lander,
  name: string,
  options: MergeOptions,
): Promise<Outcome> {
  reader.refresh();
  const branch = reader.branchNamed(name);
  if (branch.parentId < 0) {
    throw new MoundError('invalid-argument', `'${name}' was forked from no branch; name one that was`, {
      branch: name,
    });
  }
  const into = reader.branch(branch.parentId).name;
  const form = admit({
    branch: into,
    author: options.author,
    message: options.message ?? `Merge branch ${name}`,
    changes: changesOf(reader, branch),
    asOf: branch.forkSeq,
    records: [{ key: mergedKey(name, into), expect: absent, value: String(branch.commitSeq) }],
    ...(options.rationale !== undefined && { rationale: options.rationale }),
    ...(options.operationId !== undefined && { operationId: options.operationId }),
  });
  reader.store.steps.reach('branch-read');
  if (isRejected(form)) return form;
  const mergedSeq = branch.commitSeq > branch.forkSeq ? branch.commitSeq : 0;
  return lander.land({ ...form, mergedSeq }, noExtras);
}

/** A path with a version of the branch's own, now and at the fork. */
interface BranchPath {
  readonly path: RepoPath;
  readonly pathId: number;
  readonly place: Place;
  readonly mode: Mode | undefined;
  readonly wasThere: boolean;
}

/** Each path with a version of the branch's own, against what it was at the fork; what it moved is a move. */
function changesOf(reader: LogReader, branch: BranchRow): Change[] {
  const paths = pathsOf(reader, branch);
  const sources = sourcesOf(reader, branch, paths);
  const moved = new Set(sources.values());
  return paths.flatMap(({ path, place, mode, wasThere }): Change[] => {
    const expect = wasThere ? version(branch.forkSeq) : absent;
    const source = sources.get(path);
    if (mode !== undefined && source !== undefined) {
      const content = reader.content(place);
      return [
        { kind: 'move', path: source, to: path, content, mode, expect: version(branch.forkSeq), expectTo: expect },
      ];
    }
    if (mode !== undefined) return [{ kind: 'put', path, content: reader.content(place), mode, expect }];
    return wasThere && !moved.has(path) ? [{ kind: 'delete', path, expect }] : [];
  });
}

function pathsOf(reader: LogReader, { id, parentId, forkSeq }: BranchRow): BranchPath[] {
  const paths: BranchPath[] = [];
  const range = { start: headKey(id, 0), end: headKey(id + 1, 0) };
  for (const { key, value } of reader.store.tables.heads.getRange(range)) {
    const pathId = key.readUInt32BE(4);
    const { place, mode } = decodeHead(value);
    const before = reader.head(parentId, pathId);
    const atFork = before && reader.headAsOf(before, forkSeq);
    paths.push({ path: reader.pathOf(pathId), pathId, place, mode, wasThere: atFork?.mode !== undefined });
  }
  return paths;
}

/** Where the files that the branch moved stood at the fork, by where they are now; each went to one place. */
function sourcesOf(
  reader: LogReader,
  { id, forkSeq }: BranchRow,
  paths: readonly BranchPath[],
): Map<RepoPath, RepoPath> {
  const gone = new Set(paths.filter(({ mode, wasThere }) => mode === undefined && wasThere).map(({ path }) => path));
  const sources = new Map<RepoPath, RepoPath>();
  for (const { path, pathId, mode } of paths) {
    if (mode === undefined) continue;
    const head = reader.head(id, pathId);
    const source = head && originOf(reader, id, path, head.place, forkSeq);
    // Its old name must be free: something else may stand there by now.
    if (source !== undefined && gone.delete(source)) sources.set(path, source);
  }
  return sources;
}

/** The path that a file had at the fork, if the branch moved it since. */
function originOf(
  reader: LogReader,
  branchId: number,
  path: RepoPath,
  from: Place,
  forkSeq: number,
): RepoPath | undefined {
  let at = path;
  let place = from;
  while (place.seq > forkSeq) {
    const { mode, movedPathId, previous } = reader.change(place);
    // It was made here.
    if (mode === undefined) return undefined;
    if (movedPathId === 0) {
      place = previous;
      continue;
    }
    at = reader.pathOf(movedPathId);
    const head = reader.head(branchId, movedPathId);
    const before = head && reader.headAsOf(head, place.seq - 1);
    if (before?.mode === undefined) return undefined;
    place = before.place;
  }
  return place.seq === 0 || at === path ? undefined : at;
}
