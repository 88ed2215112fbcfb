import type { DriverNote, LinesVerdict, StructureVerdict } from '../core/outcome.ts';
import type { Packable } from './codec.ts';

/** By number; 0 is undefined. Only added to at the end. */
const linesVerdicts: readonly (LinesVerdict | undefined)[] = [undefined, 'clean', 'conflict'];
const structureVerdicts: readonly (StructureVerdict | undefined)[] = [
  undefined,
  'clean',
  'conflict',
  'unasked',
  'unparsed',
  'too-large',
  'unavailable',
];

export type DriverNoteTuple = [driver: string, driverVersion: string, lines: number, structure: number];

export const packDriverNote = ({ driver, driverVersion, lines, structure }: DriverNote): Packable[] => [
  driver,
  driverVersion,
  linesVerdicts.indexOf(lines),
  structureVerdicts.indexOf(structure),
];

export const driverNoteOf = ([driver, driverVersion, lines, structure]: DriverNoteTuple): DriverNote => ({
  driver,
  driverVersion,
  lines: linesVerdicts[lines],
  structure: structureVerdicts[structure],
});
