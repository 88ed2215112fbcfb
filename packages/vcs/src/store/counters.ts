import { pack, unpack } from '../format/codec.ts';

/** The store's counters: one row, read and written once a transaction. */
export interface Counters {
  /** Newest seq of the log. */
  lastSeq: number;
  nextPathId: number;
  nextAuthorId: number;
  nextBranchId: number;
  /** Landings that made a commit. */
  commits: number;
  /** Bodies stored. */
  objects: number;
  /** The `operations` table is complete up to this seq. */
  operationsSeq: number;
  /** The `commits` table is complete up to this seq. */
  commitsSeq: number;
  /** Rows of `freezes`. */
  freezes: number;
  /** Rows of `unchanged`. */
  unchanged: number;
  /** Entries up to this seq stand in `segments`. */
  compactedSeq: number;
  /** Rows of `holds`. */
  holds: number;
  /** Process that is moving rows into the lagging tables, so that not all do it at once; 0: none. */
  drainer: number;
  /** Rows of `conflicts` and `parked` that nothing has ended. */
  conflictsOpen: number;
  parkedOpen: number;
  /** Raised whenever entries are rewritten: what a process remembers of them is old then. */
  rewrites: number;
  /** Hunks of resolved conflicts, by what became of them. */
  hunksKept: number;
  hunksTransformed: number;
  hunksDiscarded: number;
  /** Newest landing that wrote a landing rule; 0: there never was one. */
  rulesSeq: number;
  /** Rows of `redirects`. */
  redirects: number;
}

export const firstCounters: Counters = {
  lastSeq: 0,
  nextPathId: 1,
  nextAuthorId: 1,
  nextBranchId: 1,
  commits: 0,
  objects: 0,
  operationsSeq: 0,
  commitsSeq: 0,
  freezes: 0,
  unchanged: 0,
  compactedSeq: 0,
  holds: 0,
  drainer: 0,
  conflictsOpen: 0,
  parkedOpen: 0,
  rewrites: 0,
  hunksKept: 0,
  hunksTransformed: 0,
  hunksDiscarded: 0,
  rulesSeq: 0,
  redirects: 0,
};

/** The order of the fields on disk. */
const fields = [
  'lastSeq',
  'nextPathId',
  'nextAuthorId',
  'nextBranchId',
  'commits',
  'objects',
  'operationsSeq',
  'commitsSeq',
  'freezes',
  'unchanged',
  'compactedSeq',
  'holds',
  'drainer',
  'conflictsOpen',
  'parkedOpen',
  'rewrites',
  'hunksKept',
  'hunksTransformed',
  'hunksDiscarded',
  'rulesSeq',
  'redirects',
] as const satisfies readonly (keyof Counters)[];

export const encodeCounters = (counters: Counters): Buffer => pack(fields.map((field) => counters[field]));

export function decodeCounters(bytes: Uint8Array): Counters {
  const values = unpack(bytes) as number[];
  const counters = { ...firstCounters };
  for (const [at, field] of fields.entries()) counters[field] = values[at] ?? firstCounters[field];
  return counters;
}
