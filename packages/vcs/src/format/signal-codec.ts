import type { FlagSignal } from '../core/event.ts';
import type { Packable } from './codec.ts';
import type { PiledRow, ReferenceRow } from './entry.ts';

/** In the order of their numbers on disk. */
const measures: readonly FlagSignal['measure'][] = ['bytes', 'lines', 'contention', 'authors'];

export const packSignal = ({ measure, value, bound }: FlagSignal): Packable => [
  measures.indexOf(measure),
  value,
  bound,
];

/** Errors: `RangeError` where the measure is unknown. */
export function unpackSignal(packed: Packable): FlagSignal {
  const [number, value, bound] = packed as [number, number, number];
  const measure = measures[number];
  if (measure === undefined) throw new RangeError(`a flag's measure ${number} is unknown`);
  return { measure, value, bound };
}

export const packPiled = (rows: readonly PiledRow[]): Packable =>
  rows.map(({ pathId, at }) => [pathId, at.seq, at.index]);

export const unpackPiled = (packed: Packable): PiledRow[] =>
  (packed as [number, number, number][]).map(([pathId, seq, index]) => ({ pathId, at: { seq, index } }));

/** In the order of their numbers on disk. */
const standings: readonly ReferenceRow['standing'][] = ['missing', 'superseded', 'outdated'];

export const packReferences = (rows: readonly ReferenceRow[]): Packable =>
  rows.map(({ pathId, line, id, standing }) => [pathId, line, id, standings.indexOf(standing)]);

/** Errors: `RangeError` where a standing is unknown. */
export const unpackReferences = (packed: Packable): ReferenceRow[] =>
  (packed as [number, number, string, number][]).map(([pathId, line, id, number]) => {
    const standing = standings[number];
    if (standing === undefined) throw new RangeError(`a reference's standing ${number} is unknown`);
    return { pathId, line, id, standing };
  });
