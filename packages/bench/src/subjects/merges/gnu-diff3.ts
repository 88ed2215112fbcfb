import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

import type { MergeSubject, MergeVerdict } from './merge-subject.ts';
import { processMerges } from './process-merges.ts';

async function isAvailable(): Promise<true | { readonly missing: string }> {
  try {
    const { stdout } = await promisify(execFile)('diff3', ['--version']);
    if (stdout.includes('GNU')) return true;
  } catch {
    // Not there.
  }
  return { missing: 'diff3 of GNU diffutils' };
}

/**
 * `diff3 -m`, which also calls it a conflict when both sides made the same change.
 * 2 is trouble: `diff` took an input for binary.
 */
export const gnuDiff3Merges: MergeSubject = processMerges({
  name: 'gnu-diff3',
  script: 'diff3 -m $n.current $n.base $n.incoming >$n.out 2>/dev/null',
  available: isAvailable,
  verdictOf: (status): MergeVerdict['kind'] => (['clean', 'conflict'] as const)[status] ?? 'refused',
});
