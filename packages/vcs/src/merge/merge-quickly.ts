import type { MergeDriver } from './driver.ts';
import { jsonDriver } from './drivers/json.ts';
import { isBuiltIn } from './drivers/registry.ts';
import { driverInputOf, mergeFile, mergeWhole, resultOf } from './merge-file.ts';
import { sizeOf, type MergeInput } from './merge-input.ts';
import type { MergeResult } from './merge-result.ts';
import { StructuralDriver } from './structure/structural.ts';

/** Bytes of all contents up to which a value by value merge holds nobody up. */
const jsonBytesMax = 128 * 1024;
/** The same of lines that may turn out not to be enough. */
const doubtfulBytesMax = 256 * 1024;

/**
 * A merge that may run while others wait for it: no foreign code, no parsing, and
 * its time is that of a line merge. undefined: it may not be.
 */
export function mergeQuickly(input: MergeInput, driver: MergeDriver): MergeResult | undefined {
  const decided = mergeWhole(input, driver);
  if (decided !== undefined) return decided;
  if (!isBuiltIn(driver, input.path)) return undefined;
  if (driver === jsonDriver && sizeOf(input) > jsonBytesMax) return undefined;
  if (!(driver instanceof StructuralDriver)) return mergeFile(input, driver);
  if (sizeOf(input) > doubtfulBytesMax) return undefined;
  const verdict = driver.mergeQuickly(driverInputOf(input));
  return verdict && resultOf(input, driver, verdict);
}

/** The results of merges of which each is quick; else undefined. */
export function mergeAllQuickly(
  jobs: readonly { readonly input: MergeInput; readonly driver: MergeDriver }[],
): readonly MergeResult[] | undefined {
  const results: MergeResult[] = [];
  for (const { input, driver } of jobs) {
    const result = mergeQuickly(input, driver);
    if (result === undefined) return undefined;
    results.push(result);
  }
  return results;
}
