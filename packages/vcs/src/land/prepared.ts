import type { RepoPath } from '../core/ids.ts';
import type { Author, Precondition } from '../core/intent.ts';
import type { DriverNote } from '../core/outcome.ts';
import type { Body, ConflictEnding, Place } from '../format/entry.ts';
import type { AdmittedIntent } from '../intent/edit.ts';
import type { HeadCell } from '../log/heads.ts';
import type { Target } from '../log/version.ts';
import type { LineRun } from '../merge/index.ts';

/** An edit with its bytes hashed and encoded against its base, before any lock is held. */
export interface PreparedEdit {
  readonly path: RepoPath;
  readonly expect: Precondition;
  /** undefined: the path is deleted. */
  readonly target: Target | undefined;
  /** Bytes of the target; undefined for a delete. */
  readonly content: Buffer | undefined;
  /** Lines of a content that may be a megafile's; undefined where it is too small to be looked at. */
  readonly lines?: number;
  /** Symbols of decisions that a content cites; undefined where it cites none. */
  readonly cites?: readonly string[];
  readonly body: Body;
  /** The live version that `expect` names; for `any` the newest when it was prepared; nowhere where there is none. */
  readonly base: Place;
  /** Where the path's newest version is kept; undefined where the path is new or not looked up. */
  readonly cell: HeadCell | undefined;
  /** Path that the intent named, where the edit followed its file to another. */
  readonly askedPath?: RepoPath;
  readonly movedFrom?: RepoPath;
  readonly movedTo?: RepoPath;
  /** A purge took what was asked for: there is nothing to land. */
  readonly isPurged?: true;
  /** What lands was taken from `base` (a chmod, a move): even `any` holds only while that is the head. */
  readonly isDerived?: true;
}

/** Inputs of a merge that made an edit what it is now. */
export interface MergedNote extends DriverNote {
  readonly path: RepoPath;
  /** Id of the driver that its path had; another one than `driver` where none was needed. */
  readonly chosen: string;
  readonly base: Place;
  readonly current: Place;
}

export interface PreparedSplit {
  readonly path: RepoPath;
  /** Lines from 0, by path of the module. */
  readonly runs: readonly LineRun[];
  /** As `PreparedIntent.asked`: what landed takes along what came since it was asked for. */
  readonly asked: Buffer | undefined;
}

/** What only some intents carry. */
export interface LandingExtras {
  readonly coAuthors: readonly Author[];
  /** Seq of the conflict entry that this ends; 0: none. */
  readonly resolves: number;
  /** How it does. */
  readonly ending: ConflictEnding;
  /** Seq of the parked entry that this carries out; 0: none. */
  readonly unparks: number;
  readonly accounts: Uint8Array | undefined;
  /** The file that this splits, and where its lines went. */
  readonly split: PreparedSplit | undefined;
  readonly git:
    | { readonly raw: Uint8Array; readonly id: string; readonly time: number; readonly extraParents: readonly number[] }
    | undefined;
}

export const noExtras: LandingExtras = {
  coAuthors: [],
  resolves: 0,
  ending: 'resolution',
  unparks: 0,
  accounts: undefined,
  split: undefined,
  git: undefined,
};

export interface PreparedIntent {
  readonly admitted: AdmittedIntent;
  readonly edits: readonly PreparedEdit[];
  /** Digest of what the edits make of the tree and say of themselves; see `commit-body.ts`. */
  readonly bodyDigest: Buffer;
  /** What was asked for under the operation id, in 8 bytes (`digestAsked`); undefined without one. */
  readonly asked: Buffer | undefined;
  readonly merged: readonly MergedNote[];
  /** The intent before it was merged the first time; undefined where it was not. */
  readonly unmerged: PreparedIntent | undefined;
  readonly extras: LandingExtras;
  /** Milliseconds since 1970. */
  readonly time: number;
  /** How often this intent was found stale so far. */
  readonly attempts: number;
  /** Under which it keeps its paths for itself while a large merge of them runs; undefined: it does not. */
  readonly hold: string | undefined;
}
