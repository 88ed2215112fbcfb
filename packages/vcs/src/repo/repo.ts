import type { CompactReport } from '../core/compact-report.ts';
import type { WaitReport } from '../core/wait-report.ts';
import { resolve } from 'node:path';
import type { Cursor, RepoEvent } from '../core/event.ts';
import { startCursor } from '../core/event.ts';
import { MoundError } from '../core/errors.ts';
import { type BlobId, type Seq } from '../core/ids.ts';
import { absent, type Author, type Change, type Intent } from '../core/intent.ts';
import { limits } from '../core/limits.ts';
import type { Outcome } from '../core/outcome.ts';
import type { Clock, Random } from '../core/ports.ts';
import { Feed } from '../events/feed.ts';
import { seqKey } from '../format/keys.ts';
import { symbolOf, type DecisionReport, type Reference } from '../decisions/index.ts';
import { admit } from '../intent/admit.ts';
import type { AdmittedIntent } from '../intent/edit.ts';
import { isRejected, reject } from '../intent/reject.ts';
import { collect } from '../land/collect.ts';
import { getUnchanged } from '../land/first-outcome.ts';
import { Compaction } from '../land/compact.ts';
import { DriverChoice } from '../land/driver-choice.ts';
import { LogIntake } from '../land/git-intake.ts';
import { HashPool } from '../land/hash-pool.ts';
import { Lander } from '../land/lander.ts';
import { outcomeOfEntry } from '../land/outcomes.ts';
import { noExtras, type LandingExtras } from '../land/prepared.ts';
import { Purge } from '../land/purge.ts';
import { readRules, readSignals } from '../land/rule-store.ts';
import { scrub } from '../land/scrub.ts';
import { stage, withStaged } from '../land/stage.ts';
import { getObject } from '../log/staged.ts';
import { LogReader } from '../log/log-reader.ts';
import type { SignalPolicy } from '../rules/signals.ts';
import type { NamedRule } from '../rules/rule.ts';
import { Drivers, installedGrammars, MergePool } from '../merge/index.ts';
import type { OpeningOptions } from '../store/opening.ts';
import { backupStore } from '../store/backup.ts';
import { forgetCached } from '../store/cached-files.ts';
import { Store } from '../store/store.ts';
import { blame } from '../views/blame.ts';
import { Conflicts } from '../views/conflicts.ts';
import { Fsck } from '../views/fsck.ts';
import { History } from '../views/history.ts';
import type {
  BackupView,
  BlameLine,
  CommitView,
  ConflictView,
  FsckReport,
  GcReport,
  LogOptions,
  PurgeReport,
  Stats,
} from '../views/types.ts';
import type {
  OpenOptions,
  ActOptions,
  BranchView,
  CompactOptions,
  DiffEntry,
  FlagOptions,
  FreezeOptions,
  FreezeView,
  GcOptions,
  GitIntake,
  GitMarks,
  MergeOptions,
  PurgeOptions,
  PutOptions,
  Repo,
  RedirectView,
  Resolution,
  RestoreOptions,
  RevertOptions,
  Snapshot,
  SplitOptions,
  TagView,
  Unparked,
} from './api.ts';
import type {
  AsOfOptions,
  BreakageOptions,
  BreakageView,
  DecisionList,
  ExplainOptions,
  Explanation,
  ReferenceOptions,
} from './decision-api.ts';
import { StoreGitMarks } from './git-marks.ts';
import { Branches } from './branches.ts';
import { Breakages, sourceLinesOf } from './breakages.ts';
import { DecisionViews } from './decisions.ts';
import { Freezes } from './freezes.ts';
import { Splits } from './split.ts';
import { mergeBranch } from './merge-branch.ts';
import { diffSnapshots, restoreIntent } from './restore.ts';
import { revertIntent } from './revert.ts';
import { Remerges } from './remerges.ts';
import { resolveConflict } from './resolve.ts';
import { checkSeq, LogSnapshot } from './snapshot.ts';
import type { Workspace, WorkspaceOptions } from './workspace-api.ts';
import { Workspaces } from './workspaces.ts';

const nothingCompacted: CompactReport = { entries: 0, segments: 0, bytesBefore: 0, bytesAfter: 0 };

/** An intent may stand in for a conflict's. */
const extrasOf = ({ replaces }: AdmittedIntent): LandingExtras =>
  replaces === 0 ? noExtras : { ...noExtras, resolves: replaces, ending: 'replacement' };

/** `drivers`: merge drivers beside Mound's own. */
type EmbeddedOptions = OpeningOptions & Pick<OpenOptions, 'drivers' | 'contentsBytesMax'>;

/** The embedded repository: every room behind one door. */
export class EmbeddedRepo implements Repo {
  readonly dir: string;
  readonly repoId: string;
  readonly gitMarks: GitMarks;
  readonly workspaces: Workspaces;
  private readonly store: Store;
  private readonly reader: LogReader;
  private readonly mergePool = new MergePool();
  private readonly hashPool = new HashPool();
  private readonly lander: Lander;
  private readonly feed: Feed;
  private readonly history: History;
  private readonly openConflicts: Conflicts;
  private readonly remerges: Remerges;
  private readonly marks: Freezes;
  private readonly splits: Splits;
  private readonly named: Branches;

  private constructor(store: Store, clock: Clock, random: Random, drivers: Drivers, contentsBytesMax?: number) {
    this.store = store;
    this.dir = store.dir;
    this.repoId = store.identity.repoId;
    this.reader = new LogReader(store, contentsBytesMax);
    const choice = new DriverChoice(this.reader, drivers);
    this.lander = new Lander(this.reader, clock, this.mergePool, this.hashPool, choice);
    this.feed = new Feed(this.reader);
    this.lander.onAdvance = this.feed.advanced;
    this.history = new History(this.reader, this.lander.commits);
    this.openConflicts = new Conflicts(this.reader, choice);
    this.remerges = new Remerges(this.reader, this.lander, this.openConflicts);
    this.lander.onMetSides = (seqs) => void this.remerges.closeMet(seqs).catch(() => undefined);
    this.marks = new Freezes(this.reader, this.lander, clock);
    this.splits = new Splits(this.reader, this.lander, this.marks);
    this.lander.onParked = this.marks.watch;
    this.lander.onThawed = () => void this.marks.unparkAll().catch(() => undefined);
    this.named = new Branches(this.reader, this.lander, clock);
    this.gitMarks = new StoreGitMarks(store, this.lander);
    this.clock = clock;
    this.random = random;
    const land = (intent: Intent): Promise<Outcome> => this.land(intent);
    const { reader, lander, mergePool } = this;
    this.workspaces = new Workspaces({ reader, lander, mergePool, clock, random, land });
  }

  private readonly clock: Clock;
  private readonly random: Random;

  /** Errors: `invalid-argument` for a driver that cannot be registered. */
  static async create(dir: string, clock: Clock, random: Random, options: EmbeddedOptions = {}): Promise<EmbeddedRepo> {
    // First, so that nothing is made or opened where they cannot be registered.
    const drivers = new Drivers(options.drivers);
    return new EmbeddedRepo(await Store.create(dir, random, options), clock, random, drivers, options.contentsBytesMax);
  }

  static async open(dir: string, clock: Clock, random: Random, options: EmbeddedOptions = {}): Promise<EmbeddedRepo> {
    const drivers = new Drivers(options.drivers);
    const repo = new EmbeddedRepo(await Store.open(dir, options), clock, random, drivers, options.contentsBytesMax);
    try {
      repo.store.steps.reach('store-opened');
      await repo.marks.unparkThawed();
      await repo.remerges.closeAllMet();
      return repo;
    } catch (error) {
      // Who is refused has nothing to close.
      await repo.close();
      throw error;
    }
  }

  get formatVersion(): number {
    return this.store.identity.formatVersion;
  }

  land(intent: Intent): Promise<Outcome> {
    try {
      if (intent.changes?.some((change) => change.kind === 'put' && change.content === undefined) === true) {
        return this.landStaged(intent);
      }
      const admitted = admit(intent);
      return isRejected(admitted) ? Promise.resolve(admitted) : this.lander.land(admitted, extrasOf(admitted));
    } catch (error) {
      // oxlint-disable-next-line typescript/prefer-promise-reject-errors -- whatever was thrown
      return Promise.reject(error);
    }
  }

  blame(path: string, { at, branch = 'main' }: { at?: number; branch?: string } = {}): BlameLine[] {
    const { seq } = this.snapshot(at, branch);
    return blame(this.reader, this.reader.branchNamed(branch).id, path, seq);
  }

  diff(from: number, to: number, options: { branch?: string; prefix?: string } = {}): DiffEntry[] {
    return diffSnapshots(this.snapshot(from, options.branch), this.snapshot(to, options.branch), options.prefix);
  }

  async restore(paths: readonly string[], options: RestoreOptions): Promise<Outcome> {
    const form = restoreIntent(
      this.snapshot(options.at, options.branch),
      this.snapshot(undefined, options.branch),
      paths,
      options,
    );
    return 'seq' in form ? form : this.land(form);
  }

  async revert(commit: string | number, options: RevertOptions): Promise<Outcome> {
    const view = this.commit(commit);
    return this.land(revertIntent(this.reader, view, options));
  }

  /** An intent that names staged objects; one that landed before is known even where they are gone by now. */
  private async landStaged(intent: Intent): Promise<Outcome> {
    this.store.refresh();
    const { intent: whole, missing } = withStaged(this.reader, intent);
    const admitted = admit(whole);
    if (isRejected(admitted)) return admitted;
    if (missing.length === 0) return this.lander.land(admitted, extrasOf(admitted));
    for (const edit of admitted.edits) {
      const named = intent.changes?.find((change) => change.kind === 'put' && change.path === edit.path);
      if (edit.kind === 'put' && named !== undefined && 'blob' in named) edit.blob = named.blob;
    }
    const message = `object ${missing.join(', ')} is not staged`;
    return this.lander.refuse(admitted, reject('no-such-object', message, 'stage it again, then land'));
  }

  async stage(content: Uint8Array | string): Promise<BlobId> {
    const bytes = Buffer.from(content as string);
    if (bytes.length > limits.blobSizeBytesMax) {
      const message = `an object of ${bytes.length} bytes is over the limit blobSizeBytesMax of ${limits.blobSizeBytesMax}`;
      throw new MoundError('invalid-argument', message, { size: bytes.length });
    }
    return stage(this.reader, this.lander, bytes, this.clock.now());
  }

  readObject(blob: BlobId): Buffer {
    this.store.mustBeOpen();
    this.store.refresh();
    const content = getObject(this.store, blob);
    if (content !== undefined) return content;
    throw new MoundError('no-such-object', `object ${blob} is not staged`, { blob });
  }

  async gc(options: GcOptions = {}): Promise<GcReport> {
    const { dryRun = false, graceMs = limits.objectGraceMs } = options;
    const isTime = Number.isFinite(graceMs) && graceMs >= 0;
    if (!isTime) throw new MoundError('invalid-argument', `a grace window of ${graceMs} ms cannot be`, { graceMs });
    const youngFrom = this.clock.now() - graceMs;
    const collected = await collect(this.reader, this.lander, { isDryRun: dryRun, youngFrom });
    const readersFreed = dryRun ? 0 : this.store.freeDeadReaders();
    const log = dryRun ? nothingCompacted : await this.compact();
    return { dryRun, ...collected, readersFreed, log };
  }

  async purge({ author, reason, blobs = [], containing, dryRun = false }: PurgeOptions): Promise<PurgeReport> {
    this.store.mustBeOpen();
    const needle = containing && Buffer.from(containing);
    const isNothing = blobs.length === 0 && (needle === undefined || needle.length < limits.purgeBytesMin);
    if (isNothing || (needle !== undefined && needle.length < limits.purgeBytesMin)) {
      const message = `name blobs, or at least ${limits.purgeBytesMin} bytes that they contain`;
      throw new MoundError('invalid-argument', message);
    }
    const asked = { author, reason, time: this.clock.now(), isDryRun: dryRun, blobs: new Set(blobs), needle };
    const { seqs, ...found } = await new Purge(this.reader, this.lander, asked).run();
    if (!dryRun) this.forgetPurged();
    const pagesLeft = dryRun ? 0 : await scrub(this.reader, this.lander);
    this.reader.refresh();
    const gitCommits = seqs.flatMap((seq) => this.gitMarks.gitIdOf(seq) ?? []);
    const mentions = [...found.mentions, ...this.workspaces.mentionsOf(new Set(found.blobs))];
    return { dryRun, ...found, mentions, seqs: seqs as Seq[], gitCommits, pagesLeft };
  }

  /** Whatever was ever purged, so that one who was killed before this is made up for by the next. */
  private forgetPurged(): void {
    const { purges } = this.store.tables;
    forgetCached(this.dir, (blob) => purges.getBinary(Buffer.from(blob, 'hex')) !== undefined);
  }

  async put(path: string, content: Uint8Array | string, options: PutOptions): Promise<Outcome> {
    const { author, expect = absent, message = `Put ${path}`, mode, ...rest } = options;
    const change = { kind: 'put', path, content, expect, ...(mode !== undefined && { mode }) } as const;
    return this.land({ author, message, changes: [change], ...rest });
  }

  outcome(operationId: string): Outcome | undefined {
    this.reader.refresh();
    this.lander.operations.catchUp(this.store.counters);
    let seq = this.lander.operations.seqOf(operationId);
    if (seq === undefined) return getUnchanged(this.reader, operationId)?.outcome;
    for (;;) {
      const entry = this.reader.mustGetEntry(seq);
      const table =
        entry.kind === 'conflict'
          ? this.store.tables.conflicts
          : entry.kind === 'parked'
            ? this.store.tables.parked
            : undefined;
      const closedBy: number = table?.getBinary(seqKey(seq))?.readUIntBE(0, 6) ?? 0;
      if (closedBy === 0) return outcomeOfEntry(this.reader, entry);
      seq = closedBy;
    }
  }

  snapshot(seq?: number, branch = 'main'): Snapshot {
    this.reader.refresh();
    const { lastSeq } = this.store.counters;
    if (seq !== undefined) checkSeq(seq, lastSeq);
    return new LogSnapshot(this.reader, this.reader.branchNamed(branch), seq ?? lastSeq, lastSeq);
  }

  *log(options: LogOptions = {}): Iterable<CommitView> {
    this.reader.refresh();
    yield* this.history.log(options);
  }

  commit(idOrSeq: string | number): CommitView {
    this.reader.refresh();
    return this.history.commit(idOrSeq);
  }

  events(from: Cursor = startCursor): Iterable<RepoEvent> {
    return this.feed.events(from);
  }

  follow(from: Cursor = startCursor, signal?: AbortSignal): AsyncIterable<RepoEvent> {
    return this.feed.follow(from, signal);
  }

  rules(): NamedRule[] {
    this.reader.refresh();
    return readRules(this.reader);
  }

  decisions({ at, branch }: AsOfOptions = {}): DecisionList {
    const { decisions, faults } = new DecisionViews(this.reader, this.snapshot(at, branch)).set();
    return { decisions, faults };
  }

  references({ at, branch, decision, path }: ReferenceOptions = {}): readonly Reference[] {
    const views = new DecisionViews(this.reader, this.snapshot(at, branch));
    return views.references(decision === undefined ? undefined : symbolOf(decision), path);
  }

  checkDecisions({ at, branch }: AsOfOptions = {}): DecisionReport {
    return new DecisionViews(this.reader, this.snapshot(at, branch)).report();
  }

  symbolChanges(changes: readonly Change[], { branch }: Pick<AsOfOptions, 'branch'> = {}): Change[] {
    return new DecisionViews(this.reader, this.snapshot(undefined, branch)).symbolChanges(changes);
  }

  breakages({ at, branch = 'main', limit }: BreakageOptions = {}): readonly BreakageView[] {
    const { seq } = this.snapshot(at, branch);
    return new Breakages(this.reader, this.reader.branchNamed(branch), seq).list(limit);
  }

  explain(output: string, { at, branch = 'main', sourceLine }: ExplainOptions = {}): Explanation {
    const snapshot = this.snapshot(at, branch);
    const breakages = new Breakages(this.reader, this.reader.branchNamed(branch), snapshot.seq);
    return breakages.explain(output, sourceLine ?? sourceLinesOf(snapshot));
  }

  signals(): SignalPolicy {
    this.reader.refresh();
    return readSignals(this.reader);
  }

  conflicts(): ConflictView[] {
    this.reader.refresh();
    return this.openConflicts.listOpen();
  }

  conflict(id: string, asOf?: number): ConflictView {
    this.reader.refresh();
    const open = this.openConflicts.get(id);
    if (asOf !== undefined && !this.openConflicts.isSeen(open, asOf)) {
      throw new MoundError('no-such-seq', `${id} cannot be shown as of ${asOf}`, { id, asOf });
    }
    return this.openConflicts.view(open, asOf);
  }

  async resolve(id: string, resolution: Resolution): Promise<Outcome> {
    this.reader.refresh();
    return resolveConflict(this.lander, this.openConflicts, id, resolution);
  }

  async remerge(id: string): Promise<Outcome> {
    return this.remerges.remerge(id);
  }

  async flag(path: string, options: FlagOptions): Promise<Seq> {
    return this.marks.flag(path, options);
  }

  async freeze(path: string, options: FreezeOptions): Promise<Seq> {
    return this.marks.freeze(path, options);
  }

  freezes(): FreezeView[] {
    return this.marks.list();
  }

  unpark(): Promise<readonly Unparked[]> {
    return this.marks.retry();
  }

  split(path: string, options: SplitOptions): ReturnType<Repo['split']> {
    return this.splits.split(path, options);
  }

  redirects(path: string, { at, branch }: { at?: number; branch?: string } = {}): RedirectView[] {
    return this.snapshot(at, branch).redirects(path);
  }

  async thaw(path: string, options: ActOptions): ReturnType<Repo['thaw']> {
    const thawed = await this.marks.thaw(path, options);
    await this.remerges.closeAllMet();
    return thawed;
  }

  fork(name: string, options: Parameters<Repo['fork']>[1] = {}): Promise<BranchView> {
    return this.named.fork(name, options);
  }

  workspace(name: string, options?: WorkspaceOptions): Promise<Workspace> {
    return this.workspaces.open(name, options);
  }

  branches(): BranchView[] {
    return this.named.list();
  }

  branch(name: string): BranchView {
    return this.named.get(name);
  }

  tag(name: string, seq: number, author?: Author): Promise<TagView> {
    return this.named.tag(name, seq, author);
  }

  tags(): TagView[] {
    return this.named.tags();
  }

  async merge(branch: string, options: MergeOptions): Promise<Outcome> {
    return mergeBranch(this.reader, this.lander, branch, options);
  }

  gitIntake(together?: number): GitIntake {
    this.store.mustBeOpen();
    this.reader.refresh();
    return new LogIntake(this.reader, this.lander, together);
  }

  async compact({ keep, signal }: CompactOptions = {}): Promise<CompactReport> {
    this.store.mustBeOpen();
    return new Compaction(this.reader, this.lander).run(keep, signal);
  }

  async backup(dir: string): Promise<BackupView> {
    const target = resolve(dir);
    const { seq, bytes } = await backupStore(this.store, target, this.random);
    return { dir: target, seq: seq as Seq, bytes };
  }

  fsck(): FsckReport {
    return new Fsck(new LogReader(this.store)).run();
  }

  stats(): Stats {
    this.reader.refresh();
    const { counters } = this.store;
    const { lastSeq, commits, objects, nextPathId, nextBranchId, conflictsOpen, parkedOpen } = counters;
    const { hunksKept: kept, hunksTransformed: transformed, hunksDiscarded: discarded } = counters;
    return {
      grammars: installedGrammars(),
      seq: lastSeq as Seq,
      commits,
      objects,
      paths: nextPathId - 1,
      branches: nextBranchId,
      conflictsOpen,
      parkedOpen,
      hunks: { kept, transformed, discarded },
      bytes: this.store.bytesOnDisk(),
      bytesByKind: this.store.bytesByKind(),
    };
  }

  waits(): WaitReport {
    return this.lander.waits.report();
  }

  async close(): Promise<void> {
    this.marks.close();
    await this.lander.drained();
    this.store.steps.reach('drained');
    await Promise.all([this.mergePool.close(), this.hashPool.close()]);
    await this.store.close();
    this.store.steps.reach('closed');
  }
}
