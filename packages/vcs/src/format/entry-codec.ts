import { MoundError } from '../core/errors.ts';
import type { BlobId, Seq } from '../core/ids.ts';
import { ByteWriter } from './bytes.ts';
import { pack, unpack, type Packable } from './codec.ts';
import { conflictEndingOf, conflictEndings } from './conflict-ending.ts';
import { driverNoteOf, packDriverNote, type DriverNoteTuple } from './driver-note.ts';
import type { ConflictPathRow, LandingEntry, LogEntry, Place } from './entry.ts';
import {
  landingByte,
  readLanding,
  readLandingMarks,
  writeLanding,
  type LandingMarks,
  type TellPrevious,
} from './landing-codec.ts';
import { modeNumberOf, modeOfNumber } from './mode-number.ts';
import { packPiled, packSignal, unpackPiled, unpackSignal } from './signal-codec.ts';
import { checksum, unsealed } from './seal.ts';

type OtherEntry = Exclude<LogEntry, LandingEntry>;

/** 1 is a landing's, see `landing-codec.ts`. */
const kindNumbers: Readonly<Record<OtherEntry['kind'], number>> = {
  conflict: 2,
  parked: 3,
  unparked: 4,
  flag: 5,
  freeze: 6,
  thaw: 7,
  fork: 8,
  tag: 9,
  purge: 10,
  closed: 11,
  piled: 12,
};
const kindNames = new Map(Object.entries(kindNumbers).map(([name, number]) => [number, name as OtherEntry['kind']]));

const orNull = <T>(value: T | undefined): T | null => (value === undefined ? null : value);
const orUndefined = <T>(value: T | null): T | undefined => (value === null ? undefined : value);
const packPlaces = (base: Place, current: Place): Packable[] => [base.seq, base.index, current.seq, current.index];

function fieldsOf(entry: OtherEntry): Packable[] {
  switch (entry.kind) {
    case 'conflict':
      return [
        orNull(entry.operationId),
        orNull(entry.asked),
        orNull(entry.task),
        entry.comparedAt,
        entry.paths.map((row) => [
          row.path,
          row.askedPath,
          row.reason,
          ...packPlaces(row.base, row.current),
          modeNumberOf(row.incoming?.mode),
          row.incoming ? Buffer.from(row.incoming.blob, 'hex') : null,
          ...packDriverNote(row),
          ...(row.refused ? [row.refused.start, row.refused.count] : []),
        ]),
        entry.keptParts > 0 ? entry.keptParts : entry.kept,
        entry.unparks,
        entry.replaces,
      ];
    case 'parked':
      return [
        orNull(entry.operationId),
        orNull(entry.asked),
        orNull(entry.task),
        [...entry.paths],
        entry.keptParts > 0 ? entry.keptParts : entry.kept,
        entry.replaces,
      ];
    case 'closed':
      return [
        orNull(entry.operationId),
        orNull(entry.asked),
        entry.conflict,
        conflictEndings.indexOf(entry.ending),
        entry.at,
      ];
    case 'unparked':
      return [entry.parked, entry.outcome, orNull(entry.code), entry.message];
    case 'purge':
      return [entry.blobs.map((blob) => Buffer.from(blob, 'hex')), entry.reason];
    case 'piled':
      return [orNull(entry.task), packPiled(entry.paths)];
    case 'flag':
      return [entry.path, entry.reason, entry.signal ? packSignal(entry.signal) : null];
    case 'thaw':
      return [entry.path, entry.reason];
    case 'freeze':
      return [entry.path, entry.reason, orNull(entry.owner), entry.until ?? 0];
    case 'fork':
      return [entry.name, entry.parentId, entry.at];
    case 'tag':
      return [entry.name, entry.at];
  }
}

const writer = new ByteWriter();

/** The seq is the entry's key, so it is not in its bytes. Ends with a checksum. Overwritten by the next call. */
export function encodeEntry(entry: LogEntry): Buffer {
  writer.begin();
  if (entry.kind === 'landing') writeLanding(writer, entry);
  else writer.raw(pack([kindNumbers[entry.kind], entry.time, entry.branchId, entry.authorId, ...fieldsOf(entry)]));
  return writer.uint32(checksum(writer.written())).written();
}

const noBytes = Buffer.alloc(0);

const storedBytes = (field: Packable): { kept: Uint8Array; keptParts: number } =>
  typeof field === 'number' ? { kept: noBytes, keptParts: field } : { kept: field as Uint8Array, keptParts: 0 };

/** `bytes` must not be written to afterwards: buffers in the entry alias them. */
export function decodeEntry(seq: number, bytes: Uint8Array): LogEntry {
  try {
    const inner = unsealed(bytes);
    if (inner[0] === landingByte) return readLanding(seq, inner);
    const fields = unpack(inner);
    if (!Array.isArray(fields)) throw new TypeError('not an array');
    return entryOf(seq, fields as Packable[]);
  } catch (cause) {
    throw undecodable(seq, cause);
  }
}

export type EntryMarks = LandingMarks | OtherEntry;

/** As {@link decodeEntry}, but of a landing only what indexes and heads need. */
export function decodeMarks(seq: number, bytes: Uint8Array, tell?: TellPrevious): EntryMarks {
  try {
    const inner = unsealed(bytes);
    if (inner[0] === landingByte) return readLandingMarks(seq, inner, tell);
  } catch (cause) {
    throw undecodable(seq, cause);
  }
  return decodeEntry(seq, bytes) as OtherEntry;
}

const undecodable = (seq: number, cause: unknown): MoundError =>
  new MoundError('corrupt-store', `log entry ${seq} cannot be decoded; run 'mound fsck'`, { seq }, cause);

type ConflictPathTuple = [
  path: string, askedPath: string, reason: string,
  baseSeq: number, baseIndex: number, currentSeq: number, currentIndex: number, mode: number, blob: Uint8Array | null,
  ...DriverNoteTuple, ...refused: [] | [start: number, count: number],
]; // prettier-ignore

function conflictPathOf(packed: ConflictPathTuple): ConflictPathRow {
  const [path, askedPath, reason, bSeq, bIndex, cSeq, cIndex, modeNumber, bytes, ...rest] = packed;
  const [driver, version, lines, structure, ...range] = rest;
  const refused = range.length === 0 ? undefined : { start: range[0], count: range[1] };
  const note = driverNoteOf([driver, version, lines, structure]);
  const mode = modeOfNumber(modeNumber);
  const blob = bytes === null ? undefined : (Buffer.from(bytes).toString('hex') as BlobId);
  const incoming = blob === undefined || mode === undefined ? undefined : { blob, mode };
  const places = { base: { seq: bSeq, index: bIndex }, current: { seq: cSeq, index: cIndex } };
  return { path, askedPath, reason, refused, ...note, ...places, incoming };
}

function entryOf(seq: number, fields: readonly Packable[]): OtherEntry {
  const [kindNumber, time, branchId, authorId, ...rest] = fields as [number, number, number, number, ...Packable[]];
  const kind = kindNames.get(kindNumber);
  if (kind === undefined) throw new TypeError(`kind ${kindNumber} is unknown`);
  const head = { seq: seq as Seq, time, branchId, authorId };
  switch (kind) {
    case 'conflict':
      return {
        ...head,
        kind,
        operationId: orUndefined(rest[0] as string | null),
        asked: orUndefined(rest[1] as Uint8Array | null),
        task: orUndefined(rest[2] as string | null),
        comparedAt: rest[3] as number,
        paths: (rest[4] as unknown as ConflictPathTuple[]).map(conflictPathOf),
        ...storedBytes(rest[5] as Packable),
        unparks: rest[6] as number,
        replaces: rest[7] as number,
      };
    case 'parked':
      return {
        ...head,
        kind,
        operationId: orUndefined(rest[0] as string | null),
        asked: orUndefined(rest[1] as Uint8Array | null),
        task: orUndefined(rest[2] as string | null),
        paths: rest[3] as string[],
        ...storedBytes(rest[4] as Packable),
        replaces: rest[5] as number,
      };
    case 'closed':
      return {
        ...head,
        kind,
        operationId: orUndefined(rest[0] as string | null),
        asked: orUndefined(rest[1] as Uint8Array | null),
        conflict: rest[2] as number,
        ending: conflictEndingOf(rest[3] as number),
        at: rest[4] as number,
      };
    case 'unparked':
      return {
        ...head,
        kind,
        parked: rest[0] as number,
        outcome: rest[1] as string,
        code: orUndefined(rest[2] as string | null),
        message: rest[3] as string,
      };
    case 'piled':
      return { ...head, kind, task: orUndefined(rest[0] as string | null), paths: unpackPiled(rest[1] as Packable) };
    case 'flag': {
      const [path, reason, signal] = rest as [string, string, Packable];
      return { ...head, kind, path, reason, signal: signal === null ? undefined : unpackSignal(signal) };
    }
    case 'thaw':
      return { ...head, kind, path: rest[0] as string, reason: rest[1] as string };
    case 'freeze':
      return {
        ...head,
        kind,
        path: rest[0] as string,
        reason: rest[1] as string,
        owner: orUndefined(rest[2] as string | null),
        until: rest[3] as number,
      };
    case 'fork':
      return { ...head, kind, name: rest[0] as string, parentId: rest[1] as number, at: rest[2] as number };
    case 'purge': {
      const blobs = (rest[0] as Uint8Array[]).map((bytes) => Buffer.from(bytes).toString('hex') as BlobId);
      return { ...head, kind, blobs, reason: rest[1] as string };
    }
    case 'tag':
      return { ...head, kind, name: rest[0] as string, at: rest[1] as number };
  }
}
