import type { SideAuthor } from '../core/event.ts';
import type { RepoPath } from '../core/ids.ts';
import { nowhere, type Place } from '../format/entry.ts';
import { contentOrNotice } from '../log/purged.ts';
import type { LogReader } from '../log/log-reader.ts';
import { isText, splitLines } from '../merge/index.ts';

/** Landings that are looked at for one side of a conflict; those before have most of their lines replaced. */
const landingsMax = 64;

/** The version from which a version was made: where it was moved from, else the one before it; nowhere for the first. */
export function olderVersion(reader: LogReader, place: Place): Place {
  const row = reader.change(place);
  if (row.movedPathId !== 0 && row.mode !== undefined) {
    const source = reader.landing(place.seq).changes.find(({ pathId }) => pathId === row.movedPathId);
    if (source !== undefined && source.previous.seq > 0) return source.previous;
  }
  return row.previous;
}

/**
 * The versions that led from `base` to `newest` (which may be a tombstone), newest first. From nowhere they go
 * back to the one that made the file.
 */
export function versionsSince(reader: LogReader, base: Place, newest: Place): Place[] {
  const found: Place[] = [];
  for (let at = newest; at.seq > base.seq && found.length < landingsMax; at = olderVersion(reader, at)) {
    // What was deleted before the file came to be anew is no part of the side.
    if (base.seq === 0 && found.length > 0 && reader.version(at).mode === undefined) break;
    found.push(at);
  }
  return found;
}

/** Every version of a path since a base as of a seq, on a branch: its tombstone, too. */
export function versionsOfSide(
  reader: LogReader,
  side: { readonly branchId: number; readonly path: RepoPath; readonly base: Place; readonly asOf: number },
): Place[] {
  const pathId = reader.getPathId(side.path);
  const head = pathId === undefined ? undefined : reader.head(side.branchId, pathId);
  const newest = (head && reader.headAsOf(head, side.asOf)?.place) ?? nowhere;
  return versionsSince(reader, side.base, newest);
}

function linesAt(reader: LogReader, place: Place): ReadonlySet<string> {
  if (place.seq === 0 || reader.version(place).mode === undefined) return new Set();
  const content = contentOrNotice(reader, place);
  return new Set(isText({ content, mode: 'file' }) ? splitLines(content) : []);
}

/**
 * Seqs of those versions whose landings brought lines of `after`, or took lines of `before` away; all of them
 * where none can be told apart.
 */
export function landingsOfLines(
  reader: LogReader,
  versions: readonly Place[],
  before: Uint8Array,
  after: Uint8Array,
): number[] {
  const all = [...new Set(versions.map(({ seq }) => seq))];
  if (all.length < 2) return all;
  const areText = [before, after].every((content) => isText({ content, mode: 'file' }));
  if (!areText) return all;
  const came = new Set(splitLines(after));
  const went = new Set(splitLines(before).filter((line) => !came.has(line)));
  const found = versions.filter((place) => {
    const [now, then] = [linesAt(reader, place), linesAt(reader, olderVersion(reader, place))];
    return [...came].some((line) => now.has(line) && !then.has(line)) || [...went].some((line) => then.has(line) && !now.has(line)); // prettier-ignore
  });
  return found.length === 0 ? all : [...new Set(found.map(({ seq }) => seq))];
}

/** Who wrote an entry, and for which task. */
export function sideAuthorAt(reader: LogReader, seq: number): SideAuthor {
  const entry = reader.mustGetEntry(seq);
  const { name, kind, agent } = reader.author(entry.authorId);
  const task = 'task' in entry ? entry.task : undefined;
  return {
    author: name,
    authorKind: kind,
    ...(agent !== undefined && { agent }),
    ...(task !== undefined && { task }),
    seq: entry.seq,
  };
}
