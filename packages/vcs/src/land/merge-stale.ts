import type { RepoPath } from '../core/ids.ts';
import type { Precondition } from '../core/intent.ts';
import type { DriverNote } from '../core/outcome.ts';
import { nowhere, type ConflictPathRow, type Place } from '../format/entry.ts';
import { blobIdOf } from '../format/hash.ts';
import { noBody } from '../log/body.ts';
import type { LogReader } from '../log/log-reader.ts';
import { contentOrNotice } from '../log/purged.ts';
import type { Version } from '../log/version.ts';
import {
  isBuiltIn,
  setLasting,
  sizeOf,
  undriven,
  type FileState,
  type MergeDriver,
  type MergeInput,
  type MergeResult,
} from '../merge/index.ts';
import { clashOf, displacementOf, standingOf, treeOf, type Tree } from './decide.ts';
import type { DriverChoice } from './driver-choice.ts';
import type { LandingState } from './landing-state.ts';
import type { Trace } from './lineage.ts';
import { bodyOf, digestEdits, looksOf } from './prepare.ts';
import type { MergedNote, PreparedEdit, PreparedIntent } from './prepared.ts';

/** The three inputs of a merge of one stale edit; an edit of a file that was split has several. */
export interface MergeJob {
  readonly edit: PreparedEdit;
  /** Path that the intent named. */
  readonly askedPath: RepoPath;
  /** Where the edit belongs now: it follows a move, or a split. */
  readonly path: RepoPath;
  readonly base: Place;
  /** nowhere: the path is gone. */
  readonly current: Place;
  /** Newest version of `path` when the plan was made: what the result is landed against. */
  readonly head: Version | undefined;
  readonly input: MergeInput;
  readonly driver: MergeDriver;
  /** Bytes of its inputs. */
  readonly size: number;
  /** A reason that decides without looking at contents. */
  readonly clash: string | undefined;
  /** The file is there already: nothing is moved any more. */
  readonly hasArrived: boolean;
}

export interface MergePlan {
  /** Newest seq when the plan was made: the currents are as of then. */
  readonly at: number;
  readonly jobs: readonly MergeJob[];
  /** Newest versions of the sources of moves when the plan was made. */
  readonly sources: ReadonlyMap<PreparedEdit, Version | undefined>;
  /** Moves of files that go along with a directory. */
  readonly along: readonly PreparedEdit[];
  /** Bytes of all inputs. */
  readonly size: number;
}

export type MergedStale =
  | { readonly kind: 'merged'; readonly intent: PreparedIntent }
  | {
      readonly kind: 'conflict';
      readonly at: number;
      readonly paths: readonly ConflictPathRow[];
      readonly chosen: readonly Chosen[];
    };

/** The driver that a path had when it was merged, by id. */
export type Chosen = Pick<MergedNote, 'path' | 'chosen'>;

/** What is known of one job before its input is read. */
interface Draft {
  readonly path: RepoPath;
  readonly head: Version | undefined;
  readonly base: Place;
  /** Default: `head`, where that is live. */
  readonly current?: Place | undefined;
  readonly clash?: string | undefined;
  /** Default: what the edit makes of its path; null: nothing stands there. */
  readonly incoming?: FileState | null;
  /** Default: the edit's. */
  readonly askedPath?: RepoPath;
  readonly hasArrived?: boolean;
}

export class StaleMerge {
  private readonly reader: LogReader;
  private readonly state: LandingState;
  private readonly choice: DriverChoice;

  constructor(reader: LogReader, state: LandingState, choice: DriverChoice) {
    this.reader = reader;
    this.state = state;
    this.choice = choice;
  }

  /** `at`: the newest seq of the state that it merges against. */
  plan(intent: PreparedIntent, at: number): MergePlan {
    const { edits } = intent;
    const sourceOf = (edit: PreparedEdit): PreparedEdit | undefined =>
      edit.movedFrom === undefined ? undefined : edits.find((other) => other.path === edit.movedFrom);
    const moved = new Set(edits.flatMap((edit) => sourceOf(edit) ?? []));
    const tree = treeOf(edits, this.state);
    const jobs = edits.flatMap((edit): MergeJob[] => {
      // The source of a move is merged where the move leads.
      if (moved.has(edit)) return [];
      const source = sourceOf(edit);
      const displaced = this.displaced(intent, edit, tree);
      if (displaced !== undefined) return [this.made(edit, displaced)];
      const drafts = source
        ? this.moveDrafts(edit, source, tree)
        : this.isStale(edit)
          ? this.drafts(intent, edit, tree)
          : [];
      return drafts.map((draft) => this.made(edit, draft));
    });
    const size = jobs.reduce((sum, job) => sum + job.size, 0);
    const sources = new Map([...moved].map((edit) => [edit, this.state.head(edit.path)]));
    return { at, jobs, size, sources, along: this.along(intent) };
  }

  private isStale(edit: PreparedEdit): boolean {
    return standingOf(edit, this.state.headOf(edit), this.state) === 'stale';
  }

  /** A path added where there is no place for it any more. */
  private displaced(intent: PreparedIntent, edit: PreparedEdit, tree: Tree): Draft | undefined {
    if (this.isStale(edit)) return undefined;
    const displacement = displacementOf(this.state, intent, edit, tree);
    if (displacement === undefined) return undefined;
    if (displacement.kind === 'clash') {
      const clash = this.nameOfClash(displacement.with);
      return { path: edit.path, head: this.state.headOf(edit), base: nowhere, clash };
    }
    const { to } = displacement;
    const head = this.state.head(to);
    return { path: to, head, base: nowhere, clash: head?.target === undefined ? this.clashAt(to, tree) : undefined };
  }

  private clashAt(path: RepoPath, tree: Tree): string | undefined {
    const other = clashOf(this.state, path, tree);
    return other && this.nameOfClash(other);
  }

  private nameOfClash(other: RepoPath): string {
    return this.state.head(other)?.mode === 'symlink' ? 'symlink/directory' : 'file/directory';
  }

  /** An edit of a path as it was: it goes where the file went. */
  private drafts(intent: PreparedIntent, edit: PreparedEdit, tree: Tree): Draft[] {
    const stays = { path: edit.path, head: this.state.head(edit.path), base: edit.base };
    if (edit.isPurged === true) return [{ ...stays, clash: 'purged' }];
    if (edit.base.seq === 0) return [{ ...stays, clash: this.clashOf(stays, tree) }];
    const trace = this.state.lineage.trace(edit.path, edit.base);
    if (trace.kind === 'split') return this.splitDrafts(intent, edit, trace);
    const { path, head } = trace;
    if (path === edit.path || head?.target === undefined) return [{ ...stays, clash: this.clashOf(stays, tree) }];
    // It follows a move to a path that the intent edits as well: it stays where it was, in conflict.
    if (intent.edits.some((other) => other.path === path)) return [{ ...stays, clash: 'move/edit' }];
    // Whoever moved it wanted to keep it.
    return [{ path, head, base: edit.base, clash: edit.target === undefined ? 'move/delete' : undefined }];
  }

  /** Why an edit cannot be merged whatever its contents are. */
  private clashOf({ path, head }: Pick<Draft, 'path' | 'head'>, tree: Tree): string | undefined {
    return head?.target === undefined ? this.clashAt(path, tree) : undefined;
  }

  private splitDrafts(intent: PreparedIntent, edit: PreparedEdit, trace: Trace & { kind: 'split' }): Draft[] {
    const stays = { path: trace.path, head: this.state.head(trace.path), base: edit.base };
    if (edit.target === undefined || edit.content === undefined) return [{ ...stays, clash: 'split/delete' }];
    const incoming = { content: edit.content, mode: edit.target.mode };
    const parts = this.state.lineage.parts(trace, edit.base, incoming);
    // Nothing of it is left to do: what is there stands.
    if (parts.length === 0) {
      const { head } = stays;
      return [
        {
          ...stays,
          base: head?.target === undefined ? nowhere : head.place,
          incoming: this.fileAt(edit.path, head?.place ?? nowhere),
        },
      ];
    }
    return parts.map(({ path, head, base, incoming: part, isUnplaced }): Draft => {
      const isEdited = path !== edit.path && intent.edits.some((other) => other.path === path);
      const clash = isUnplaced ? 'split' : isEdited ? 'move/edit' : undefined;
      return { path, head, base, incoming: part, clash };
    });
  }

  private moveDrafts(edit: PreparedEdit, source: PreparedEdit, tree: Tree): Draft[] {
    const isSourceStale = this.isStale(source);
    const isGone = this.state.head(source.path)?.target === undefined;
    const isStale = this.isStale(edit);
    if (!isSourceStale && !isStale) return [];
    const head = this.state.head(edit.path);
    if (edit.isPurged === true) return [{ path: edit.path, head, base: source.base, clash: 'purged' }];
    const trace = this.state.lineage.trace(source.path, source.base);
    if (trace.kind === 'split' && isGone) return [{ path: edit.path, head, base: source.base, clash: 'split/move' }];
    if (trace.kind === 'at' && trace.path !== source.path && trace.head?.target !== undefined) {
      return this.twiceMoved(edit, source, trace.path, trace.head, isGone);
    }
    if (isGone) return [{ path: edit.path, head, base: source.base, clash: 'move/delete' }];
    // The moved file was edited meanwhile: that edit follows the move.
    if (!isStale) return [{ path: edit.path, head, base: source.base, current: this.state.head(source.path)?.place }];
    // Both ends of the move changed: one result cannot hold three contents.
    if (isSourceStale) return [{ path: edit.path, head, base: edit.base, clash: 'move/edit' }];
    return [{ path: edit.path, head, base: edit.base, clash: this.clashOfTaken(edit, head, tree) }];
  }

  /** Others moved the file as well: to the same path, where both are merged, or to another. */
  private twiceMoved(
    edit: PreparedEdit,
    source: PreparedEdit,
    path: RepoPath,
    moved: Version,
    isGone: boolean,
  ): Draft[] {
    if (path === edit.path && isGone) return [{ path, head: moved, base: source.base, hasArrived: true }];
    const clash = 'move/move';
    const here = { path: edit.path, head: this.state.head(edit.path), base: source.base, clash };
    if (path === edit.path) return [here];
    return [here, { path, head: moved, base: source.base, clash, incoming: null, askedPath: source.path }];
  }

  /** Two files that were moved to one path. */
  private clashOfTaken(edit: PreparedEdit, head: Version | undefined, tree: Tree): string | undefined {
    if (head?.target === undefined) return this.clashOf({ path: edit.path, head }, tree);
    const isSame = head.target.blob === edit.target?.blob && head.target.mode === edit.target.mode;
    return !isSame && edit.base.seq === 0 && this.reader.change(head.place).movedPathId !== 0 ? 'move/move' : undefined;
  }

  private fileAt(path: RepoPath, place: Place, isLasting = false): FileState | null {
    const mode = place.seq === 0 ? undefined : this.reader.version(place).mode;
    if (mode === undefined) return null;
    const content = contentOrNotice(this.reader, place, isLasting);
    if (isLasting) setLasting(content, path);
    return { content, mode };
  }

  private made(edit: PreparedEdit, draft: Draft): MergeJob {
    const { path, head, base, clash } = draft;
    const { target, content } = edit;
    const current = draft.current ?? (head?.target === undefined ? nowhere : head.place);
    const asked = target && content ? { content, mode: target.mode } : null;
    const incoming = draft.incoming === undefined ? asked : draft.incoming;
    const driver = this.choice.of(this.state, path);
    // Code that is not ours might write to what it is given.
    const isLasting = isBuiltIn(driver, path);
    const [baseFile, currentFile] = [this.fileAt(path, base, isLasting), this.fileAt(path, current, isLasting)];
    const input = { path, base: baseFile, current: currentFile, incoming };
    return {
      edit,
      askedPath: draft.askedPath ?? edit.path,
      path,
      base,
      current,
      head,
      input,
      driver,
      size: sizeOf(input),
      clash,
      hasArrived: draft.hasArrived === true,
    };
  }

  /** Files that were added to a directory while the intent moved it. */
  private along(intent: PreparedIntent): PreparedEdit[] {
    return this.state.leftBehind(intent).flatMap(({ path, to }): PreparedEdit[] => {
      const head = this.state.head(path);
      if (head?.target === undefined) return [];
      const content = contentOrNotice(this.reader, head.place);
      const there = this.state.head(to);
      const common = { cell: undefined, isDerived: true } as const;
      return [
        {
          ...common,
          path,
          expect: expectHead(head),
          base: head.place,
          target: undefined,
          content: undefined,
          body: noBody,
          movedTo: to,
        },
        {
          ...common,
          path: to,
          expect: expectHead(there),
          base: there?.place ?? nowhere,
          target: head.target,
          content,
          body: bodyOf(this.reader, content, head.target.blob, head),
          movedFrom: path,
        },
      ];
    });
  }

  /** What the intent becomes once its jobs' results are known. */
  settle(intent: PreparedIntent, plan: MergePlan, results: readonly MergeResult[]): MergedStale {
    const { at, jobs, sources, along } = plan;
    const paths = jobs.map((job) => job.path);
    // Two edits that follow moves to one path.
    const clashes = jobs.map((job, index) => job.clash ?? (paths.indexOf(job.path) < index ? 'move/edit' : undefined));
    const isSettled = (index: number): boolean => results[index]?.kind === 'clean' && clashes[index] === undefined;
    const open = new Set(jobs.filter((_, index) => !isSettled(index)).map(({ edit }) => edit));
    if (open.size > 0) {
      const chosen = jobs.map(({ path, driver }): Chosen => ({ path, chosen: driver.id }));
      return { kind: 'conflict', at, paths: this.conflictRows(plan, results, clashes, open), chosen };
    }
    const merged: MergedNote[] = [];
    const settled = new Map<PreparedEdit, PreparedEdit[]>();
    for (const [index, job] of jobs.entries()) {
      const result = results[index];
      if (result?.kind !== 'clean') continue;
      const { path, base, current, edit } = job;
      settled.set(edit, [...(settled.get(edit) ?? []), this.edit(job, result.result)]);
      merged.push({ path, ...noteOf(result), chosen: job.driver.id, base, current });
    }
    const edits = [
      ...intent.edits.flatMap(
        (edit) => settled.get(edit) ?? [sources.has(edit) ? this.source(edit, sources.get(edit)) : edit],
      ),
      ...along,
    ];
    const others = intent.merged.filter((note) => !merged.some(({ path }) => path === note.path));
    const moved = along.flatMap(({ path, movedFrom, base }): MergedNote[] =>
      movedFrom === undefined
        ? []
        : [{ path, ...undriven, chosen: this.choice.of(this.state, path).id, base, current: base }],
    );
    return {
      kind: 'merged',
      intent: {
        ...intent,
        edits,
        bodyDigest: digestEdits(intent.admitted, edits, intent.extras),
        merged: [...others, ...merged, ...moved],
        unmerged: intent.unmerged ?? intent,
        attempts: intent.attempts + 1,
      },
    };
  }

  /** All parts of an edit that has one in conflict: it is kept whole. */
  private conflictRows(
    { jobs }: MergePlan,
    results: readonly MergeResult[],
    clashes: readonly (string | undefined)[],
    open: ReadonlySet<PreparedEdit>,
  ): ConflictPathRow[] {
    return jobs.flatMap(({ edit, path, askedPath, base, current, input }, index): ConflictPathRow[] => {
      if (!open.has(edit)) return [];
      const result = results[index];
      const found = result?.kind === 'conflict' ? result.reason : 'split';
      const reason = clashes[index] ?? found;
      const incoming = input.incoming && { blob: blobIdOf(input.incoming.content), mode: input.incoming.mode };
      const refused = result?.kind === 'conflict' ? result.refused : undefined;
      const row = { path, askedPath, reason, refused, base, current, incoming: incoming ?? undefined };
      return [{ ...row, ...noteOf(result ?? undriven) }];
    });
  }

  private edit({ edit, path, head, hasArrived, driver, input }: MergeJob, result: FileState | null): PreparedEdit {
    const { movedTo: _to, movedFrom, lines: _lines, cites: _cites, ...others } = edit;
    const kept = movedFrom === undefined || hasArrived ? others : { ...others, movedFrom };
    const cell = path === edit.path ? edit.cell : undefined;
    const followed = path === edit.path ? {} : { askedPath: edit.askedPath ?? edit.path };
    const common = { ...kept, ...followed, path, cell, expect: expectHead(head), base: head?.place ?? nowhere };
    if (result === null) return { ...common, target: undefined, content: undefined, body: noBody };
    const { content: made } = result;
    const content = Buffer.isBuffer(made) ? made : Buffer.from(made.buffer, made.byteOffset, made.length);
    const blob = blobIdOf(content);
    // What an intent brought lies in memory that is let go soon.
    if (isBuiltIn(driver, path) && made !== input.incoming?.content) this.reader.keepLasting(blob, content);
    return {
      ...common,
      target: { blob, mode: result.mode },
      content,
      body: bodyOf(this.reader, content, blob, head),
      ...looksOf(content),
    };
  }

  /** A move's source is deleted as it stands now, once its newer edit went along. */
  private source(edit: PreparedEdit, head: Version | undefined): PreparedEdit {
    return { ...edit, expect: expectHead(head), base: head?.place ?? nowhere };
  }
}

const noteOf = ({ driver, driverVersion, lines, structure }: DriverNote): DriverNote => ({
  driver,
  driverVersion,
  lines,
  structure,
});

const expectHead = (head: Version | undefined): Precondition =>
  head === undefined ? { kind: 'absent' } : { kind: 'version', seq: head.place.seq };
