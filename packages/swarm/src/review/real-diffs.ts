import type { Repo } from '@mound/vcs';
import { changedLines } from '../core/changed-lines.ts';
import type { RealDiff } from './corpus.ts';

/** A change of fewer lines says little, one of more is read by nobody in one go. */
const linesMin = 3;
const linesMax = 300;
const charsMax = 60_000;

/**
 * Changes of files that stand in a repository's history, the newest first, one of each commit: its largest that can be
 * read in one go.
 */
export function realDiffs(repo: Repo, count: number): RealDiff[] {
  const found: RealDiff[] = [];
  for (const { seq, changes, message } of repo.log()) {
    if (found.length >= count) break;
    const snapshot = repo.snapshot(seq);
    const readable = changes.flatMap(({ path, previous }) => {
      const [before, after] = [previous === 0 ? '' : repo.snapshot(previous).readText(path), snapshot.readText(path)];
      if (before === undefined || after === undefined || before.length + after.length > charsMax) return [];
      const lines = changedLines(before, after);
      return lines < linesMin || lines > linesMax ? [] : [{ lines, diff: { path, before, after, message } }];
    });
    const [largest] = readable.toSorted((left, right) => right.lines - left.lines);
    if (largest !== undefined) found.push(largest.diff);
  }
  return found;
}
