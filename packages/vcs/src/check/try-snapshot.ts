import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { mergeFile, type FileState } from '../merge/index.ts';
import type { Repo, Snapshot } from '../repo/api.ts';
import { runCheck, type CheckEnd, type CheckOptions, type CheckRunner } from './run-check.ts';
import { writeSnapshot } from './write-snapshot.ts';

export interface TryPlace {
  /** Files instead of the snapshot's own. */
  readonly overrides?: ReadonlyMap<string, FileState | null> | undefined;
  /** Default: {@link runCheck}. */
  readonly runner?: CheckRunner | undefined;
  /** Where the directory is made. Default: the system's place for temporary files. */
  readonly directory?: string | undefined;
}

/** Runs a check in a new directory with a snapshot's files, which is removed again. Errors: those of `runCheck`. */
export async function trySnapshot(
  snapshot: Snapshot,
  options: CheckOptions,
  { overrides, runner = runCheck, directory = tmpdir() }: TryPlace = {},
): Promise<CheckEnd> {
  const dir = mkdtempSync(join(directory, 'mound-bisect-'));
  try {
    await writeSnapshot(snapshot, dir, overrides);
    return await runner(dir, options);
  } finally {
    await rm(dir, { recursive: true, force: true, maxRetries: 3 });
  }
}

const stateOf = (snapshot: Snapshot, path: string): FileState | null => {
  const head = snapshot.head(path);
  const content = snapshot.read(path);
  return head === undefined || content === undefined ? null : { content, mode: head.mode };
};

/**
 * The files in which a snapshot differs from itself without some commits, each taken back from what stands there;
 * undefined where that does not merge.
 */
export function withoutCommits(
  repo: Repo,
  snapshot: Snapshot,
  seqs: readonly number[],
): ReadonlyMap<string, FileState | null> | undefined {
  const files = new Map<string, FileState | null>();
  for (const seq of seqs.toSorted((a, b) => b - a)) {
    if (seq > snapshot.seq) continue;
    const after = repo.snapshot(seq, snapshot.branch);
    const before = repo.snapshot(seq - 1, snapshot.branch);
    for (const { path } of repo.commit(seq).changes) {
      const known = files.get(path);
      const current = known === undefined ? stateOf(snapshot, path) : known;
      const input = { path, base: stateOf(after, path), current, incoming: stateOf(before, path) };
      const merged = mergeFile(input);
      if (merged.kind === 'conflict') return undefined;
      files.set(path, merged.result);
    }
  }
  return files;
}
