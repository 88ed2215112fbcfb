import { MoundError } from '../core/errors.ts';
import type { BlobId, CommitId, Seq } from '../core/ids.ts';
import { modes, type Mode } from '../core/mode.ts';
import { pack, unpack, type Packable } from './codec.ts';
import { sealed, unsealed } from './seal.ts';
import type { Body, ChangeRow, LandingEntry, LogEntry, Place, RecordRow } from './entry.ts';

const kindNumbers: Readonly<Record<LogEntry['kind'], number>> = {
  landing: 1,
  conflict: 2,
  parked: 3,
  unparked: 4,
  flag: 5,
  freeze: 6,
  thaw: 7,
  fork: 8,
  tag: 9,
};
const kindNames = new Map(Object.entries(kindNumbers).map(([name, number]) => [number, name as LogEntry['kind']]));

const forms: readonly Body['form'][] = ['none', 'raw', 'deflate', 'delta', 'delta-deflate', 'same'];

export const modeNumberOf = (mode: Mode | undefined): number => (mode === undefined ? 0 : modes.indexOf(mode) + 1);
export const modeOfNumber = (number: number): Mode | undefined => (number === 0 ? undefined : modes[number - 1]);

const orNull = <T>(value: T | undefined): T | null => (value === undefined ? null : value);
const orUndefined = <T>(value: T | null): T | undefined => (value === null ? undefined : value);
const hexToBytes = (id: string | undefined): Buffer | null => (id === undefined ? null : Buffer.from(id, 'hex'));
const bytesToHex = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('hex');

function packChange(row: ChangeRow): Packable {
  const { body } = row;
  return [
    row.pathId,
    modeNumberOf(row.mode),
    hexToBytes(row.blob),
    row.previous.seq,
    row.previous.index,
    row.depth,
    row.jump.seq,
    row.jump.index,
    forms.indexOf(body.form),
    body.base.seq,
    body.base.index,
    body.chain,
    body.size,
    body.parts > 0 ? body.parts : body.bytes,
    row.movedPathId,
  ];
}

type ChangeTuple = [
  number, number, Uint8Array | null, number, number, number, number, number,
  number, number, number, number, number, Uint8Array | number, number,
]; // prettier-ignore

const noBytes = Buffer.alloc(0);

function unpackChange(packed: Packable): ChangeRow {
  const t = packed as unknown as ChangeTuple;
  const stored = t[13];
  return {
    pathId: t[0],
    mode: modeOfNumber(t[1]),
    blob: t[2] === null ? undefined : (bytesToHex(t[2]) as BlobId),
    previous: { seq: t[3], index: t[4] },
    depth: t[5],
    jump: { seq: t[6], index: t[7] },
    body: {
      form: forms[t[8]] ?? 'none',
      base: { seq: t[9], index: t[10] },
      chain: t[11],
      size: t[12],
      bytes: typeof stored === 'number' ? noBytes : stored,
      parts: typeof stored === 'number' ? stored : 0,
    },
    movedPathId: t[14],
  };
}

const packRecord = (row: RecordRow): Packable => [
  row.key,
  row.value,
  row.previous.seq,
  row.previous.index,
  row.depth,
  row.jump.seq,
  row.jump.index,
];

function unpackRecord(packed: Packable): RecordRow {
  const [key, value, pSeq, pIndex, depth, jSeq, jIndex] = packed as unknown as [
    string, Uint8Array | null, number, number, number, number, number,
  ]; // prettier-ignore
  return { key, value, previous: { seq: pSeq, index: pIndex }, depth, jump: { seq: jSeq, index: jIndex } };
}

const packPlaces = (base: Place, current: Place): Packable[] => [base.seq, base.index, current.seq, current.index];

/** The rare fields of a landing; null as a whole where all are empty, which is the usual case. */
function packRare(entry: LandingEntry): Packable {
  const { merged, staleReads, coAuthorIds, resolves, unparks, accounts, gitRaw } = entry;
  const isUsual =
    merged.length + staleReads.length + coAuthorIds.length + resolves + unparks === 0 &&
    accounts === undefined &&
    gitRaw === undefined;
  if (isUsual) return null;
  return [
    merged.map((row) => [row.pathId, row.driver, ...packPlaces(row.base, row.current)]),
    staleReads.map((row) => [row.path, row.seen, row.actual]),
    coAuthorIds,
    resolves,
    unparks,
    orNull(accounts),
    orNull(gitRaw),
  ];
}

type RareTuple = [
  [number, string, number, number, number, number][],
  [string, number, number][],
  number[],
  number,
  number,
  Uint8Array | null,
  Uint8Array | null,
];

function unpackRare(
  packed: RareTuple | null,
): Pick<LandingEntry, 'merged' | 'staleReads' | 'coAuthorIds' | 'resolves' | 'unparks' | 'accounts' | 'gitRaw'> {
  const [merged, staleReads, coAuthorIds, resolves, unparks, accounts, gitRaw] = packed ?? [
    [],
    [],
    [],
    0,
    0,
    null,
    null,
  ];
  return {
    merged: merged.map(([pathId, driver, bSeq, bIndex, cSeq, cIndex]) => ({
      pathId,
      driver,
      base: { seq: bSeq, index: bIndex },
      current: { seq: cSeq, index: cIndex },
    })),
    staleReads: staleReads.map(([path, seen, actual]) => ({ path, seen, actual })),
    coAuthorIds,
    resolves,
    unparks,
    accounts: orUndefined(accounts),
    gitRaw: orUndefined(gitRaw),
  };
}

function fieldsOf(entry: LogEntry): Packable[] {
  switch (entry.kind) {
    case 'landing':
      return [
        orNull(entry.operationId),
        orNull(entry.asked),
        hexToBytes(entry.commit),
        entry.parents.length === 1 ? (entry.parents[0] ?? 0) : entry.parents,
        entry.message,
        orNull(entry.rationale),
        orNull(entry.task),
        orNull(entry.breakage),
        entry.changes.map(packChange),
        entry.records.length === 0 ? null : entry.records.map(packRecord),
        packRare(entry),
      ];
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
          row.driver,
          ...packPlaces(row.base, row.current),
        ]),
        entry.keptParts > 0 ? entry.keptParts : entry.kept,
        entry.unparks,
      ];
    case 'parked':
      return [
        orNull(entry.operationId),
        orNull(entry.asked),
        orNull(entry.task),
        [...entry.paths],
        entry.keptParts > 0 ? entry.keptParts : entry.kept,
      ];
    case 'unparked':
      return [entry.parked, entry.outcome, orNull(entry.code), entry.message];
    case 'flag':
    case 'freeze':
    case 'thaw':
      return [entry.path, entry.reason];
    case 'fork':
      return [entry.name, entry.parentId, entry.at];
    case 'tag':
      return [entry.name, entry.at];
  }
}

/** The seq is the entry's key, so it is not in its bytes. Ends with a checksum. */
export function encodeEntry(entry: LogEntry): Buffer {
  return sealed(pack([kindNumbers[entry.kind], entry.time, entry.branchId, entry.authorId, ...fieldsOf(entry)]));
}

const storedBytes = (field: Packable): { kept: Uint8Array; keptParts: number } =>
  typeof field === 'number' ? { kept: noBytes, keptParts: field } : { kept: field as Uint8Array, keptParts: 0 };

/** `bytes` must not be written to afterwards: buffers in the entry alias them. */
export function decodeEntry(seq: number, bytes: Uint8Array): LogEntry {
  let fields: readonly Packable[];
  try {
    fields = unpack(unsealed(bytes)) as readonly Packable[];
    if (!Array.isArray(fields)) throw new TypeError('not an array');
    return entryOf(seq, fields);
  } catch (cause) {
    throw new MoundError('corrupt-store', `log entry ${seq} cannot be decoded; run 'mound fsck'`, { seq }, cause);
  }
}

function entryOf(seq: number, fields: readonly Packable[]): LogEntry {
  const [kindNumber, time, branchId, authorId, ...rest] = fields as [number, number, number, number, ...Packable[]];
  const kind = kindNames.get(kindNumber);
  if (kind === undefined) throw new TypeError(`kind ${kindNumber} is unknown`);
  const head = { seq: seq as Seq, time, branchId, authorId };
  switch (kind) {
    case 'landing': {
      const parents = rest[3] as number | number[];
      return {
        ...head,
        kind,
        operationId: orUndefined(rest[0] as string | null),
        asked: orUndefined(rest[1] as Uint8Array | null),
        commit: rest[2] === null ? undefined : (bytesToHex(rest[2] as Uint8Array) as CommitId),
        parents: typeof parents === 'number' ? [parents] : parents,
        message: rest[4] as string,
        rationale: orUndefined(rest[5] as string | null),
        task: orUndefined(rest[6] as string | null),
        breakage: orUndefined(rest[7] as string | null),
        changes: (rest[8] as Packable[]).map(unpackChange),
        records: rest[9] === null ? [] : (rest[9] as Packable[]).map(unpackRecord),
        ...unpackRare(rest[10] as unknown as RareTuple | null),
      };
    }
    case 'conflict':
      return {
        ...head,
        kind,
        operationId: orUndefined(rest[0] as string | null),
        asked: orUndefined(rest[1] as Uint8Array | null),
        task: orUndefined(rest[2] as string | null),
        comparedAt: rest[3] as number,
        paths: (rest[4] as unknown as [string, string, string, string, number, number, number, number][]).map(
          ([path, askedPath, reason, driver, bSeq, bIndex, cSeq, cIndex]) => ({
            path,
            askedPath,
            reason,
            driver,
            base: { seq: bSeq, index: bIndex },
            current: { seq: cSeq, index: cIndex },
          }),
        ),
        ...storedBytes(rest[5] as Packable),
        unparks: rest[6] as number,
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
    case 'flag':
    case 'freeze':
    case 'thaw':
      return { ...head, kind, path: rest[0] as string, reason: rest[1] as string };
    case 'fork':
      return { ...head, kind, name: rest[0] as string, parentId: rest[1] as number, at: rest[2] as number };
    case 'tag':
      return { ...head, kind, name: rest[0] as string, at: rest[1] as number };
  }
}
