import type { AuthorKind, HunkAccount } from './intent.ts';
import type { BlobId, CommitId, ConflictId, FileVersion, ParkedId, RepoPath, Seq } from './ids.ts';
import type { MergedPath } from './outcome.ts';

/** A reader's place in the feed: the last event it has seen. `{seq: 0, index: 0}` is the start. */
export interface Cursor {
  readonly seq: number;
  readonly index: number;
}

export const startCursor: Cursor = { seq: 0, index: 0 };

export const formatCursor = (cursor: Cursor): string => `${cursor.seq}:${cursor.index}`;

/** Reads `SEQ` or `SEQ:INDEX`; undefined where it is neither. A bare seq means all of that seq is seen. */
export function parseCursor(text: string): Cursor | undefined {
  const match = /^(\d{1,15})(?::(\d{1,9}))?$/.exec(text);
  if (!match) return undefined;
  return { seq: Number(match[1]), index: match[2] === undefined ? Number.MAX_SAFE_INTEGER : Number(match[2]) };
}

export interface Origin {
  readonly author: string;
  readonly authorKind: AuthorKind;
  readonly agent?: string;
  readonly task?: string;
}

/** Who wrote a side of a conflict, or a part of it, and where the log says so. */
export interface SideAuthor extends Origin {
  readonly seq: Seq;
}

/** `contention`: intents, `authors`: their authors, that found the file changed under them within a window. */
export interface FlagSignal {
  readonly measure: 'bytes' | 'lines' | 'contention' | 'authors';
  readonly value: number;
  readonly bound: number;
}

/** The part of an event that its kind decides. */
export type EventBody =
  | (Origin & {
      readonly kind: 'intent.landed';
      readonly commit: CommitId | undefined;
      readonly message: string;
      readonly changes: readonly { readonly path: RepoPath; readonly deleted: boolean }[];
      readonly operationId?: string;
    })
  | (Origin & { readonly kind: 'file.merged' } & MergedPath)
  | (Origin & {
      readonly kind: 'conflict.opened';
      readonly conflict: ConflictId;
      readonly paths: readonly RepoPath[];
      /** Whose landings the intent met, newest first. */
      readonly met: readonly SideAuthor[];
    })
  | (Origin & {
      /** By the author of the resolution. */
      readonly kind: 'hunk.discarded';
      readonly conflict: ConflictId;
      /** Whose work went: of them, and of those who gave them their task, it is to be known. */
      readonly wroteBy: readonly SideAuthor[];
    } & Omit<HunkAccount, 'fate'>)
  | (Origin & {
      readonly kind: 'conflict.resolved';
      readonly conflict: ConflictId;
      readonly paths: readonly RepoPath[];
      /** A resolution; the kept intent, whose sides merge by now; or another intent of its author. */
      readonly ending: 'resolution' | 'remerge' | 'replacement';
    })
  | (Origin & {
      /** Another intent of its author took its place, and is kept in turn. */
      readonly kind: 'conflict.replaced';
      readonly conflict: ConflictId;
      readonly by: ConflictId | ParkedId;
    })
  | (Origin & { readonly kind: 'intent.parked'; readonly parked: ParkedId; readonly paths: readonly RepoPath[] })
  | (Origin & { readonly kind: 'intent.unparked'; readonly parked: ParkedId; readonly outcome: string })
  | (Origin & {
      readonly kind: 'file.flagged';
      readonly path: RepoPath;
      readonly reason: string;
      /** Where the store noticed it by itself: what it measured, and from where on it tells. */
      readonly signal?: FlagSignal;
    })
  | (Origin & {
      readonly kind: 'file.frozen';
      readonly path: RepoPath;
      readonly reason: string;
      readonly owner?: string;
      /** Milliseconds since 1970 at which it ends by itself. */
      readonly until?: number;
    })
  /** `reason` is `split` or `expired` where a freeze ended by that. */
  | (Origin & { readonly kind: 'file.thawed'; readonly path: RepoPath; readonly reason: string })
  | (Origin & { readonly kind: 'file.split'; readonly path: RepoPath; readonly modules: readonly RepoPath[] })
  | (Origin & {
      /** The file is what it was at an earlier version. */
      readonly kind: 'file.oscillated';
      readonly path: RepoPath;
      readonly earlier: FileVersion;
    })
  | (Origin & {
      /** The author asked for what another had landed since. */
      readonly kind: 'file.piled-on';
      readonly path: RepoPath;
      readonly version: FileVersion;
      readonly by: SideAuthor;
    })
  | (Origin & {
      /** Somebody broke something on purpose, outside of what was given to them. */
      readonly kind: 'breakage.stated';
      /** As the comment in the code names it. */
      readonly breakage: string;
      readonly rationale: string;
      readonly paths: readonly RepoPath[];
    })
  | (Origin & {
      /** A design document changed: `status` as the document says by itself; none where it is gone or cannot be read. */
      readonly kind: 'decision.changed';
      readonly path: RepoPath;
      readonly decision?: string;
      readonly status?: 'active' | 'superseded' | 'proposed';
      readonly hash?: string;
      readonly topics?: readonly string[];
      readonly owner?: string;
      readonly supersedes?: readonly string[];
    })
  | (Origin & {
      /** It landed though it cites a decision that is missing or superseded, or says something else by now. */
      readonly kind: 'reference.flagged';
      readonly path: RepoPath;
      readonly line: number;
      readonly decision: string;
      readonly standing: 'missing' | 'superseded' | 'outdated';
    })
  | (Origin & { readonly kind: 'read.stale'; readonly path: RepoPath; readonly seen: number; readonly actual: number })
  | (Origin & { readonly kind: 'record.written'; readonly key: string; readonly deleted: boolean })
  | (Origin & { readonly kind: 'branch.forked'; readonly parent: string; readonly at: Seq })
  | (Origin & { readonly kind: 'object.purged'; readonly blobs: readonly BlobId[]; readonly reason: string })
  | (Origin & { readonly kind: 'tag.set'; readonly tag: string; readonly at: Seq });

/** A public projection of one log entry; a pure function of it. */
export type RepoEvent = EventBody & {
  readonly seq: Seq;
  /** From 1 within the seq. */
  readonly index: number;
  /** Milliseconds since 1970. */
  readonly time: number;
  readonly branch: string;
};

export type EventKind = RepoEvent['kind'];
