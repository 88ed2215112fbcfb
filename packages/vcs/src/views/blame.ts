import { MoundError } from '../core/errors.ts';
import type { RepoPath, Seq } from '../core/ids.ts';
import { isPathFault, parsePath } from '../core/path.ts';
import { nowhere, type LandingEntry, type Place } from '../format/entry.ts';
import { olderVersion } from '../land/side-landings.ts';
import type { LogReader } from '../log/log-reader.ts';
import { placeAsOf } from '../log/places.ts';
import { changedLines, isText, splitLines } from '../merge/index.ts';
import type { BlameLine } from './types.ts';

/** A line of the newest version and where it stands in the older one that is looked at. */
interface OpenLine {
  readonly newest: number;
  readonly at: number;
}

/**
 * Who wrote each line of a file: its version chain is walked from the newest on,
 * through moves, until every line has been traced to the landing that brought it.
 * Errors: `no-such-path`; `invalid-argument` where the file is no text.
 */
export function blame(reader: LogReader, branchId: number, path: string, seq: number): BlameLine[] {
  const parsed = parsePath(path);
  const pathId = reader.getPathId(isPathFault(parsed) ? (path as RepoPath) : parsed);
  const head = pathId === undefined ? undefined : reader.head(branchId, pathId);
  const newest = head ? placeAsOf(head.place, seq, reader.linkOfChange) : nowhere;
  if (newest.seq === 0 || reader.version(newest).mode === undefined) {
    throw new MoundError('no-such-path', `there is no ${path} at seq ${seq}; 'mound ls' lists the paths`, { path });
  }
  const content = reader.content(newest);
  if (!isText({ content, mode: 'file' })) {
    throw new MoundError('invalid-argument', `${path} is no text, so it has no lines`, { path });
  }
  const text = splitLines(content);
  const origins = Array.from({ length: text.length }, () => newest);
  let place = newest;
  let lines: readonly string[] = text;
  let open = text.map((_, at): OpenLine => ({ newest: at, at }));
  while (open.length > 0) {
    const older = liveOr(reader, olderVersion(reader, place));
    const olderLines = older.seq === 0 ? [] : linesAt(reader, older);
    const carried = carry(olderLines, lines, open);
    const isCarried = new Set(carried.map((line) => line.newest));
    for (const line of open) if (!isCarried.has(line.newest)) origins[line.newest] = place;
    open = carried;
    place = older;
    lines = olderLines;
  }
  return text.map((line, at) => lineOf(reader, origins[at] ?? newest, at + 1, line));
}

const liveOr = (reader: LogReader, place: Place): Place =>
  place.seq === 0 || reader.version(place).mode === undefined ? nowhere : place;

function linesAt(reader: LogReader, place: Place): readonly string[] {
  const content = reader.content(place);
  return isText({ content, mode: 'file' }) ? splitLines(content) : [];
}

/** Those of the open lines that stand in the older version as well. */
function carry(older: readonly string[], newer: readonly string[], open: readonly OpenLine[]): OpenLine[] {
  if (older.length === 0) return [];
  const carried: OpenLine[] = [];
  const changes = changedLines(older, newer);
  let next = 0;
  let shift = 0;
  for (const line of open) {
    for (
      let change = changes[next];
      change && change.sideStart + change.sideCount <= line.at;
      change = changes[++next]
    ) {
      shift += change.baseCount - change.sideCount;
    }
    const change = changes[next];
    if (change === undefined || line.at < change.sideStart) carried.push({ newest: line.newest, at: line.at + shift });
  }
  return carried;
}

function lineOf(reader: LogReader, place: Place, line: number, text: string): BlameLine {
  const entry: LandingEntry = reader.landing(place.seq);
  return {
    line,
    text,
    seq: place.seq as Seq,
    commit: entry.commit,
    path: reader.pathOf(reader.change(place).pathId),
    author: reader.author(entry.authorId),
    time: entry.time,
    ...(entry.task !== undefined && { task: entry.task }),
  };
}
