import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';

import type { CurveResult } from '../curve/index.ts';
import type { Minds } from './cells.ts';
import type { Violation } from './measures/dependencies.ts';
import type { Likeness } from './measures/likeness.ts';
import type { SpendByRole } from './measures/spend.ts';
import type { TreeSize } from './measures/tree-text.ts';

/** What one cell came to, as it stands in its directory once it is finished. */
export interface CellResult {
  readonly format: 1;
  readonly cell: string;
  readonly minds: Minds;
  /** Why the run ended. */
  readonly reason: string;
  readonly detail?: string;
  /** `resumed`: it was cut off, and another process went on. */
  readonly how: 'in one go' | 'resumed';
  readonly seconds: number;
  /** Of the tree in the end, from 0 to 1; undefined where nothing is scored. */
  readonly score?: number;
  /** undefined: nothing is scored, or there is nothing that could be. */
  readonly curve?: CurveResult;
  readonly commits: number;
  readonly conflicts: number;
  readonly tasks: number;
  /** Lines that stand in the end and did not in the starting tree. */
  readonly acceptedLines: number;
  readonly size: TreeSize;
  readonly duplicateShare: number;
  readonly violations: readonly Violation[];
  readonly likeness?: Likeness;
  readonly spend: SpendByRole;
  /** SHA-256 over path, mode and BLAKE3 of every file, in the order of the paths. */
  readonly treeHash: string;
}

/** undefined where there is none yet. */
export function readCellResult(file: string): CellResult | undefined {
  if (!existsSync(file)) return undefined;
  const value = JSON.parse(readFileSync(file, 'utf8')) as CellResult;
  return value.format === 1 ? value : undefined;
}

/** Whole or not at all. */
export function writeWhole(file: string, value: object): void {
  writeFileSync(`${file}.part`, `${JSON.stringify(value)}\n`);
  renameSync(`${file}.part`, file);
}
