import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';

import { diskBytesOf } from '../../harness/temp-dir.ts';
import { fastImportCommit } from '../../subjects/git/commit-text.ts';
import { initGitRepo } from '../../subjects/git/git-repo.ts';
import { seededGitRepo } from '../../subjects/git/seeded-repo.ts';
import type { CommitOperation, InitialFiles } from '../../workloads/operation.ts';

/** Bytes on disk that the commits add to a git repository. */
export interface GitForms {
  /** As one pack, deltas against the files that were there before included. */
  readonly packedBytes: number;
  /** As objects of their own, by allocated blocks: what a commit writes. */
  readonly looseBytes: number;
}

/** Brings the commits into git through fast-import and measures what they add, in both forms. */
export async function measureGitForms(
  files: InitialFiles,
  operations: readonly CommitOperation[],
  dir: string,
  signal: AbortSignal,
): Promise<GitForms> {
  const [packedDir, looseDir] = [join(dir, 'packed.git'), join(dir, 'loose.git')];
  await mkdir(packedDir, { recursive: true });
  await mkdir(looseDir);
  const packed = await seededGitRepo(files, packedDir, { bare: true, signal });
  const loose = await initGitRepo(looseDir, true, signal);
  try {
    const seed = await packed.text(['rev-parse', 'main']);
    const importing = packed.start([
      '-c',
      'fastimport.unpackLimit=1',
      '-c',
      'core.fsync=none',
      'fast-import',
      '--quiet',
    ]);
    for (const [at, operation] of operations.entries()) {
      await importing.write(fastImportCommit(operation, at === 0 ? 'refs/heads/main^0' : undefined));
    }
    await importing.finish();
    const asked = { input: `main\n^${seed}\n` };
    const pack = ['-c', 'pack.threads=1', 'pack-objects', '--revs', '--stdout', '-q'];
    const thin = await packed.run([...pack, '--thin'], asked);
    const before = await diskBytesOf(loose.gitDir);
    await loose.run(['-c', 'core.fsync=none', 'unpack-objects', '-q'], { input: await packed.run(pack, asked) });
    return { packedBytes: thin.length, looseBytes: (await diskBytesOf(loose.gitDir)) - before };
  } finally {
    await packed.close();
    await loose.close();
  }
}
