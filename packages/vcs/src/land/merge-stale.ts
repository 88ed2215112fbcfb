import type { RepoPath } from '../core/ids.ts';
import type { Precondition } from '../core/intent.ts';
import type { DriverNote } from '../core/outcome.ts';
import { nowhere, type ConflictPathRow, type Place } from '../format/entry.ts';
import { blobIdOf } from '../format/hash.ts';
import { noBody } from '../log/body.ts';
import type { LogReader } from '../log/log-reader.ts';
import { contentOrNotice } from '../log/purged.ts';
import type { Version } from '../log/version.ts';
import { undriven, type FileState, type MergeDriver, type MergeInput, type MergeResult } from '../merge/index.ts';
import { standingOf } from './decide.ts';
import type { DriverChoice } from './driver-choice.ts';
import type { LandingState } from './landing-state.ts';
import { bodyOf, digestEdits, linesOf } from './prepare.ts';
import type { MergedNote, PreparedEdit, PreparedIntent } from './prepared.ts';

/** One stale edit and the three inputs of its merge. */
export interface MergeJob {
  readonly edit: PreparedEdit;
  /** Where the edit belongs now: it follows a move. */
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
}

export interface MergePlan {
  /** Newest seq when the plan was made: the currents are as of then. */
  readonly at: number;
  readonly jobs: readonly MergeJob[];
  /** Newest versions of the sources of moves when the plan was made. */
  readonly sources: ReadonlyMap<PreparedEdit, Version | undefined>;
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

/** Moves of one path that an edit follows at most. */
const followMax = 8;

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
    const sourceOf = (edit: PreparedEdit): PreparedEdit | undefined =>
      intent.edits.find((other) => other.path === edit.movedFrom);
    const moved = new Set(intent.edits.flatMap((edit) => sourceOf(edit) ?? []));
    const jobs = intent.edits.flatMap((edit) => {
      // The source of a move is merged where the move leads.
      if (moved.has(edit)) return [];
      const source = sourceOf(edit);
      const isSourceStale = source !== undefined && this.isStale(source);
      if (this.isStale(edit)) return [this.job(intent, edit, source, isSourceStale)];
      return isSourceStale ? [this.moveJob(edit, source)] : [];
    });
    const size = jobs.reduce((sum, job) => sum + job.size, 0);
    return { at, jobs, size, sources: new Map([...moved].map((edit) => [edit, this.state.head(edit.path)])) };
  }

  private isStale(edit: PreparedEdit): boolean {
    return standingOf(edit, this.state.headOf(edit), this.state) === 'stale';
  }

  /** The path that an edit of `path` belongs to now, and its newest version. */
  private follow(path: RepoPath): { path: RepoPath; head: Version | undefined } {
    let at = path;
    let head = this.state.head(at);
    for (let step = 0; step < followMax && head !== undefined && head.mode === undefined; step++) {
      const { movedPathId } = this.reader.change(head.place);
      if (movedPathId === 0) break;
      at = this.reader.pathOf(movedPathId);
      head = this.state.head(at);
    }
    return head?.mode === undefined ? { path, head: this.state.head(path) } : { path: at, head };
  }

  private fileAt(place: Place): FileState | null {
    const mode = place.seq === 0 ? undefined : this.reader.version(place).mode;
    return mode === undefined ? null : { content: contentOrNotice(this.reader, place), mode };
  }

  private input(path: RepoPath, base: Place, current: Place, edit: PreparedEdit): MergeInput {
    const incoming = edit.target && edit.content ? { content: edit.content, mode: edit.target.mode } : null;
    return { path, base: this.fileAt(base), current: this.fileAt(current), incoming };
  }

  private job(
    intent: PreparedIntent,
    edit: PreparedEdit,
    source: PreparedEdit | undefined,
    isSourceStale: boolean,
  ): MergeJob {
    if (source !== undefined && this.state.head(source.path)?.mode === undefined) {
      const movedElsewhere = this.follow(source.path).path !== source.path;
      const clash = movedElsewhere ? 'move/move' : 'move/delete';
      return this.made(edit, edit.path, this.state.head(edit.path), { base: source.base, current: nowhere }, clash);
    }
    const { path, head } =
      edit.base.seq === 0 ? { path: edit.path, head: this.state.head(edit.path) } : this.follow(edit.path);
    // It follows a move to a path that the intent edits as well: it stays where it was, in conflict.
    if (path !== edit.path && intent.edits.some((other) => other.path === path)) {
      return this.made(edit, edit.path, this.state.head(edit.path), { base: edit.base, current: nowhere }, 'move/edit');
    }
    const current = head?.mode === undefined ? nowhere : head.place;
    return this.made(edit, path, head, { base: edit.base, current }, this.clashOf(path, current, isSourceStale));
  }

  /** Why an edit cannot be merged whatever its contents are. */
  private clashOf(path: RepoPath, current: Place, isSourceStale: boolean): string | undefined {
    // Both ends of the move changed: one result cannot hold three contents.
    if (isSourceStale) return 'move/edit';
    return current.seq === 0 && this.state.liveBelow(path, () => false) !== undefined ? 'file/directory' : undefined;
  }

  /** The moved file was edited meanwhile: that edit follows the move. */
  private moveJob(edit: PreparedEdit, source: PreparedEdit): MergeJob {
    const current = this.state.head(source.path)?.place ?? nowhere;
    return this.made(edit, edit.path, this.state.head(edit.path), { base: source.base, current }, undefined);
  }

  private made(
    edit: PreparedEdit,
    path: RepoPath,
    head: Version | undefined,
    { base, current }: { readonly base: Place; readonly current: Place },
    clash: string | undefined,
  ): MergeJob {
    const driver = this.choice.of(this.state, path);
    const input = this.input(path, base, current, edit);
    return { edit, path, base, current, head, input, driver, size: sizeOf(input), clash };
  }

  /** What the intent becomes once its jobs' results are known. */
  settle(intent: PreparedIntent, { at, jobs, sources }: MergePlan, results: readonly MergeResult[]): MergedStale {
    const conflicts: ConflictPathRow[] = [];
    const merged: MergedNote[] = [];
    const settled = new Map<PreparedEdit, PreparedEdit>();
    const paths = jobs.map((job) => job.path);
    for (const [index, job] of jobs.entries()) {
      const result = results[index];
      const { path, base, current, edit } = job;
      // Two edits that follow moves to one path.
      const clash = job.clash ?? (paths.indexOf(path) < index ? 'move/edit' : undefined);
      if (result === undefined || result.kind === 'conflict' || clash !== undefined) {
        const reason = clash ?? (result?.kind === 'conflict' ? result.reason : 'content');
        const refused = result?.kind === 'conflict' ? result.refused : undefined;
        const row = { path, askedPath: edit.path, reason, refused, base, current, incoming: edit.target };
        conflicts.push({ ...row, ...noteOf(result ?? undriven) });
        continue;
      }
      settled.set(edit, this.edit(job, result.result));
      merged.push({ path, ...noteOf(result), chosen: job.driver.id, base, current });
    }
    const chosen = jobs.map(({ path, driver }): Chosen => ({ path, chosen: driver.id }));
    if (conflicts.length > 0) return { kind: 'conflict', at, paths: conflicts, chosen };
    const edits = intent.edits.map(
      (edit) => settled.get(edit) ?? (sources.has(edit) ? this.source(edit, sources.get(edit)) : edit),
    );
    return {
      kind: 'merged',
      intent: {
        ...intent,
        edits,
        bodyDigest: digestEdits(intent.admitted, edits, intent.extras),
        merged: [...intent.merged.filter((note) => !merged.some(({ path }) => path === note.path)), ...merged],
        unmerged: intent.unmerged ?? intent,
        attempts: intent.attempts + 1,
      },
    };
  }

  private edit({ edit, path, head }: MergeJob, result: FileState | null): PreparedEdit {
    const { movedTo: _to, lines: _lines, ...kept } = edit;
    const cell = path === edit.path ? edit.cell : undefined;
    const common = { ...kept, path, cell, expect: expectHead(head), base: head?.place ?? nowhere };
    if (result === null) return { ...common, target: undefined, content: undefined, body: noBody };
    const content = Buffer.from(result.content.buffer, result.content.byteOffset, result.content.length);
    const blob = blobIdOf(content);
    return {
      ...common,
      target: { blob, mode: result.mode },
      content,
      body: bodyOf(this.reader, content, blob, head),
      ...linesOf(content),
    };
  }

  /** A move's source is deleted as it stands now, once its newer edit went along. */
  private source(edit: PreparedEdit, head: Version | undefined): PreparedEdit {
    return { ...edit, expect: expectHead(head), base: head?.place ?? nowhere };
  }
}

const sizeOf = ({ base, current, incoming }: MergeInput): number =>
  (base?.content.length ?? 0) + (current?.content.length ?? 0) + (incoming?.content.length ?? 0);

const noteOf = ({ driver, driverVersion, lines, structure }: DriverNote): DriverNote => ({
  driver,
  driverVersion,
  lines,
  structure,
});

const expectHead = (head: Version | undefined): Precondition =>
  head === undefined ? { kind: 'absent' } : { kind: 'version', seq: head.place.seq };
