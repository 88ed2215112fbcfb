import { gitIsAvailable } from '../git/git-repo.ts';
import type { MergeSubject, MergeVerdict } from './merge-subject.ts';
import { processMerges } from './process-merges.ts';

/** The number of conflicts, cut off at 127; more is an error: an input that is not text. */
function verdictOf(status: number): MergeVerdict['kind'] {
  if (status === 0) return 'clean';
  return status < 128 ? 'conflict' : 'refused';
}

const gitMergeFile = (name: string, flags: string): MergeSubject =>
  processMerges({
    name,
    script: `git merge-file -p -q ${flags} $n.current $n.base $n.incoming >$n.out 2>/dev/null`,
    available: gitIsAvailable,
    verdictOf,
  });

export const gitMergeFileMerges: MergeSubject = gitMergeFile('git-merge-file', '');
export const gitMergeFileDiff3Merges: MergeSubject = gitMergeFile('git-merge-file-diff3', '--diff3');
