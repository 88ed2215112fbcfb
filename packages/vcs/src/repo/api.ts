import type { Cursor, RepoEvent } from '../core/event.ts';
import type { BlobId, CommitId, FileVersion, ParkedId, RepoPath, Seq } from '../core/ids.ts';
import type { Author, Change, HunkAccount, HunkFate, Intent, Precondition, RecordWrite } from '../core/intent.ts';
import type { Mode } from '../core/mode.ts';
import type { Outcome } from '../core/outcome.ts';
import type { GitLanding, KnownBlob } from '../core/git-landing.ts';
import type { CompactReport } from '../core/compact-report.ts';
import type { MergeDriver } from '../merge/index.ts';
import type { DecisionReport, Reference } from '../decisions/index.ts';
import type { WaitReport } from '../core/wait-report.ts';
import type { SignalPolicy } from '../rules/signals.ts';
import type { NamedRule } from '../rules/rule.ts';
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
  AsOfOptions,
  BreakageOptions,
  BreakageView,
  DecisionList,
  ExplainOptions,
  Explanation,
  ReferenceOptions,
} from './decision-api.ts';
import type { Workspace, WorkspaceOptions, WorkspaceView } from './workspace-api.ts';

export type { GitChange, GitLanding, KnownBlob } from '../core/git-landing.ts';

/** The head of one path as of a snapshot. */
export interface FileHead {
  readonly path: RepoPath;
  readonly version: FileVersion;
  readonly blob: BlobId;
  readonly mode: Mode;
  /** Bytes of the content. */
  readonly size: number;
}

export interface RecordHead {
  readonly key: string;
  /** The seq at which the record was last written. */
  readonly version: Seq;
  readonly value: Buffer;
  /** Staged objects that it names. */
  readonly objects: readonly BlobId[];
}

/**
 * Every file's head on a branch as of one seq. It is a number, not an open
 * transaction: it costs nothing to make, blocks nobody and never changes.
 */
export interface Snapshot {
  readonly branch: string;
  readonly seq: Seq;
  /** The newest seq known to be flushed when this snapshot was made. */
  readonly durableSeq: Seq;
  head(path: string): FileHead | undefined;
  /** Bytes, verified against the BlobId; undefined where the path is absent. */
  read(path: string): Buffer | undefined;
  readText(path: string): string | undefined;
  /** In byte order of the paths; `prefix` is a directory (`src`) or empty for all. */
  list(prefix?: string): FileHead[];
  /** The splits of the file under a path, oldest first: where its lines went. */
  redirects(path: string): RedirectView[];
  /**
   * Where a file is by now: the one that stood under the path at a seq (default: the last that stood there).
   * undefined: there never was one.
   */
  whereabouts(path: string, asOf?: number): Whereabouts | undefined;
  record(key: string): RecordHead | undefined;
  /** In byte order of the keys. */
  records(keyPrefix?: string): RecordHead[];
}

export interface PutOptions {
  readonly author: Author;
  /** Default: `absent`. */
  readonly expect?: Precondition;
  readonly message?: string;
  readonly mode?: Mode;
  readonly branch?: string;
  readonly onStale?: 'merge' | 'reject';
  readonly operationId?: string;
}

export interface ActOptions {
  readonly author: Author;
  readonly reason: string;
  readonly branch?: string;
}

/** How long a freeze holds, and whom it does not hold off. */
export interface FreezeBounds {
  /** Whose intents land all the same: an agent's id, else an author's name; default: nobody's. */
  readonly owner?: string;
  /**
   * Milliseconds after which it ends by itself and what it parked is decided again; default: `limits.ownedFreezeMs`
   * where it has an owner, who may die, else never.
   */
  readonly ms?: number;
}

export interface FreezeOptions extends ActOptions, FreezeBounds {}

export interface FlagOptions extends ActOptions {
  /** Freezes the path in the same transaction. */
  readonly freeze?: FreezeBounds;
}

export interface FreezeView {
  readonly path: RepoPath;
  readonly branch: string;
  readonly seq: Seq;
  readonly reason: string;
  readonly owner: string | undefined;
  /** Milliseconds since 1970 at which it ends by itself; undefined: it does not. */
  readonly until: number | undefined;
}

/** A parked intent that was decided again. */
export interface Unparked {
  readonly id: ParkedId;
  readonly outcome: Outcome;
}

/** A file that a split makes. */
export interface SplitModule {
  readonly path: string;
  /** Text. */
  readonly content: string | Uint8Array;
  /** Default: the mode of the file that is split. */
  readonly mode?: Mode;
  /** Default: `absent`. */
  readonly expect?: Precondition;
}

/** Lines of a split file that went to a module one for one, unchanged or rewritten. Lines count from 1. */
export interface RedirectRange {
  readonly start: number;
  readonly count: number;
  readonly path: string;
  readonly toStart: number;
}

export interface SplitOptions {
  readonly author: Author;
  readonly message?: string;
  readonly rationale?: string;
  readonly task?: string;
  readonly branch?: string;
  readonly operationId?: string;
  readonly modules: readonly SplitModule[];
  /** What stays under the old path; null: nothing. */
  readonly remains: string | Uint8Array | null;
  /** The file's version that the modules were made from (or the seq of a snapshot); default: the newest. */
  readonly expect?: number;
  /** Where lines went; default: found by comparing. A line that is in no range went nowhere. */
  readonly ranges?: readonly RedirectRange[];
}

/** Where the lines of a file went when it was split. */
export interface RedirectView {
  readonly path: RepoPath;
  /** Of the landing that split it; the file as it was stands at the seq before. */
  readonly seq: Seq;
  readonly author: Author;
  /** What the split made, the old path among them where something stayed there. */
  readonly modules: readonly RepoPath[];
  /** In the order of the old file. */
  readonly ranges: readonly (RedirectRange & { readonly path: RepoPath })[];
}

/** What became of a file, through any number of moves and splits. */
export type Whereabouts =
  | { readonly kind: 'here' | 'moved'; readonly path: RepoPath }
  /** `paths`: where its parts are now. */
  | { readonly kind: 'split'; readonly paths: readonly RepoPath[] }
  | { readonly kind: 'deleted' };

export interface Resolution {
  readonly author: Author;
  readonly message?: string;
  readonly rationale?: string;
  /** For each conflicted path: its content (null deletes). */
  readonly results: readonly {
    readonly path: string;
    readonly content: Uint8Array | string | null;
    readonly mode?: Mode;
    /** Where the content is to stand instead, where its own path does not fit the tree any more. */
    readonly at?: string;
  }[];
  readonly accounts?: readonly HunkAccount[];
  /** For each hunk that is not seen to be kept and that `accounts` does not name. */
  readonly otherwise?: HunkFate;
  /** `asOf` of the view that the resolver saw; default: that of the recorded conflict. */
  readonly asOf?: number;
  readonly operationId?: string;
  readonly records?: readonly RecordWrite[];
}

export interface BranchView {
  readonly name: string;
  readonly parent: string | undefined;
  /** Seq at which it was forked; 0 for `main`. */
  readonly forkSeq: number;
  /** Seq of its newest landing (or the fork point). */
  readonly seq: number;
  readonly commit: CommitId | undefined;
}

export interface TagView {
  readonly name: string;
  readonly seq: Seq;
}

/** Takes git commits in, in groups; for `@mound/vcs/git`. See `land/git-intake.ts`. */
export interface GitIntake {
  /** What was stored of a blob, so that it need not be read again; undefined where that is not known (any more). */
  known(id: string): KnownBlob | undefined;
  /** Whether what was added should land before more is. */
  readonly isFull: boolean;
  /** Parents before children. */
  add(landing: GitLanding): void;
  /**
   * Lands what was added, all or nothing, flushed. Errors: `branch-moved` where a branch does not stand at its base any
   * more or another import has brought one of the commits.
   */
  land(): Promise<void>;
}

/** Which git commit stands for which landing; filled by import and export. */
export interface GitMarks {
  seqOf(gitId: string): Seq | undefined;
  gitIdOf(seq: number): string | undefined;
  add(pairs: readonly { readonly seq: number; readonly gitId: string }[]): Promise<void>;
}

export interface Repo {
  /** Directory that holds `.mound/`. */
  readonly dir: string;
  readonly repoId: string;
  readonly formatVersion: number;

  land(intent: Intent): Promise<Outcome>;
  /** One file in one intent. */
  put(path: string, content: Uint8Array | string, options: PutOptions): Promise<Outcome>;
  /**
   * Makes a content durable under its id without landing it: a put may then name it by `blob`, a record keep it by
   * `objects`. What nothing names is removed by `gc` after its grace window. Errors: `invalid-argument` where it is too large.
   */
  stage(content: Uint8Array | string): Promise<BlobId>;
  /** Bytes of a staged object, verified. Errors: `no-such-object`, `object-damaged`. */
  readObject(blob: BlobId): Buffer;
  /**
   * Removes staged objects that no log entry names and that are older than the grace window, and deflates older
   * entries of the log together (`compact`); writers go on.
   */
  gc(options?: GcOptions): Promise<GcReport>;
  /** The outcome that an operation id has now; a parked or conflicted one may have landed since. */
  outcome(operationId: string): Outcome | undefined;

  /** Default: the newest seq. Errors: `no-such-seq`, `no-such-branch`. */
  snapshot(seq?: number, branch?: string): Snapshot;
  /** Newest first. */
  log(options?: LogOptions): Iterable<CommitView>;
  /** By commit id or by seq. Errors: `no-such-commit`. */
  commit(idOrSeq: string | number): CommitView;

  /** Who wrote each line, through moves. Errors: `no-such-path`, `no-such-seq`, `invalid-argument` where it is no text. */
  blame(path: string, options?: { readonly at?: number; readonly branch?: string }): BlameLine[];
  /** Paths that differ between two snapshots, in byte order. Errors: `no-such-seq`, `no-such-branch`. */
  diff(from: number, to: number, options?: { readonly branch?: string; readonly prefix?: string }): DiffEntry[];
  /**
   * Makes paths (files, or all below directories; none: the whole tree) what they were at a seq, as a new intent
   * based on what is there now. Errors: `no-such-seq`, `no-such-path` where a path was and is nothing.
   */
  restore(paths: readonly string[], options: RestoreOptions): Promise<Outcome>;
  /**
   * Takes back what a commit changed, as a new intent: what landed on its paths since is merged with, or becomes a
   * conflict. Records stay as they are. Errors: `no-such-commit`, also where the branch does not have it.
   */
  revert(commit: string | number, options: RevertOptions): Promise<Outcome>;

  /** Events after the cursor that exist now. */
  events(from?: Cursor): Iterable<RepoEvent>;
  /** The same, and then those to come, from any process, until the signal aborts. */
  follow(from?: Cursor, signal?: AbortSignal): AsyncIterable<RepoEvent>;

  /** The landing rules in force. They are records: `ruleRecord` makes what an intent writes to change one. */
  rules(): NamedRule[];

  /** What was decided, as of a seq. Errors: `no-such-seq`, `no-such-branch`. */
  decisions(options?: AsOfOptions): DecisionList;
  /** Who cites a decision, or what a file cites, in the order of the paths. Errors: those of `decisions`. */
  references(options?: ReferenceOptions): readonly Reference[];
  /** All references with what is wrong with them, design documents that cannot be read, and generated files that are old. */
  checkDecisions(options?: AsOfOptions): DecisionReport;

  /**
   * What brings the tree's generated symbol files in line with changes of design documents: to be landed in the same
   * intent, so that code that relies on what was superseded stops compiling from there on. Errors: those of `decisions`.
   */
  symbolChanges(changes: readonly Change[], options?: Pick<AsOfOptions, 'branch'>): Change[];

  /** What was broken on purpose, newest first. Errors: those of `decisions`. */
  breakages(options?: BreakageOptions): readonly BreakageView[];
  /**
   * Which breakages explain what a compiler, linter or interpreter printed: by the names that they changed, the lines
   * and the files. The likeliest first. Errors: those of `decisions`.
   */
  explain(output: string, options?: ExplainOptions): Explanation;

  /** What is noticed about files, and from where on; `signalsRecord` makes what an intent writes to tune it. */
  signals(): SignalPolicy;

  conflicts(): ConflictView[];
  /** As of the newest seq, or of an earlier one since the conflict was recorded. Errors: `no-such-conflict`, `no-such-seq`. */
  conflict(id: string, asOf?: number): ConflictView;
  resolve(id: string, resolution: Resolution): Promise<Outcome>;
  /**
   * Decides the kept intent of an open conflict again, as it was asked: it lands where its sides merge by now, else
   * the answer is `conflicted` as before and nothing changes. Errors: `no-such-conflict`.
   */
  remerge(id: string): Promise<Outcome>;

  /** Marks a path as a megafile candidate: an event, and a freeze where that is asked for. */
  flag(path: string, options: FlagOptions): Promise<Seq>;
  /** Parks intents on the path, but for its owner's, until it is thawed, split, or over. Errors: `invalid-argument`. */
  freeze(path: string, options: FreezeOptions): Promise<Seq>;
  freezes(): FreezeView[];
  /**
   * Ends freezes whose time is over and decides again what waits for none. It happens by itself when a repository is
   * opened, with each landing, and in a process that froze or parked something when the time is over.
   */
  unpark(): Promise<readonly Unparked[]>;
  /**
   * Splits a file into modules, as one intent that makes all of them and leaves what remains. From then on an edit that
   * is based on the file as it was goes, hunk by hunk, to where its lines went: of parked, stale and kept intents alike;
   * what belongs to no one place is a conflict. Changes of the file since `expect` go along, or it is rejected as
   * `stale`. A freeze of the path ends with it; what it parked is decided again. Another's freeze: rejected, `frozen`.
   * Errors: `invalid-argument` where the path is no text or nothing of it goes anywhere.
   */
  split(
    path: string,
    options: SplitOptions,
  ): Promise<{ readonly outcome: Outcome; readonly parked: readonly Unparked[] }>;
  /** The splits of the file under a path, oldest first. Errors: `no-such-branch`, `no-such-seq`. */
  redirects(path: string, options?: { readonly at?: number; readonly branch?: string }): RedirectView[];
  /** Parked intents are decided again in their order; their outcomes come back. */
  thaw(path: string, options: ActOptions): Promise<{ readonly seq: Seq; readonly parked: readonly Unparked[] }>;

  /** Opens a workspace by its name, or makes it. Errors: `no-such-workspace`, `workspace-exists`, `no-such-seq`, `no-such-branch`, `invalid-argument`. */
  workspace(name: string, options?: WorkspaceOptions): Promise<Workspace>;
  readonly workspaces: {
    /** In byte order of the names. */
    list(): WorkspaceView[];
    /** One without files. Errors: `no-such-workspace`, `workspace-has-files`, `workspace-has-work` unless `discard` is its name. */
    remove(name: string, options?: { readonly discard?: string }): Promise<void>;
  };

  fork(
    name: string,
    options?: { readonly from?: string; readonly at?: number; readonly author?: Author },
  ): Promise<BranchView>;
  /**
   * Lands what a branch changed since its fork on the branch that it came from, as one intent with two parents;
   * once, a second time is rejected (`record-stale`). Errors: `no-such-branch`, `invalid-argument` for `main`.
   */
  merge(branch: string, options: MergeOptions): Promise<Outcome>;
  branches(): BranchView[];
  branch(name: string): BranchView;
  tag(name: string, seq: number, author?: Author): Promise<TagView>;
  tags(): TagView[];

  /**
   * For `@mound/vcs/git`. `together`: how many commits are to land in one transaction, if that has room for them
   * (1,024 commits, 16 MiB of stored bytes).
   */
  gitIntake(together?: number): GitIntake;
  readonly gitMarks: GitMarks;

  /** Deflates older entries of the log together, while writers run; can be killed at any point. */
  compact(options?: CompactOptions): Promise<CompactReport>;
  /**
   * A consistent copy in `dir`, made while writers run: a repository that can be used at once, with every
   * acknowledgement given before the call. It keeps the repoId.
   * Errors: `already-a-repository`, `disk-full`, `permission-denied`, `invalid-argument`.
   */
  backup(dir: string): Promise<BackupView>;
  /**
   * Removes objects from the whole history, and their remains from the file: those named, and those that contain the
   * bytes of `containing`. An entry of the log tells who did it, when and why; reading one gives `purged` from then
   * on. Messages and records that hold the bytes are reported, not changed; copies that workspaces link
   * (`.mound/files`) are not looked at, as files of workspaces are not. Errors: `invalid-argument`.
   */
  purge(options: PurgeOptions): Promise<PurgeReport>;
  /** Verifies every page, object, chain and index as of now, while writers run; takes time in proportion to the store. */
  fsck(): FsckReport;
  stats(): Stats;
  waits(): WaitReport;
  /** Waits for what is in flight, then closes. */
  close(): Promise<void>;
}

export interface DiffEntry {
  readonly path: RepoPath;
  /** undefined: absent there. */
  readonly before: FileHead | undefined;
  readonly after: FileHead | undefined;
}

export interface RevertOptions {
  readonly author: Author;
  readonly message?: string;
  readonly rationale?: string;
  readonly branch?: string;
  readonly operationId?: string;
  readonly onStale?: 'merge' | 'reject';
}

export interface RestoreOptions extends RevertOptions {
  readonly at: number;
}

export interface PurgeOptions {
  readonly author: Author;
  readonly reason: string;
  readonly blobs?: readonly BlobId[];
  readonly containing?: Uint8Array;
  /** Only say what would go. */
  readonly dryRun?: boolean;
}

export interface GcOptions {
  /** Only say what would be removed. */
  readonly dryRun?: boolean;
  /** Milliseconds for which an object stays after it was staged last; default `limits.objectGraceMs`. */
  readonly graceMs?: number;
}

export interface MergeOptions {
  readonly author: Author;
  readonly message?: string;
  readonly rationale?: string;
  readonly operationId?: string;
}

export interface CompactOptions {
  /** Newest entries that stay as they are; default 16,384. */
  readonly keep?: number;
  /** Ends it early; what was moved stays moved. */
  readonly signal?: AbortSignal;
}

export interface OpenOptions {
  /** Make the repository if there is none. */
  readonly create?: boolean;
  /** Open what can only be read, too; writing answers `permission-denied`. */
  readonly readOnly?: boolean;
  /** Merge drivers beside Mound's own, by id for `merge=ID` in `.gitattributes`; every process has to register the same. */
  readonly drivers?: readonly MergeDriver[];
  /** Bytes of contents that are kept in memory; default 640 MiB, and never more than an eighth of the machine's memory. */
  readonly contentsBytesMax?: number;
}
