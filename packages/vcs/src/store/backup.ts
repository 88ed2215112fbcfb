import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { MoundError } from '../core/errors.ts';
import type { Random } from '../core/ports.ts';
import { faultOfDataFile } from './data-file.ts';
import { closeEnvironment, openEnvironment, readCounters, readIdentity } from './environment.ts';
import { asFault, corrupt } from './faults.ts';
import { LockFile } from './lock-file.ts';
import { mustBeLocal } from './opening.ts';
import { systemPlace } from './place.ts';
import { storeDirName } from './store-dir.ts';
import type { Store } from './store.ts';

export interface BackupCopy {
  /** Newest seq that the copy holds. */
  readonly seq: number;
  /** Bytes of the copy's data file. */
  readonly bytes: number;
}

/**
 * Copies the store as of one committed state into `dir`, while others write.
 * The copy is made beside its place, flushed, opened once to see that it is
 * whole, and renamed there: there is never half of one. It keeps the repoId: it
 * is the same repository at an earlier time.
 * Errors: `already-a-repository`, `disk-full`, `permission-denied`, `invalid-argument`.
 */
export async function backupStore(store: Store, dir: string, random: Random): Promise<BackupCopy> {
  store.refresh();
  const seqBefore = store.counters.lastSeq;
  const home = join(dir, storeDirName);
  const already = (): MoundError =>
    new MoundError('already-a-repository', `${dir} holds a repository already; name another directory`, { dir });
  if (existsSync(home)) throw already();
  const draft = join(dir, `${storeDirName}-${Buffer.from(random.bytes(8)).toString('hex')}`);
  try {
    mkdirSync(join(draft, 'store'), { recursive: true });
    mustBeLocal(dir, systemPlace);
    writeFileSync(join(draft, 'wake'), '');
    const dataPath = join(draft, 'store', 'data.mdb');
    await store.copyTo(join(draft, 'store'));
    flush(dataPath);
    const fault = faultOfDataFile(dataPath);
    if (fault !== undefined) throw corrupt(dataPath, fault);
    const seq = await lastSeqOfHome(draft);
    if (seq < seqBefore) throw corrupt(dataPath, `the copy ends at seq ${seq}, before ${seqBefore}`);
    // The lock file is of this process's making; whoever opens the copy makes its own.
    rmSync(join(draft, 'store', 'lock.mdb'), { force: true });
    const { size } = statSync(dataPath);
    flush(dataPath);
    flush(join(draft, 'store'));
    flush(draft);
    renameSync(draft, home);
    flush(dir);
    return { seq, bytes: size };
  } catch (cause) {
    removeDraft(draft);
    const { code } = cause as NodeJS.ErrnoException;
    if (code === 'ENOTEMPTY' || (code === 'EEXIST' && existsSync(home))) throw already();
    if (code === 'ENOTDIR' || code === 'EEXIST') {
      throw new MoundError('invalid-argument', `${dir} is no directory; name one to back up into`, { dir }, cause);
    }
    throw asFault(cause, dir);
  }
}

/** Newest seq of the store in a home that is in the making, opened only to see that it can be. */
async function lastSeqOfHome(home: string): Promise<number> {
  const environment = openEnvironment(home, new LockFile(join(home, 'store', 'lock.mdb')));
  try {
    readIdentity(home, environment.tables);
    return readCounters(home, environment.tables).lastSeq;
  } finally {
    await closeEnvironment(environment);
  }
}

/** Makes a file's bytes, or a directory's names, survive power loss. */
function flush(path: string): void {
  const handle = openSync(path, 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

function removeDraft(draft: string): void {
  try {
    rmSync(draft, { recursive: true, force: true });
  } catch {
    // It was never made, or is left where it disturbs nobody; what went wrong before is what is told.
  }
}
