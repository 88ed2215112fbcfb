import { invariant } from '../core/errors.ts';
import { builtInDriver } from './drivers/registry.ts';
import { mergeFile } from './merge-file.ts';
import type { MergeInput } from './merge-input.ts';
import { StructuralDriver } from './structure/structural.ts';
import type { MergeResult } from './merge-result.ts';

export interface ThreadInput {
  readonly input: MergeInput;
  /** Id of a driver that is part of Mound. */
  readonly driver: string;
}

/** What the threads of a pool run. */
export async function mergeInThread({ input, driver }: ThreadInput): Promise<MergeResult> {
  const found = builtInDriver(driver, input.path);
  invariant(found !== undefined, `a thread has the driver '${driver}'`);
  if (found instanceof StructuralDriver) await found.load();
  return mergeFile(input, found);
}
