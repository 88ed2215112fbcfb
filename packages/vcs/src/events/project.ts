import { isSameActor } from '../core/actor.ts';
import {
  conflictIdOf,
  parkedIdOf,
  type ConflictId,
  type FileVersion,
  type ParkedId,
  type RepoPath,
  type Seq,
} from '../core/ids.ts';
import type { EventBody, Origin, RepoEvent, SideAuthor } from '../core/event.ts';
import type { ConflictEnding, ConflictEntry, LandingEntry, LogEntry, PiledRow } from '../format/entry.ts';
import { breakageOf } from '../breakage/index.ts';
import { hashOfDecision, isDesignPath, isDocumentFault, parseDecision } from '../decisions/index.ts';
import { contentOrNotice } from '../log/purged.ts';
import { statesBreakage } from '../land/batch-writer.ts';
import { unpackAccounts } from '../land/account-codec.ts';
import { mergedPathsOf } from '../land/outcomes.ts';
import { sideAuthorAt, versionsOfSide } from '../land/side-landings.ts';
import { returnedTo, type SignalHistory } from '../land/signal-history.ts';
import type { LogReader } from '../log/log-reader.ts';

/** The events of one entry: a pure function of it (and of the names that its ids stand for). */
export function eventsOf(reader: LogReader, entry: LogEntry, signals: SignalHistory): RepoEvent[] {
  const author = reader.author(entry.authorId);
  const origin: Origin = {
    author: author.name,
    authorKind: author.kind,
    ...(author.agent !== undefined && { agent: author.agent }),
    ...('task' in entry && entry.task !== undefined && { task: entry.task }),
  };
  const branch = reader.branch(entry.branchId).name;
  return bodiesOf(reader, entry, origin, signals).map((body, at) => ({
    ...body,
    seq: entry.seq,
    index: at + 1,
    time: entry.time,
    branch,
  }));
}

function bodiesOf(reader: LogReader, entry: LogEntry, origin: Origin, signals: SignalHistory): EventBody[] {
  switch (entry.kind) {
    case 'landing':
      return [
        ...bodiesOfLanding(reader, entry, origin),
        ...breakageOfLanding(reader, entry, origin),
        ...decisionsOf(reader, entry, origin),
        ...signalsOf(reader, entry, origin, signals),
      ];
    case 'piled':
      return entry.paths.map((row) => piledOn(reader, row, origin));
    case 'conflict': {
      const paths = entry.paths.map((row) => row.path as RepoPath);
      return [
        ...unparked(entry.unparks, 'conflicted', origin),
        ...replaced(entry.replaces, conflictIdOf(entry.seq), origin),
        { kind: 'conflict.opened', ...origin, conflict: conflictIdOf(entry.seq), paths, met: metBy(reader, entry) },
      ];
    }
    case 'parked':
      return [
        ...replaced(entry.replaces, parkedIdOf(entry.seq), origin),
        { kind: 'intent.parked', ...origin, parked: parkedIdOf(entry.seq), paths: entry.paths as RepoPath[] },
      ];
    case 'closed':
      return [resolved(reader, entry.conflict, entry.ending, origin)];
    case 'unparked':
      return unparked(entry.parked, entry.outcome, origin);
    case 'flag':
      return [
        {
          kind: 'file.flagged',
          ...origin,
          path: entry.path as RepoPath,
          reason: entry.reason,
          ...(entry.signal && { signal: entry.signal }),
        },
      ];
    case 'freeze':
      return [
        {
          kind: 'file.frozen',
          ...origin,
          path: entry.path as RepoPath,
          reason: entry.reason,
          ...(entry.owner !== undefined && { owner: entry.owner }),
          ...(entry.until !== undefined && entry.until > 0 && { until: entry.until }),
        },
      ];
    case 'thaw':
      return [{ kind: 'file.thawed', ...origin, path: entry.path as RepoPath, reason: entry.reason }];
    case 'fork':
      return [{ kind: 'branch.forked', ...origin, parent: reader.branch(entry.parentId).name, at: entry.at as Seq }];
    case 'purge':
      return [{ kind: 'object.purged', ...origin, blobs: entry.blobs, reason: entry.reason }];
    case 'tag':
      return [{ kind: 'tag.set', ...origin, tag: entry.name, at: entry.at as Seq }];
  }
}

function replaced(seq: number, by: ConflictId | ParkedId, origin: Origin): EventBody[] {
  return seq === 0 ? [] : [{ kind: 'conflict.replaced', ...origin, conflict: conflictIdOf(seq), by }];
}

function resolved(reader: LogReader, seq: number, ending: ConflictEnding, origin: Origin): EventBody {
  const conflict = reader.mustGetEntry(seq);
  const paths = conflict.kind === 'conflict' ? conflict.paths.map((row) => row.path as RepoPath) : [];
  return { kind: 'conflict.resolved', ...origin, conflict: conflictIdOf(seq), paths, ending };
}

function piledOn(reader: LogReader, { pathId, at }: PiledRow, origin: Origin): EventBody {
  const path = reader.pathOf(pathId);
  return { kind: 'file.piled-on', ...origin, path, version: at.seq as FileVersion, by: sideAuthorAt(reader, at.seq) };
}

function breakageOfLanding(reader: LogReader, entry: LandingEntry, origin: Origin): EventBody[] {
  if (!statesBreakage(entry)) return [];
  const { breakage: rationale = '', authorId, task, changes } = entry;
  const { id: breakage } = breakageOf(rationale, reader.author(authorId), task);
  const paths = changes.map(({ pathId }) => reader.pathOf(pathId));
  return [{ kind: 'breakage.stated', ...origin, breakage, rationale, paths }];
}

/** What a landing tells of decisions and of what cites them. */
function decisionsOf(reader: LogReader, { seq, changes, references }: LandingEntry, origin: Origin): EventBody[] {
  const changed = changes.flatMap(({ pathId, mode }, index): EventBody[] => {
    const path = reader.pathOf(pathId);
    if (!isDesignPath(path)) return [];
    const content = mode === undefined ? undefined : contentOrNotice(reader, { seq, index });
    const read = content && parseDecision(path, content);
    if (read === undefined || isDocumentFault(read)) return [{ kind: 'decision.changed', ...origin, path }];
    const { id: decision, status, topics, owner, supersedes } = read;
    const hash = hashOfDecision(read);
    return [{ kind: 'decision.changed', ...origin, path, decision, status, hash, topics, owner, supersedes }];
  });
  const flagged = references.map(({ pathId, line, id, standing }): EventBody => {
    return { kind: 'reference.flagged', ...origin, path: reader.pathOf(pathId), line, decision: id, standing };
  });
  return [...changed, ...flagged];
}

/** What the change of a file tells of it, beside that it changed. */
function signalsOf(reader: LogReader, entry: LandingEntry, origin: Origin, signals: SignalHistory): EventBody[] {
  const { oscillation, pileOn } = signals.asOf(entry.seq);
  const bodies: EventBody[] = [];
  if (oscillation !== null) {
    for (const [index, row] of entry.changes.entries()) {
      const earlier = returnedTo(reader, entry, index, oscillation.versions);
      if (earlier === undefined) continue;
      bodies.push({
        kind: 'file.oscillated',
        ...origin,
        path: reader.pathOf(row.pathId),
        earlier: earlier as FileVersion,
      });
    }
  }
  const changed = new Set(entry.changes.map(({ pathId }) => pathId));
  // Merged to what stood there: others had done it all.
  const merged = pileOn ? entry.merged.filter(({ pathId, current }) => !changed.has(pathId) && current.seq > 0) : [];
  const rows = [...entry.piled, ...merged.map(({ pathId, current }) => ({ pathId, at: current }))];
  const author = reader.author(entry.authorId);
  return [
    ...bodies,
    ...rows
      .filter(({ at }) => !isSameActor(author, reader.author(reader.landing(at.seq).authorId)))
      .map((row) => piledOn(reader, row, origin)),
  ];
}

function unparked(seq: number, outcome: string, origin: Origin): EventBody[] {
  return seq === 0 ? [] : [{ kind: 'intent.unparked', ...origin, parked: parkedIdOf(seq), outcome }];
}

function bodiesOfLanding(reader: LogReader, entry: LandingEntry, origin: Origin): EventBody[] {
  const bodies: EventBody[] = [];
  const landed = entry.merged.length > 0 ? 'merged' : 'landed';
  bodies.push(...unparked(entry.unparks, landed, origin));
  if (entry.commit !== undefined) {
    bodies.push({
      kind: 'intent.landed',
      ...origin,
      commit: entry.commit,
      message: entry.message,
      changes: entry.changes.map((row) => ({ path: reader.pathOf(row.pathId), deleted: row.mode === undefined })),
      ...(entry.operationId !== undefined && { operationId: entry.operationId }),
    });
  }
  if (entry.split !== undefined) {
    const { pathId, ranges } = entry.split;
    const modules = [...new Set(ranges.map(({ toPathId }) => toPathId))].filter((id) => id !== pathId);
    bodies.push({
      kind: 'file.split',
      ...origin,
      path: reader.pathOf(pathId),
      modules: modules.map((id) => reader.pathOf(id)),
    });
  }
  for (const merged of mergedPathsOf(reader, entry)) bodies.push({ kind: 'file.merged', ...origin, ...merged });
  for (const read of entry.staleReads) {
    bodies.push({ kind: 'read.stale', ...origin, path: read.path as RepoPath, seen: read.seen, actual: read.actual });
  }
  for (const record of entry.records) {
    bodies.push({ kind: 'record.written', ...origin, key: record.key, deleted: record.value === null });
  }
  if (entry.resolves > 0) {
    bodies.push(resolved(reader, entry.resolves, entry.ending, origin));
    bodies.push(...discarded(reader, entry, origin));
  }
  return bodies;
}

/** Whose landings an intent met: those that made its base what it found. */
function metBy(reader: LogReader, { paths, branchId, comparedAt }: ConflictEntry): SideAuthor[] {
  const seqs = paths.flatMap(({ path, base }) =>
    versionsOfSide(reader, { branchId, path: path as RepoPath, base, asOf: comparedAt }).map(({ seq }) => seq),
  );
  return [...new Set(seqs)].toSorted((a, b) => b - a).map((seq) => sideAuthorAt(reader, seq));
}

function discarded(reader: LogReader, { accounts, resolves }: LandingEntry, origin: Origin): EventBody[] {
  if (accounts === undefined) return [];
  const gone = unpackAccounts(accounts).filter(({ fate }) => fate === 'discarded');
  return gone.map(({ fate: _fate, from, ...account }) => {
    const wroteBy = from.map((seq) => sideAuthorAt(reader, seq));
    return { kind: 'hunk.discarded', ...origin, conflict: conflictIdOf(resolves), ...account, wroteBy };
  });
}
