import { open, type RootDatabase } from 'lmdb';
import { join } from 'node:path';
import { MoundError } from '../core/errors.ts';
import { pack, unpack } from '../format/codec.ts';
import { seqOfKey } from '../format/keys.ts';
import { checksum } from '../format/seal.ts';
import { formatVersion } from '../format/version.ts';
import { decodeCounters, type Counters } from './counters.ts';
import { corrupt } from './faults.ts';
import type { LockFile } from './lock-file.ts';
import { MetaPages } from './meta-pages.ts';
import { openTables, tableCount, type Tables } from './tables.ts';

export const metaFormat = Buffer.from('format');
export const metaCounters = Buffer.from('counters');

/** LMDB's environment of one store, and its tables. */
export interface Environment {
  readonly root: RootDatabase<Buffer, Buffer>;
  readonly tables: Tables;
  readonly isReadOnly: boolean;
  readonly lockFile: LockFile;
  readonly metaPages: MetaPages;
}

export interface Identity {
  readonly repoId: string;
  readonly formatVersion: number;
}

/** Opens the environment in `home`. To write, it locks the writer mutex for a moment. */
export function openEnvironment(home: string, lockFile: LockFile, isReadOnly = false): Environment {
  const root = open<Buffer, Buffer>({
    path: join(home, 'store'),
    noSubdir: false,
    encoding: 'binary',
    maxDbs: tableCount + 8,
    maxReaders: 1024,
    // One plain fdatasync a transaction, so that returning means flushed.
    overlappingSync: false,
    readOnly: isReadOnly,
  });
  lockFile.adopt();
  const metaPages = new MetaPages(join(home, 'store', 'data.mdb'));
  // One transaction for all: each opening of a table would be one of its own.
  const all = { root, isReadOnly, lockFile, metaPages };
  const tables = isReadOnly ? openTables(root) : inTransaction(all, () => openTables(root));
  return { ...all, tables };
}

/**
 * Runs `write` in a transaction on the newest state there is; all or nothing;
 * flushed when it returns.
 *
 * LMDB finds the newest transaction by a number in `lock.mdb`. Each process
 * that opens the environment writes there what it had read from the meta pages
 * a little earlier, without the mutex: a transaction that was committed in
 * between is hidden, and the next writer would overwrite it. So the number is
 * compared with the meta pages under the mutex, and set right before anything
 * is written.
 */
export function inTransaction<T>(environment: Omit<Environment, 'tables'>, write: () => T): T {
  const { root, lockFile, metaPages } = environment;
  for (let tries = 0; tries < 3; tries++) {
    let result: { readonly value: T } | undefined;
    let hidden: number | undefined;
    try {
      root.transactionSync(() => {
        const found = (root as unknown as { getWriteTxnId(): number }).getWriteTxnId() - 1;
        const newest = metaPages.newestTxnId();
        if (found !== newest) {
          hidden = newest;
          if (found >= 0 && found < newest && lockFile.setTxnId(newest)) throw new Error('look again');
          throw corrupt('the store', `LMDB began transaction ${found + 1} after ${newest}`);
        }
        result = { value: write() };
      });
    } catch (cause) {
      if (hidden === undefined || cause instanceof MoundError) throw cause;
      continue;
    }
    if (result === undefined) throw corrupt('the store', 'a transaction did not run');
    return result.value;
  }
  throw corrupt('the store', 'its newest transaction stays hidden');
}

/** Closes it; nothing reads or writes any more. */
export async function closeEnvironment({ root, lockFile, metaPages }: Environment): Promise<void> {
  lockFile.forget();
  metaPages.close();
  await root.close();
}

export function readIdentity(home: string, tables: Tables): Identity {
  const bytes = tables.meta.getBinary(metaFormat);
  if (bytes === undefined) throw corrupt(home, 'it has no format record');
  const [name, version, repoId, check] = fieldsOf(home, bytes);
  if (name !== 'mound' || typeof version !== 'number' || typeof repoId !== 'string') {
    throw new MoundError('format-unknown', `${home} holds another kind of store`, { dir: home });
  }
  if (version > formatVersion) {
    throw new MoundError(
      'format-newer',
      `${home} has format ${version}, newer than this Mound's ${formatVersion}; update @mound/vcs`,
      { dir: home, found: version, supported: formatVersion },
    );
  }
  if (check !== checkOf([name, version, repoId])) throw corrupt(home, 'its format record does not match its checksum');
  return { repoId, formatVersion: version };
}

/** The format record; its last field finds damage in the others. */
export function encodeIdentity(repoId: string): Buffer {
  const fields = ['mound', formatVersion, repoId];
  return pack([...fields, checkOf(fields)]);
}

const checkOf = (fields: readonly (string | number)[]): number => checksum(pack(fields));

function fieldsOf(home: string, bytes: Buffer): readonly unknown[] {
  try {
    const fields = unpack(bytes);
    if (Array.isArray(fields)) return fields;
  } catch {
    // What cannot be decoded is no format record either.
  }
  throw corrupt(home, 'its format record cannot be decoded');
}

/** The counters of a store. Errors: `corrupt-store`. */
export function readCounters(where: string, tables: Tables): Counters {
  const bytes = tables.meta.getBinary(metaCounters);
  if (bytes === undefined) throw corrupt(where, 'its counters are missing');
  try {
    const counters = decodeCounters(bytes);
    if (Object.values(counters).every((count) => Number.isSafeInteger(count) && count >= 0)) return counters;
  } catch {
    // Told below.
  }
  throw corrupt(where, 'its counters cannot be decoded');
}

/** Whoever appended behind a wrong count would write over what is there. Errors: `corrupt-store`. */
export function mustEndAtLastSeq(where: string, tables: Tables): void {
  const { lastSeq, compactedSeq } = readCounters(where, tables);
  const [newest] = tables.log.getKeys({ reverse: true, limit: 1 });
  const found = newest === undefined ? compactedSeq : seqOfKey(newest);
  if (found !== lastSeq) throw corrupt(where, `its log ends at ${found}, its counters say ${lastSeq}`);
}
