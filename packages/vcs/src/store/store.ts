import { closeSync, futimesSync, openSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { MoundError } from '../core/errors.ts';
import type { Random } from '../core/ports.ts';
import { noSteps, type Steps } from '../core/steps.ts';
import { formatVersion } from '../format/version.ts';
import { encodeCounters, type Counters } from './counters.ts';
import { createStore } from './creation.ts';
import {
  closeEnvironment,
  encodeIdentity,
  inTransaction,
  metaCounters,
  metaFormat,
  mustEndAtLastSeq,
  openEnvironment,
  readCounters,
  readIdentity,
  type Environment,
  type Identity,
} from './environment.ts';
import { asFault, corrupt } from './faults.ts';
import { dataPathOf, openStore, type Company, type Opened, type OpeningOptions } from './opening.ts';
import { checkPages, type PageReport } from './page-check.ts';
import { oldestReaderIn, zeroFreePages } from './page-zeroing.ts';
import { storeDirName } from './store-dir.ts';
import type { TableName, Tables } from './tables.ts';

/** What LMDB says of one tree. */
interface TreeStats {
  readonly pageSize: number;
  readonly treeBranchPageCount: number;
  readonly treeLeafPageCount: number;
  readonly overflowPages: number;
}

const logTables: ReadonlySet<string> = new Set<TableName>(['log', 'segments', 'parts']);

/** Readers that died are looked for so often: what they read is kept from being used again. */
const readersCheckMs = 10_000;

/**
 * The LMDB environment of one repository. Invariants:
 * - Everything that one intent writes is written in one transaction.
 * - `transact` is the only way to write; it returns after the flush.
 * - Whoever calls `transact` has the turn: see {@link Store.takeTurn}.
 * - Reads outside `transact` see one committed state until `refresh`.
 */
export class Store {
  readonly dir: string;
  private known: Identity;
  readonly steps: Steps;
  private readonly company: Company;
  private environment: Environment;
  private readonly isForReading: boolean;
  private readersCheckedMs = performance.now();
  private readonly wakePath: string;
  private wakeHandle: number | undefined;
  /** Newest seq that this process has written: it must never be gone. */
  private knownSeq = 0;
  /** Last entry that the running transaction put into the log. */
  private newestEntry: { readonly key: Buffer; readonly value: Buffer } | undefined;
  private open = true;
  private seen: { readonly bytes: Buffer; readonly counters: Readonly<Counters> } | undefined;

  private constructor(dir: string, { environment, company }: Opened, options: OpeningOptions) {
    const home = join(dir, storeDirName);
    this.dir = dir;
    this.environment = environment;
    this.company = company;
    this.isForReading = options.readOnly === true;
    this.steps = options.steps ?? noSteps;
    this.known = readIdentity(home, environment.tables);
    this.wakePath = join(home, 'wake');
  }

  /** Errors: `already-a-repository`, `permission-denied`, `disk-full` and those of {@link Store.open}. */
  static async create(dir: string, random: Random, options: OpeningOptions = {}): Promise<Store> {
    await createStore(dir, random, options.steps ?? noSteps);
    return Store.open(dir, options);
  }

  /**
   * While a stopped process holds the writer mutex the store opens for reading,
   * and for writing when it is first written to after that.
   * Errors: `no-repository`, `corrupt-store`, `format-newer`, `format-unknown`, `permission-denied`,
   * `other-namespace`, `shared-file-system`, `too-many-readers`, `disk-full`.
   */
  static async open(dir: string, options: OpeningOptions = {}): Promise<Store> {
    const opened = await openStore(dir, options);
    try {
      const store = new Store(dir, opened, options);
      if (options.isDoubted !== true) mustEndAtLastSeq(dir, store.tables);
      return store;
    } catch (cause) {
      await closeEnvironment(opened.environment);
      opened.company.presence.leave();
      throw asFault(cause, dir);
    }
  }

  get identity(): Identity {
    return this.known;
  }

  get tables(): Tables {
    return this.environment.tables;
  }

  /** Opened for reading: so asked, or while a stopped process held the writer mutex. */
  get isReadOnly(): boolean {
    return this.environment.isReadOnly;
  }

  /** Never older than what this process has seen before. */
  get counters(): Readonly<Counters> {
    const counters = this.seenCounters();
    if (counters.lastSeq >= this.knownSeq) {
      this.knownSeq = counters.lastSeq;
      return counters;
    }
    if (!this.isReadOnly) this.uncover();
    return this.seenCounters();
  }

  /** Decoded only where they differ from those before: they are asked for with every snapshot. */
  private seenCounters(): Readonly<Counters> {
    const bytes = this.tables.meta.getBinary(metaCounters);
    const { seen } = this;
    if (bytes !== undefined && seen?.bytes.equals(bytes) === true) return seen.counters;
    const counters = this.readCounters();
    this.seen = bytes && { bytes: Buffer.from(bytes), counters };
    return counters;
  }

  /** What a process that opens the store just now has hidden, a transaction brings to light; see `inTransaction`. */
  private uncover(): void {
    const look = (): void => {
      if (this.open) this.transact(() => undefined);
      void this.endTurn();
    };
    const turn = this.takeTurn();
    if (turn === undefined) look();
    else void turn.then(look).catch(() => undefined);
  }

  private readCounters(): Counters {
    return readCounters(this.dir, this.tables);
  }

  /**
   * To be called before `transact`. Undefined: go on at once; a promise: go on
   * when it resolves. `endTurn` ends it. Where another holds the mutex and does
   * not go on it rejects within `limits.writerWaitMsMax`, and nothing is or
   * will be written by this call. Errors: `writer-stalled`.
   */
  takeTurn(): Promise<void> | undefined {
    if (this.isForReading) return Promise.reject(this.writeRefused());
    return this.isReadOnly ? this.reopen() : this.company.turn.take();
  }

  private writeRefused(): MoundError {
    return new MoundError('permission-denied', `${this.dir} was opened for reading; open it again to write to it`, {
      dir: this.dir,
    });
  }

  /** The promise, where there is one, resolves when others that wait have been given their turn. */
  endTurn(): Promise<void> | undefined {
    return this.company.turn.release();
  }

  /** Opens for writing what was opened for reading. */
  private async reopen(): Promise<void> {
    const { turn, lockFile } = this.company;
    await turn.take();
    if (!this.isReadOnly) return;
    this.mustBeOpen();
    // Nothing reads in between: closing a reading environment waits for nothing.
    const closed = closeEnvironment(this.environment);
    this.environment = openEnvironment(join(this.dir, storeDirName), lockFile);
    await closed;
  }

  /**
   * Runs `write` under the writer mutex; all or nothing; flushed when it
   * returns. What it wrote is read back before anyone is told: LMDB's binding
   * passes over errors in silence, and an acknowledgement must not depend on that.
   * `counted` stands in for counters that are damaged.
   */
  transact<T>(write: (counters: Counters) => T, counted?: Counters): T {
    this.mustBeOpen();
    this.newestEntry = undefined;
    const { environment } = this;
    const { identity } = this;
    const isOlder = identity.formatVersion < formatVersion;
    this.checkReaders();
    try {
      const { value, lastSeq } = inTransaction(environment, () => {
        const counters = counted ?? this.readCounters();
        if (counted === undefined && counters.lastSeq < this.knownSeq) {
          throw corrupt(this.dir, `seq ${this.knownSeq} was there and is gone; the newest is ${counters.lastSeq}`);
        }
        const written = write(counters);
        // An older Mound must not take for its own what is written from now on.
        if (isOlder) this.put('meta', metaFormat, encodeIdentity(identity.repoId));
        this.put('meta', metaCounters, encodeCounters(counters));
        return { value: written, lastSeq: counters.lastSeq };
      });
      environment.root.resetReadTxn();
      this.mustHaveWritten(lastSeq);
      this.knownSeq = lastSeq;
      if (isOlder) this.known = { ...identity, formatVersion };
      return value;
    } catch (cause) {
      throw asFault(cause, this.dir, dataPathOf(this.dir));
    }
  }

  private checkReaders(): void {
    const now = performance.now();
    if (now - this.readersCheckedMs < readersCheckMs) return;
    this.readersCheckedMs = now;
    this.environment.root.readerCheck();
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

  /** Inside `transact`. */
  remove(table: TableName, key: Buffer): void {
    const isTaken = this.tables[table].removeSync(key) as unknown;
    if (isTaken !== true) throw corrupt(this.dir, `a row of ${table} could not be removed`);
  }

  /** Lets later reads see what other processes have committed. */
  refresh(): void {
    this.mustBeOpen();
    this.environment.root.resetReadTxn();
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

  /** Bytes of the pages of each kind of table, and of what is free or LMDB's own; counted, not scanned for. */
  bytesByKind(): Readonly<Record<'log' | 'staged' | 'indexes' | 'free', number>> {
    const kinds = { log: 0, staged: 0, indexes: 0, free: 0 };
    for (const [name, table] of Object.entries(this.tables)) {
      const stats = table.getStats() as TreeStats;
      const pages = stats.treeBranchPageCount + stats.treeLeafPageCount + stats.overflowPages;
      const kind = logTables.has(name) ? 'log' : name === 'objects' ? 'staged' : 'indexes';
      kinds[kind] += pages * stats.pageSize;
    }
    const used = kinds.log + kinds.staged + kinds.indexes;
    return { ...kinds, free: Math.max(0, statSync(dataPathOf(this.dir)).size - used) };
  }

  /** Copies the data file as of one committed state into a directory; writers go on. The compacting form is unsound. */
  async copyTo(storeDir: string): Promise<void> {
    this.mustBeOpen();
    await this.environment.root.backup(storeDir, false);
  }

  /** Checks LMDB's pages as of one committed state; writers go on. */
  checkPages(): PageReport {
    this.mustBeOpen();
    const { root } = this.environment;
    root.resetReadTxn();
    const pin = root.useReadTransaction();
    try {
      return checkPages(dataPathOf(this.dir), true);
    } finally {
      pin.done();
    }
  }

  /**
   * Inside `transact`: overwrites free pages with zeros, those only that LMDB might use anew, so that no reader's
   * state and no state to fall back to needs them; `pagesMax` at a time. Gives how many it overwrote and how many
   * are left for now.
   */
  zeroFreePages(pagesMax: number): { readonly done: number; readonly left: number } {
    const oldest = oldestReaderIn(this.environment.root.readerList());
    return zeroFreePages(dataPathOf(this.dir), oldest, pagesMax);
  }

  /** Frees what readers hold whose processes are gone; gives their number. */
  freeDeadReaders(): number {
    this.mustBeOpen();
    return this.environment.root.readerCheck();
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
    const { presence, turn } = this.company;
    void turn.release();
    await closeEnvironment(this.environment);
    presence.leave();
  }
}
