import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { LogReader } from '../log/log-reader.ts';
import { faultOfDataFile } from '../store/data-file.ts';
import { checkPages } from '../store/page-check.ts';
import { Store } from '../store/store.ts';
import { storeDirName } from '../store/store-dir.ts';
import { Fsck } from '../views/fsck.ts';
import { repairIndexes } from '../views/repair-indexes.ts';
import type { FsckReport, RepairReport } from '../views/types.ts';

/**
 * Checks a repository that may be too damaged to be opened: the pages of its
 * data file are read before LMDB maps it, because a damaged tree can end the
 * process. Errors: those of `openRepo` where there is nothing to check.
 */
export async function fsckRepo(dir: string): Promise<FsckReport> {
  const faulty = pageFaults(resolve(dir));
  if (faulty !== undefined) return faulty;
  const store = await Store.open(resolve(dir), { isDoubted: true, readOnly: true });
  try {
    return new Fsck(new LogReader(store)).run();
  } finally {
    await store.close();
  }
}

/**
 * Rebuilds every derived table from the log and checks the repository again.
 * Errors: those of `openRepo`; `corrupt-store` where the log or the pages are
 * damaged: no index can be rebuilt from them.
 */
export async function repairRepo(dir: string): Promise<RepairReport> {
  const faulty = pageFaults(resolve(dir));
  if (faulty !== undefined) return { rows: 0, fsck: faulty };
  const store = await Store.open(resolve(dir), { isDoubted: true });
  try {
    const rows = repairIndexes(new LogReader(store));
    return { rows, fsck: new Fsck(new LogReader(store)).run() };
  } finally {
    await store.close();
  }
}

/** What is wrong with the pages of a file that nobody may open any more; undefined: nothing that forbids it. */
function pageFaults(dir: string): FsckReport | undefined {
  const dataPath = join(dir, storeDirName, 'store', 'data.mdb');
  // What is no store at all is told by opening it.
  if (!existsSync(dataPath) || faultOfDataFile(dataPath) !== undefined) return undefined;
  const { faults, isSettled } = checkPages(dataPath, false);
  // Pages that writers use anew meanwhile look damaged; they are checked again under a read transaction.
  if (faults.length === 0 || !isSettled) return undefined;
  const errors = faults.map(({ page, table, message }) => ({
    code: 'page-damaged',
    seq: 0,
    table,
    message: `page ${page} of ${table} is damaged: ${message}; restore a backup`,
  }));
  return { ok: false, entries: 0, objects: 0, errors, errorCount: errors.length };
}
