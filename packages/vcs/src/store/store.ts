import { open, type RootDatabase } from 'lmdb';
import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  futimesSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import { MoundError } from '../core/errors.ts';
import type { Random } from '../core/ports.ts';
import { encodeBranch } from '../format/branch.ts';
import { pack, unpack } from '../format/codec.ts';
import { idKey } from '../format/keys.ts';
import { formatVersion } from '../format/version.ts';
import { decodeCounters, encodeCounters, firstCounters, type Counters } from './counters.ts';
import { faultOfDataFile } from './data-file.ts';
import { openTables, tableCount, type TableName, type Tables } from './tables.ts';

const metaFormat = Buffer.from('format');
const metaCounters = Buffer.from('counters');

/** The directory in a repository that is Mound's own. */
export const storeDirName = '.mound';

export interface Identity {
  readonly repoId: string;
  readonly formatVersion: number;
}

/**
 * The LMDB environment of one repository. Invariants:
 * - Everything that one intent writes is written in one transaction.
 * - `transact` is the only way to write; it returns after the flush.
 * - Reads outside `transact` see one committed state until `refresh`.
 */
export class Store {
  readonly dir: string;
  readonly tables: Tables;
  readonly identity: Identity;
  private readonly root: RootDatabase<Buffer, Buffer>;
  private readonly wakePath: string;
  private wakeHandle: number | undefined;
  /** Newest seq that this process has written: it must never be gone. */
  private knownSeq = 0;
  /** Last entry that the running transaction put into the log. */
  private newestEntry: { readonly key: Buffer; readonly value: Buffer } | undefined;
  private open = true;

  private constructor(dir: string, root: RootDatabase<Buffer, Buffer>, tables: Tables, identity: Identity) {
    this.dir = dir;
    this.root = root;
    this.tables = tables;
    this.identity = identity;
    this.wakePath = join(dir, storeDirName, 'wake');
  }

  /**
   * Makes a store beside its place and renames it there, so that there is never
   * half of one, whoever dies or comes at the same time.
   * Errors: `already-a-repository`, `permission-denied`, `disk-full`.
   */
  static async create(dir: string, random: Random): Promise<Store> {
    const home = join(dir, storeDirName);
    const already = (): MoundError =>
      new MoundError('already-a-repository', `${dir} is a Mound repository already`, { dir });
    if (existsSync(home)) throw already();
    const parent = existsSync(dir) ? undefined : mkdirAsked(dir);
    const draft = join(dir, `${storeDirName}-${Buffer.from(random.bytes(8)).toString('hex')}`);
    try {
      mkdirSync(join(draft, 'store'), { recursive: true });
      writeFileSync(join(draft, 'wake'), '');
      const { root, tables } = openEnvironment(draft);
      root.transactionSync(() => {
        const repoId = Buffer.from(random.bytes(16)).toString('hex');
        tables.meta.putSync(metaFormat, pack(['mound', formatVersion, repoId]));
        tables.meta.putSync(metaCounters, encodeCounters(firstCounters));
        tables.branches.putSync(idKey(0), encodeBranch({ name: 'main', parentId: -1, forkSeq: 0, commitSeq: 0 }));
        tables.branchNames.putSync(Buffer.from('main'), idKey(0));
      });
      await root.close();
      renameSync(draft, home);
    } catch (cause) {
      rmSync(draft, { recursive: true, force: true });
      const { code } = cause as NodeJS.ErrnoException;
      if (code === 'ENOTEMPTY' || code === 'EEXIST') throw already();
      if (parent !== undefined) removeIfEmpty(dir, parent);
      throw asFault(cause, dir);
    }
    return Store.open(dir);
  }

  /** Errors: `no-repository`, `corrupt-store`, `format-newer`, `format-unknown`, `permission-denied`. */
  static async open(dir: string): Promise<Store> {
    const home = join(dir, storeDirName);
    const dataPath = join(home, 'store', 'data.mdb');
    try {
      statSync(dataPath);
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code === 'EACCES') throw asFault(cause, dir);
      throw new MoundError('no-repository', `${dir} is no Mound repository; 'mound init' makes one`, { dir });
    }
    try {
      accessSync(dataPath, constants.R_OK | constants.W_OK);
      const fault = faultOfDataFile(dataPath);
      if (fault !== undefined) throw corrupt(dataPath, fault);
      const { root, tables } = openEnvironment(home);
      return new Store(dir, root, tables, readIdentity(home, tables));
    } catch (cause) {
      throw asFault(cause, dir);
    }
  }

  get counters(): Counters {
    const bytes = this.tables.meta.getBinary(metaCounters);
    if (bytes === undefined) throw corrupt(this.dir, 'its counters are missing');
    return decodeCounters(bytes);
  }

  /**
   * Runs `write` under the writer mutex; all or nothing; flushed when it
   * returns. What it wrote is read back before anyone is told: LMDB's binding
   * may lose a transaction without a word (seen once in thousands of kills of
   * other processes), and an acknowledgement must not depend on that.
   */
  transact<T>(write: (counters: Counters) => T): T {
    this.mustBeOpen();
    let result: { value: T; counters: Counters } | undefined;
    this.newestEntry = undefined;
    try {
      this.root.transactionSync(() => {
        const counters = this.counters;
        if (counters.lastSeq < this.knownSeq) {
          throw corrupt(this.dir, `seq ${this.knownSeq} was there and is gone; the newest is ${counters.lastSeq}`);
        }
        result = { value: write(counters), counters };
        this.put('meta', metaCounters, encodeCounters(counters));
      });
      this.root.resetReadTxn();
    } catch (cause) {
      throw asFault(cause, this.dir);
    }
    if (result === undefined) throw corrupt(this.dir, 'a transaction did not run');
    const { counters, value } = result;
    this.mustHaveWritten(counters.lastSeq);
    this.knownSeq = counters.lastSeq;
    return value;
  }

  private mustHaveWritten(lastSeq: number): void {
    if (this.newestEntry === undefined) return;
    const { key, value } = this.newestEntry;
    if (this.tables.log.getBinary(key)?.equals(value) === true) return;
    throw corrupt(this.dir, `the transaction up to seq ${lastSeq} was lost before it was told`);
  }

  /** Inside `transact`: a write that did not take fails the transaction whole. */
  put(table: TableName, key: Buffer, value: Buffer): void {
    // Typed as nothing, it says whether the write was taken.
    const isTaken = this.tables[table].putSync(key, value) as unknown;
    if (isTaken !== true) throw corrupt(this.dir, `a write to ${table} was not taken`);
    if (table === 'log') this.newestEntry = { key, value };
  }

  /** Lets later reads see what other processes have committed. */
  refresh(): void {
    this.mustBeOpen();
    this.root.resetReadTxn();
  }

  /** Tells followers in other processes to look; only ever a hint. */
  wake(): void {
    try {
      this.wakeHandle ??= openSync(this.wakePath, 'a');
      const now = new Date();
      futimesSync(this.wakeHandle, now, now);
    } catch {
      // A follower polls as well: a failed hint delays it, nothing more.
    }
  }

  get wakeFile(): string {
    return this.wakePath;
  }

  /** Bytes of the store's files on disk. */
  bytesOnDisk(): number {
    const home = join(this.dir, storeDirName, 'store');
    return readdirSync(home)
      .filter((name) => name.endsWith('.mdb') && name !== 'lock.mdb')
      .reduce((sum, name) => sum + statSync(join(home, name)).blocks * 512, 0);
  }

  get isOpen(): boolean {
    return this.open;
  }

  mustBeOpen(): void {
    if (!this.open) throw new MoundError('repo-closed', 'the repository was closed; open it again', { dir: this.dir });
  }

  async close(): Promise<void> {
    if (!this.open) return;
    this.open = false;
    if (this.wakeHandle !== undefined) closeSync(this.wakeHandle);
    await this.root.close();
  }
}

function openEnvironment(home: string): { root: RootDatabase<Buffer, Buffer>; tables: Tables } {
  const root = open<Buffer, Buffer>({
    path: join(home, 'store'),
    noSubdir: false,
    encoding: 'binary',
    maxDbs: tableCount + 8,
    maxReaders: 1024,
    // One plain fdatasync a transaction, so that returning means flushed.
    overlappingSync: false,
  });
  return { root, tables: openTables(root) };
}

function readIdentity(home: string, tables: Tables): Identity {
  const bytes = tables.meta.getBinary(metaFormat);
  if (bytes === undefined) throw corrupt(home, 'it has no format record');
  const [name, version, repoId] = unpack(bytes) as [unknown, unknown, unknown];
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
  return { repoId, formatVersion: version };
}

export function corrupt(where: string, what: string): MoundError {
  return new MoundError('corrupt-store', `${where} is damaged: ${what}; restore a backup`, { dir: where });
}

function asFault(cause: unknown, dir: string): unknown {
  if (cause instanceof MoundError || !(cause instanceof Error)) return cause;
  const code = (cause as NodeJS.ErrnoException).code;
  const text = cause.message;
  if (
    code === 'EACCES' ||
    code === 'EPERM' ||
    code === 'EROFS' ||
    code === 'ENOTDIR' ||
    /permission denied|read-only file system/i.test(text)
  ) {
    return new MoundError('permission-denied', `${dir} cannot be written to; check its owner and mode`, { dir }, cause);
  }
  if (code === 'ENOSPC' || code === 'EDQUOT' || /no space left/i.test(text)) {
    return new MoundError('disk-full', `no space left on the disk of ${dir}; free some and try again`, { dir }, cause);
  }
  if (/MDB_(CORRUPTED|INVALID|PAGE_NOTFOUND|PANIC|VERSION_MISMATCH)|not an LMDB file/i.test(text)) {
    return new MoundError('corrupt-store', `${dir} is damaged (${text}); restore a backup`, { dir }, cause);
  }
  return cause;
}

/** Makes a directory and those above it; gives the topmost that it made. */
function mkdirAsked(dir: string): string | undefined {
  try {
    return mkdirSync(dir, { recursive: true });
  } catch (cause) {
    throw asFault(cause, dir);
  }
}

/** Takes back the directories from `dir` up to `top`, those only that nobody has put anything into. */
function removeIfEmpty(dir: string, top: string): void {
  try {
    for (let at = resolve(dir); ; at = join(at, '..')) {
      rmdirSync(at);
      if (at === resolve(top)) return;
    }
  } catch {
    // Another process has begun to use it: it stays.
  }
}

export const isRepoDir = (dir: string): boolean => existsSync(join(dir, storeDirName, 'store'));

/** The nearest directory at or above `start` that is a repository. */
export function findRepoDir(start: string): string | undefined {
  let dir = resolve(start);
  for (;;) {
    if (isRepoDir(dir)) return dir;
    const parent = join(dir, '..');
    if (parent === dir) return undefined;
    dir = parent;
  }
}
