import type { HunkAccount, HunkFate, Mode, Outcome } from '@mound/vcs';
import type { Handoff, Task, TaskReport } from '../core/task.ts';

/** What an operation does not do, and what to do instead. Expected, so a value. */
export interface Refusal {
  readonly kind: 'refused';
  readonly says: string;
}

export const refused = (says: string): Refusal => ({ kind: 'refused', says });

export interface FileView {
  readonly path: string;
  /** The FileVersion to base a change on. */
  readonly version: number;
  readonly mode: Mode;
  readonly size: number;
  /** undefined where the bytes are not text. */
  readonly text: string | undefined;
}

/** The effects that tools have: the real store in a run, a fake in a test. */
export interface ReadOperations {
  read(path: string): FileView | undefined;
  list(prefix: string): readonly { readonly path: string; readonly version: number; readonly size: number }[];
}

/** The parts of a handoff that its author writes. */
export type HandoffReport = Omit<Handoff, 'commits'>;

interface FinishOperations {
  finish(report: HandoffReport): Promise<Refusal | undefined>;
}

export type TaskRequest = Omit<Task, 'base'> & { readonly base?: number | undefined };

/** One line of `inspect`. */
export interface TaskView {
  readonly task: string;
  readonly title: string;
  readonly status: string;
  readonly agent?: string | undefined;
}

export interface PlannerOperations extends ReadOperations, FinishOperations {
  delegate(tasks: readonly TaskRequest[]): Promise<Refusal | { readonly kind: 'delegated'; readonly base: number }>;
  /** Resolves when every delegated task has ended. */
  wait(): Promise<Refusal | { readonly kind: 'ended'; readonly reports: readonly TaskReport[]; readonly seq: number }>;
  inspect(): readonly TaskView[];
}

/** New bytes of one path: text, or a reference that the run's `content` option resolves; null deletes. */
export interface ContentChange {
  readonly path: string;
  readonly content?: string | null | undefined;
  /** Of `content`; default: it is the text itself. */
  readonly encoding?: 'base64' | undefined;
  readonly contentRef?: string | undefined;
  readonly mode?: Mode | undefined;
}

export interface CommitRequest {
  readonly changes: readonly (ContentChange & { readonly expect?: number | 'absent' | undefined })[];
  readonly message: string;
  readonly rationale?: string | undefined;
  readonly breakage?: string | undefined;
  /** Further commits of the task follow: this one does not complete it. */
  readonly more: boolean;
}

export interface WorkerOperations extends ReadOperations, FinishOperations {
  commit(request: CommitRequest): Promise<Outcome | Refusal>;
  flag(path: string, reason: string): Promise<number>;
}

/** Lines of one side, from 1; `lines` of 0 is an insertion point before `from`. */
export interface Span {
  readonly from: number;
  readonly lines: number;
  readonly text: string;
  /** The text goes on. */
  readonly cut?: true;
}

export interface ConflictedPath {
  readonly path: string;
  readonly reason: string;
  readonly base: SideView;
  readonly current: SideView;
  readonly incoming: SideView;
  /** Where the sides disagree; elsewhere they merge. Empty where a side is no text, or all of it merges by now. */
  readonly hunks: readonly {
    readonly index: number;
    readonly base: Span;
    readonly current: Span;
    readonly incoming: Span;
  }[];
}

export interface SideView {
  readonly version: number;
  /** undefined where there is none to show: `absent`, `binary`, or too `large` to show beside its hunks. */
  readonly text: string | undefined;
  readonly state: 'text' | 'large' | 'binary' | 'absent';
}

export interface ConflictDetails {
  readonly conflict: string;
  readonly state: 'open' | 'resolved' | 'replaced';
  /** Seq of the snapshot that current is shown from. */
  readonly asOf: number;
  readonly author: string;
  readonly message: string;
  readonly paths: readonly ConflictedPath[];
}

export interface ResolveRequest {
  readonly conflict: string;
  readonly results: readonly ContentChange[];
  readonly accounts?: readonly HunkAccount[] | undefined;
  /** For the hunks that are not named in `accounts` and not to be seen in the results. */
  readonly otherwise?: HunkFate | undefined;
  readonly message?: string | undefined;
  readonly rationale?: string | undefined;
}

export interface MergerOperations extends FinishOperations {
  readConflict(id: string): ConflictDetails | Refusal;
  resolve(request: ResolveRequest): Promise<Outcome | Refusal>;
}
