import type { CompactReport } from '../core/compact-report.ts';
import type { BlobId, CommitId, ConflictId, ParkedId, RepoPath, Seq } from '../core/ids.ts';
import type { SideAuthor } from '../core/event.ts';
import type { Author, HunkAccount } from '../core/intent.ts';
import type { Mode } from '../core/mode.ts';
import type { DriverNote } from '../core/outcome.ts';
import type { ConflictKind } from '../merge/index.ts';

/** One landed commit as a reader sees it. */
export interface CommitView {
  readonly seq: Seq;
  readonly commit: CommitId | undefined;
  readonly parents: readonly CommitId[];
  readonly branch: string;
  readonly author: Author;
  readonly coAuthors: readonly Author[];
  /** Milliseconds since 1970. */
  readonly time: number;
  readonly message: string;
  readonly rationale?: string;
  readonly task?: string;
  readonly breakage?: string;
  readonly operationId?: string;
  readonly changes: readonly CommitChange[];
  /** Raw git commit object (without header) where the landing was imported. */
  readonly gitRaw?: Buffer;
}

export interface CommitChange {
  readonly path: RepoPath;
  /** undefined where the path was deleted. */
  readonly blob: BlobId | undefined;
  readonly mode: Mode | undefined;
  /** FileVersion that this change replaced; 0 where there was none. */
  readonly previous: number;
  readonly movedFrom?: RepoPath;
}

/** Who wrote one line of a file. */
export interface BlameLine {
  /** From 1. */
  readonly line: number;
  /** With its line ending. */
  readonly text: string;
  /** Landing that brought it. */
  readonly seq: Seq;
  readonly commit: CommitId | undefined;
  /** Path at which it was written: another one where the file was moved since. */
  readonly path: RepoPath;
  readonly author: Author;
  readonly time: number;
  readonly task?: string;
}

export interface LogOptions {
  readonly branch?: string;
  readonly path?: string;
  readonly author?: string;
  readonly task?: string;
  /** Newest seq to show, default the newest of all. */
  readonly from?: number;
  readonly limit?: number;
}

/** One side of a conflicted path; undefined content means absent there. */
export interface ConflictSide {
  readonly version: number;
  readonly blob: BlobId | undefined;
  readonly mode: Mode | undefined;
  readonly content: Buffer | undefined;
  /** How its lines end; undefined where it has no line that ends, or is no text. */
  readonly lineEnd: 'lf' | 'crlf' | 'mixed' | undefined;
  /** Whether its last line ends; undefined where it is empty, absent or no text. */
  readonly isLastLineEnded: boolean | undefined;
}

/** Lines of one side that belong to a hunk: `start` from 1, the line before which an empty range stands. */
export interface HunkLines {
  readonly start: number;
  readonly count: number;
  readonly text: Uint8Array;
}

/** One stretch over which the sides disagree; a conflict about a whole path has one that holds everything. */
export interface Hunk {
  /** From 0; what a `HunkAccount` names. */
  readonly index: number;
  readonly base: HunkLines;
  readonly current: HunkLines;
  readonly incoming: HunkLines;
}

export interface ConflictPath extends DriverNote {
  readonly path: RepoPath;
  readonly kind: ConflictKind;
  /** More closely, e.g. `content`, `binary`, `modify/delete`, `delete/modify`. */
  readonly reason: string;
  /** Lines of the base (from 0) at which the driver found fault with what merges clean by line. */
  readonly refused: { readonly start: number; readonly count: number } | undefined;
  /** What a resolver had better do with a path of this kind, e.g. write a lock file anew. */
  readonly hint?: string;
  readonly base: ConflictSide;
  /** As of the view's `asOf`: it moves on while the conflict is open. */
  readonly current: ConflictSide;
  readonly incoming: ConflictSide;
  /** Whose landings made `current` of `base`, newest first. */
  readonly currentBy: readonly SideAuthor[];
  /** Empty where the sides merge by now. */
  readonly hunks: readonly Hunk[];
}

/** What a kept intent asks of one path, whether or not it conflicts there. */
export interface AskedEdit {
  readonly kind: 'put' | 'delete' | 'chmod';
  readonly path: RepoPath;
  /** undefined: that of the version that it was based on. */
  readonly mode: Mode | undefined;
  /** Of a put; undefined: that of the moved path. Made when it is asked for. */
  readonly content: Buffer | undefined;
  /** Of the put that a move brings. */
  readonly movedFrom?: RepoPath;
  /** Of the delete that a move leaves. */
  readonly movedTo?: RepoPath;
}

export interface ConflictView {
  readonly id: ConflictId;
  /** `replaced`: another intent of its author stands in its place, see `replacedBy`. */
  readonly state: 'open' | 'resolved' | 'replaced';
  /** Seq as of which `current` is shown: a resolution names it as what it has seen. */
  readonly asOf: Seq;
  readonly branch: string;
  readonly author: Author;
  readonly message: string;
  /** Of the kept intent. */
  readonly rationale?: string;
  readonly task?: string;
  readonly operationId?: string;
  readonly time: number;
  /** The whole of what the kept intent asks of the files. */
  readonly asked: readonly AskedEdit[];
  /** What does not merge as of `asOf`; found out when it is asked for. */
  readonly paths: readonly ConflictPath[];
  /** Whether the kept intent would land by now without a resolution: `remerge` does that. Of an open conflict. */
  readonly isMergeable: boolean;
  /** seq of the landing (or of the entry that says that nothing was left to land) that ended it. */
  readonly resolvedAt?: Seq;
  readonly ending?: 'resolution' | 'remerge' | 'replacement';
  readonly replacedBy?: ConflictId | ParkedId;
  /** What the resolution made of each hunk. */
  readonly accounts?: readonly HunkAccount[];
}

export interface GcReport {
  readonly dryRun: boolean;
  /** Staged objects removed, or that would be. */
  readonly objects: number;
  /** Bytes that they took up. */
  readonly bytes: number;
  /** Staged objects that stay, by reason: within the grace window, named by a record, kept by a conflict or a parked intent, named by a workspace, unreadable. */
  readonly kept: Readonly<Record<'young' | 'record' | 'conflict' | 'parked' | 'workspace' | 'damaged', number>>;
  /** Places of readers in dead processes that held old pages. */
  readonly readersFreed: number;
  /** Older log entries that were deflated together; none in a dry run. */
  readonly log: CompactReport;
}

export interface PurgeReport {
  readonly dryRun: boolean;
  /** Objects whose bytes are gone, or would be. */
  readonly blobs: readonly BlobId[];
  /** Those of them that were staged. */
  readonly staged: readonly BlobId[];
  /** Landings, conflicts and parked intents that held them. */
  readonly seqs: readonly Seq[];
  /** Commits in git, as imported or exported, that hold them: they have to be rewritten there. */
  readonly gitCommits: readonly string[];
  /** Free pages of the file that could not be overwritten, because readers hold the state before; purge again to end it. */
  readonly pagesLeft: number;
  /** Messages and records that contain the bytes: they stay. Edits in workspaces that held them: they read as purged, files on disk stay (seq 0). */
  readonly mentions: readonly { readonly seq: number; readonly where: string }[];
}

export interface BackupView {
  /** Directory that holds the copy's `.mound/`. */
  readonly dir: string;
  /** Newest seq that the copy holds. */
  readonly seq: Seq;
  readonly bytes: number;
}

/** One finding of `fsck`. */
export interface FsckFinding {
  /** `object-damaged`, `corrupt-store`, `index-wrong`, `chain-broken`, `parent-missing`, `page-damaged`. */
  readonly code: string;
  readonly message: string;
  /** Log entry that it is about; 0: none. */
  readonly seq: number;
  readonly path?: string;
  /** The object that cannot be read. */
  readonly blob?: BlobId;
  /** Table whose rows or pages are wrong. */
  readonly table?: string;
  /** Commits with a version whose bytes run through what is damaged: the first of them, and how many there are. */
  readonly neededBy?: { readonly count: number; readonly commits: readonly CommitId[] };
}

export interface FsckReport {
  readonly ok: boolean;
  readonly entries: number;
  readonly objects: number;
  /** Bounded; `errorCount` is how many there are. */
  readonly errors: readonly FsckFinding[];
  readonly errorCount: number;
}

/** What `repair` did: rows of derived tables written or removed, and what `fsck` finds afterwards. */
export interface RepairReport {
  readonly rows: number;
  readonly fsck: FsckReport;
}

export interface Stats {
  /** Grammars that are installed for merges by structure; empty: source files are merged by line alone. */
  readonly grammars: readonly string[];
  readonly seq: Seq;
  readonly commits: number;
  readonly objects: number;
  readonly paths: number;
  readonly branches: number;
  readonly conflictsOpen: number;
  readonly parkedOpen: number;
  /** Hunks that resolutions accounted for, by what became of them. */
  readonly hunks: { readonly kept: number; readonly transformed: number; readonly discarded: number };
  /** Bytes of the store's files on disk. */
  readonly bytes: number;
  /** Bytes of the data file's pages: entries with their bodies, staged objects, indexes and names, free pages. */
  readonly bytesByKind: Readonly<Record<'log' | 'staged' | 'indexes' | 'free', number>>;
}
