import type { BlobId, CommitId, Seq } from '../core/ids.ts';
import { formNumberOf, formOfNumber } from './body-form.ts';
import { ByteReader, type ByteWriter } from './bytes.ts';
import { pack, unpack, type Packable } from './codec.ts';
import { driverNoteOf, packDriverNote, type DriverNoteTuple } from './driver-note.ts';
import {
  nowhere,
  type Body,
  type ChangeRow,
  type LandingEntry,
  type Place,
  type RecordRow,
  type SplitRow,
} from './entry.ts';
import { conflictEndingOf, conflictEndings } from './conflict-ending.ts';
import { packPiled, packReferences, unpackPiled, unpackReferences } from './signal-codec.ts';
import { modeNumberOf, modeOfNumber } from './mode-number.ts';

/**
 * The bytes of a landing: the entry of the hot path, so it is written field by
 * field, and small: a place in the log stands as its distance from the entry's
 * own seq. `docs/spec/storage-format.md` lists the fields.
 */

/** First byte; that of every other kind is a MessagePack array's (0x90 and above). */
export const landingByte = 0x01;

/** Optional parts of a landing, a bit each. */
const has = {
  operation: 1,
  commit: 2,
  /** Not exactly one parent. */
  parents: 4,
  rationale: 8,
  task: 16,
  breakage: 32,
  records: 64,
  rare: 128,
} as const;

/** In the byte of a change beside its mode (3 bits) and its body's form (3 bits). */
const isInParts = 64;
const isMoved = 128;

function writePlace(writer: ByteWriter, seq: number, place: Place): void {
  // 0: nowhere. The lowest bit says whether an index other than 0 follows.
  const distance = place.seq === 0 ? 0 : (seq - place.seq) * 2;
  if (place.index === 0) writer.varint(distance);
  else writer.varint(distance + 1).varint(place.index);
}

function readPlace(reader: ByteReader, seq: number): Place {
  const distance = reader.varint();
  if (distance === 0) return nowhere;
  const index = distance % 2 === 1 ? reader.varint() : 0;
  return { seq: seq - Math.floor(distance / 2), index };
}

function writeChange(writer: ByteWriter, seq: number, row: ChangeRow): void {
  const { body } = row;
  const { shelf } = body;
  const marks = (body.parts > 0 || shelf !== undefined ? isInParts : 0) | (row.movedPathId === 0 ? 0 : isMoved);
  writer.varint(row.pathId).byte(modeNumberOf(row.mode) | (formNumberOf(body.form) << 3) | marks);
  if (row.blob !== undefined) writer.hex(row.blob);
  if (row.movedPathId !== 0) writer.varint(row.movedPathId);
  writer.varint(row.depth);
  if (row.depth > 0) {
    writePlace(writer, seq, row.previous);
    writePlace(writer, seq, row.jump);
  }
  if (body.form === 'none') return;
  writePlace(writer, seq, body.base);
  if (body.base.seq > 0) writer.varint(body.chain);
  writer.varint(body.size);
  if (shelf !== undefined) writer.varint(0).varint(shelf.index).varint(shelf.offset).varint(shelf.length);
  else if (body.parts > 0) writer.varint(body.parts);
  else writer.sized(body.bytes);
}

const noBytes = Buffer.alloc(0);
const noBody: Body = { form: 'none', base: nowhere, chain: 0, size: 0, bytes: noBytes, parts: 0 };

function readBody(reader: ByteReader, seq: number, form: Body['form'], inParts: boolean): Body {
  if (form === 'none') return noBody;
  const base = readPlace(reader, seq);
  const chain = base.seq > 0 ? reader.varint() : 0;
  const size = reader.varint();
  if (inParts) {
    const parts = reader.varint();
    const common = { form, base, chain, size, bytes: noBytes, parts };
    if (parts > 0) return common;
    return { ...common, shelf: { index: reader.varint(), offset: reader.varint(), length: reader.varint() } };
  }
  return { form, base, chain, size, bytes: reader.sized(), parts: 0 };
}

function readChange(reader: ByteReader, seq: number): ChangeRow {
  const pathId = reader.varint();
  const marks = reader.byte();
  const mode = modeOfNumber(marks & 7);
  const form = formOfNumber((marks >> 3) & 7);
  const blob = mode === undefined ? undefined : (reader.hex(32) as BlobId);
  const movedPathId = (marks & isMoved) === 0 ? 0 : reader.varint();
  const depth = reader.varint();
  const previous = depth > 0 ? readPlace(reader, seq) : nowhere;
  const jump = depth > 0 ? readPlace(reader, seq) : nowhere;
  const body = readBody(reader, seq, form, (marks & isInParts) !== 0);
  return { pathId, mode, blob, previous, depth, jump, body, movedPathId };
}

const packRecord = (row: RecordRow): Packable => [
  row.key,
  row.value,
  row.previous.seq,
  row.previous.index,
  row.depth,
  row.jump.seq,
  row.jump.index,
  ...(row.objects.length > 0 ? [row.objects.map((blob) => Buffer.from(blob, 'hex'))] : []),
];

function unpackRecord(packed: Packable): RecordRow {
  const [key, value, pSeq, pIndex, depth, jSeq, jIndex, named = []] = packed as unknown as [
    string, Uint8Array | null, number, number, number, number, number, Uint8Array[] | undefined,
  ]; // prettier-ignore
  const objects = named.map((bytes) => Buffer.from(bytes).toString('hex') as BlobId);
  return { key, value, previous: { seq: pSeq, index: pIndex }, depth, jump: { seq: jSeq, index: jIndex }, objects };
}

const packSplit = ({ pathId, ranges }: SplitRow): Packable => [
  pathId,
  ranges.map(({ start, count, toPathId, toStart }) => [start, count, toPathId, toStart]),
];

/** The fields that few landings have; undefined where all are empty. */
function packRare(entry: LandingEntry): Packable | undefined {
  const { merged, staleReads, coAuthorIds, resolves, unparks, accounts, gitRaw, ending, piled, references, split } =
    entry;
  const isUsual =
    merged.length + staleReads.length + coAuthorIds.length + piled.length + references.length + resolves + unparks ===
      0 &&
    accounts === undefined &&
    gitRaw === undefined &&
    split === undefined;
  if (isUsual) return undefined;
  return [
    merged.map(({ pathId, base, current, ...note }) => [
      pathId, base.seq, base.index, current.seq, current.index, ...packDriverNote(note),
    ]), // prettier-ignore
    staleReads.map((row) => [row.path, row.seen, row.actual]),
    coAuthorIds,
    resolves,
    unparks,
    accounts ?? null,
    gitRaw ?? null,
    conflictEndings.indexOf(ending),
    packPiled(piled),
    ...(split === undefined && references.length === 0 ? [] : [split === undefined ? null : packSplit(split)]),
    ...(references.length === 0 ? [] : [packReferences(references)]),
  ];
}

type Rare = Pick<
  LandingEntry,
  | 'merged'
  | 'staleReads'
  | 'coAuthorIds'
  | 'resolves'
  | 'unparks'
  | 'accounts'
  | 'gitRaw'
  | 'ending'
  | 'piled'
  | 'references'
  | 'split'
>;
type RareTuple = [
  [number, number, number, number, number, ...DriverNoteTuple][], [string, number, number][], number[],
  number, number, Uint8Array | null, Uint8Array | null, number, Packable,
  [number, [number, number, number, number][]] | null | undefined, Packable | undefined,
]; // prettier-ignore

const noRare: Rare = {
  merged: [],
  staleReads: [],
  coAuthorIds: [],
  resolves: 0,
  unparks: 0,
  accounts: undefined,
  gitRaw: undefined,
  ending: 'resolution',
  piled: [],
  references: [],
  split: undefined,
};

function unpackRare(packed: Packable): Rare {
  const [merged, staleReads, coAuthorIds, resolves, unparks, accounts, gitRaw, ending, piled, split, references] =
    packed as unknown as RareTuple;
  return {
    merged: merged.map(([pathId, bSeq, bIndex, cSeq, cIndex, ...note]) => ({
      pathId,
      ...driverNoteOf(note),
      base: { seq: bSeq, index: bIndex },
      current: { seq: cSeq, index: cIndex },
    })),
    staleReads: staleReads.map(([path, seen, actual]) => ({ path, seen, actual })),
    coAuthorIds,
    resolves,
    unparks,
    accounts: accounts ?? undefined,
    gitRaw: gitRaw ?? undefined,
    ending: conflictEndingOf(ending),
    piled: unpackPiled(piled),
    references: references === undefined ? [] : unpackReferences(references),
    split: split
      ? {
          pathId: split[0],
          ranges: split[1].map(([start, count, toPathId, toStart]) => ({ start, count, toPathId, toStart })),
        }
      : undefined,
  };
}

export function writeLanding(writer: ByteWriter, entry: LandingEntry): void {
  const { seq, parents } = entry;
  const rare = packRare(entry);
  const marks =
    (entry.operationId === undefined ? 0 : has.operation) |
    (entry.commit === undefined ? 0 : has.commit) |
    (parents.length === 1 ? 0 : has.parents) |
    (entry.rationale === undefined ? 0 : has.rationale) |
    (entry.task === undefined ? 0 : has.task) |
    (entry.breakage === undefined ? 0 : has.breakage) |
    (entry.records.length === 0 ? 0 : has.records) |
    (rare === undefined ? 0 : has.rare);
  writer.byte(landingByte).byte(marks);
  // First what the indexes need of an entry that another process wrote.
  if (entry.operationId !== undefined) writer.text(entry.operationId).sized(entry.asked ?? noBytes);
  if (entry.commit !== undefined) writer.hex(entry.commit);
  writer.signed(entry.time).varint(entry.branchId).varint(entry.authorId);
  if ((marks & has.parents) !== 0) writer.varint(parents.length);
  for (const parent of parents) writer.varint(seq - parent);
  writer.text(entry.message);
  if (entry.rationale !== undefined) writer.text(entry.rationale);
  if (entry.task !== undefined) writer.text(entry.task);
  if (entry.breakage !== undefined) writer.text(entry.breakage);
  writer.varint(entry.changes.length);
  for (const row of entry.changes) writeChange(writer, seq, row);
  if (entry.records.length > 0) writer.sized(pack(entry.records.map(packRecord)));
  if (rare !== undefined) writer.sized(pack(rare));
}

/** Errors: `RangeError` where the bytes are not a landing's. Buffers in the entry alias `bytes`. */
export function readLanding(seq: number, bytes: Buffer): LandingEntry {
  const reader = new ByteReader(bytes);
  reader.byte();
  const marks = reader.byte();
  const isThere = (mark: number): boolean => (marks & mark) !== 0;
  const operationId = isThere(has.operation) ? reader.text() : undefined;
  const asked = isThere(has.operation) ? reader.sized() : undefined;
  const commit = isThere(has.commit) ? (reader.hex(32) as CommitId) : undefined;
  const time = reader.signed();
  const branchId = reader.varint();
  const authorId = reader.varint();
  const parentCount = isThere(has.parents) ? reader.varint() : 1;
  const parents: number[] = [];
  for (let i = 0; i < parentCount; i++) parents.push(seq - reader.varint());
  const message = reader.text();
  const rationale = isThere(has.rationale) ? reader.text() : undefined;
  const task = isThere(has.task) ? reader.text() : undefined;
  const breakage = isThere(has.breakage) ? reader.text() : undefined;
  const changeCount = reader.varint();
  const changes: ChangeRow[] = [];
  for (let i = 0; i < changeCount; i++) changes.push(readChange(reader, seq));
  const records = isThere(has.records) ? (unpack(reader.sized()) as Packable[]).map(unpackRecord) : [];
  const rare = isThere(has.rare) ? unpackRare(unpack(reader.sized())) : noRare;
  if (!reader.isAtEnd) throw new RangeError('bytes go on after the end of the landing');
  return {
    kind: 'landing', seq: seq as Seq, time, branchId, authorId, operationId, asked, commit, parents,
    message, rationale, task, breakage, changes, records, ...rare,
  }; // prettier-ignore
}

function skipPlace(reader: ByteReader): boolean {
  const distance = reader.varint();
  if (distance % 2 === 1) reader.varint();
  return distance > 0;
}

/** Reads over a change; gives its path, and tells of its previous version where that is asked for. */
function skipChange(reader: ByteReader, seq: number, tell?: TellPrevious): number {
  const pathId = reader.varint();
  const marks = reader.byte();
  if ((marks & 7) !== 0) reader.skip(32);
  if ((marks & isMoved) !== 0) reader.varint();
  const hasPrevious = reader.varint() > 0;
  if (tell) tell(pathId, hasPrevious ? readPlace(reader, seq) : nowhere);
  else if (hasPrevious) skipPlace(reader);
  if (hasPrevious) skipPlace(reader);
  if (((marks >> 3) & 7) === 0) return pathId;
  if (skipPlace(reader)) reader.varint();
  reader.varint();
  const count = reader.varint();
  if ((marks & isInParts) === 0) reader.skip(count);
  // On a shelf: its index, the range on it.
  else if (count === 0) for (let field = 0; field < 3; field++) reader.varint();
  return pathId;
}

/** Told of each change of a landing: its path and the version before it, nowhere where there is none. */
export type TellPrevious = (pathId: number, previous: Place) => void;

/** What indexes and heads need of a landing; a fifth of the time that reading all of it takes. */
export interface LandingMarks extends Pick<
  LandingEntry,
  'kind' | 'seq' | 'branchId' | 'operationId' | 'commit' | 'unparks'
> {
  /** By index of the change. */
  readonly pathIds: readonly number[];
}

/** Errors: those of {@link readLanding}. */
export function readLandingMarks(seq: number, bytes: Buffer, tell?: TellPrevious): LandingMarks {
  const reader = new ByteReader(bytes);
  reader.byte();
  const marks = reader.byte();
  const isThere = (mark: number): boolean => (marks & mark) !== 0;
  if (isThere(has.rare)) {
    const entry = readLanding(seq, bytes);
    if (tell) for (const { pathId, previous } of entry.changes) tell(pathId, previous);
    return { ...entry, pathIds: entry.changes.map(({ pathId }) => pathId) };
  }
  const operationId = isThere(has.operation) ? reader.text() : undefined;
  if (operationId !== undefined) reader.skip(reader.varint());
  const commit = isThere(has.commit) ? (reader.hex(32) as CommitId) : undefined;
  reader.varint();
  const branchId = reader.varint();
  reader.varint();
  for (let left = isThere(has.parents) ? reader.varint() : 1; left > 0; left--) reader.varint();
  reader.skip(reader.varint());
  for (const mark of [has.rationale, has.task, has.breakage]) if (isThere(mark)) reader.skip(reader.varint());
  const pathIds: number[] = [];
  for (let left = reader.varint(); left > 0; left--) pathIds.push(skipChange(reader, seq, tell));
  return { kind: 'landing', seq: seq as Seq, branchId, operationId, commit, unparks: 0, pathIds };
}
