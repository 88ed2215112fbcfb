import { align, type Change } from './align.ts';
import { intern } from './three-way.ts';

export type { Change as LineChange } from './align.ts';

/** What changed between two versions of a text, in order. Time is bounded as that of a merge is. */
export function changedLines(before: readonly string[], after: readonly string[]): Change[] {
  const ids = new Map<string, number>();
  return align(intern(ids, before), intern(ids, after), ids.size);
}
