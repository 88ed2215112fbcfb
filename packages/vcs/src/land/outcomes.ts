import { conflictIdOf, parkedIdOf, type BlobId, type FileVersion, type RepoPath, type Seq } from '../core/ids.ts';
import type { MergedPath, Outcome, RejectionCode } from '../core/outcome.ts';
import type { LandingEntry, LogEntry, Place } from '../format/entry.ts';
import type { LogReader } from '../log/log-reader.ts';
import { reject } from '../intent/reject.ts';

/** A merge that came out as what is there already left no change: the current side stands. */
const blobAt = (reader: LogReader, place: Place): BlobId | undefined =>
  place.seq === 0 ? undefined : reader.version(place).blob;

export function mergedPathsOf(reader: LogReader, entry: LandingEntry): MergedPath[] {
  const blobs = new Map<number, BlobId | undefined>(entry.changes.map((row) => [row.pathId, row.blob]));
  return entry.merged.map(({ pathId, base, current, ...note }) => ({
    path: reader.pathOf(pathId),
    ...note,
    base: base.seq as FileVersion,
    current: current.seq as FileVersion,
    result: blobs.has(pathId) ? blobs.get(pathId) : blobAt(reader, current),
  }));
}

export function outcomeOfLanding(reader: LogReader, entry: LandingEntry): Outcome {
  const { seq, commit } = entry;
  if (entry.merged.length === 0) return { kind: 'landed', seq, commit };
  return { kind: 'merged', seq, commit, merged: mergedPathsOf(reader, entry) };
}

/** The outcome that an entry stands for; undefined for entries that no intent made. */
export function outcomeOfEntry(reader: LogReader, entry: LogEntry): Outcome | undefined {
  switch (entry.kind) {
    case 'landing':
      return outcomeOfLanding(reader, entry);
    case 'conflict':
      return {
        kind: 'conflicted',
        seq: entry.seq,
        conflict: conflictIdOf(entry.seq),
        paths: entry.paths.map((row) => row.path as RepoPath),
      };
    case 'parked':
      return { kind: 'parked', seq: entry.seq, parked: parkedIdOf(entry.seq), paths: entry.paths as RepoPath[] };
    case 'closed':
      return { kind: 'unchanged', seq: entry.at as Seq };
    case 'unparked':
      if (entry.outcome === 'unchanged') return { kind: 'unchanged', seq: entry.seq };
      return reject((entry.code ?? 'stale') as RejectionCode, entry.message, 'read the paths again and land anew');
    default:
      return undefined;
  }
}
