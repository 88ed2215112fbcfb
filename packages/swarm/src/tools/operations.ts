import type { HunkAccount, HunkFate, Mode, Outcome } from '@mound/vcs';
import type { Cap } from '../core/amount.ts';
import type { TaskId } from '../core/ids.ts';
import type { Verdict } from '../core/lens.ts';
import type { CheckResult, Handoff, Task, TaskReport } from '../core/task.ts';

/** What an operation does not do, and what to do instead. Expected, so a value. */
export interface Refusal {
  readonly kind: 'refused';
  readonly says: string;
  /** Refused once too often: the agent ends here, and its planner is told. */
  readonly ends?: true;
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
  /** It holds an edit of the agent's own that has not landed. */
  readonly edited?: true;
}

export interface SearchRequest {
  readonly pattern: string;
  /** The pattern is a regular expression. */
  readonly regex: boolean;
  readonly ignoreCase: boolean;
  /** A directory, or a file. */
  readonly prefix: string;
  readonly hitsMax: number;
}

export interface SearchHit {
  readonly path: string;
  /** From 1. */
  readonly line: number;
  readonly text: string;
}

export interface SearchAnswer {
  readonly kind: 'found';
  readonly hits: readonly SearchHit[];
  /** There is more than is listed. */
  readonly isCut: boolean;
  readonly files: number;
}

/** The effects that tools have: the real store in a run, a fake in a test. */
export interface ReadOperations {
  read(path: string): FileView | undefined;
  list(prefix: string): readonly { readonly path: string; readonly version: number; readonly size: number }[];
  search(request: SearchRequest): Promise<SearchAnswer | Refusal>;
  /** The agent is shown these files. */
  noteRead(paths: readonly string[]): void;
  /** Where a file went that does not stand (whole) under its path any more, in words; undefined where it is there. */
  whereabouts(path: string): string | undefined;
}

/** The parts of a handoff that its author writes. */
export type HandoffReport = Omit<Handoff, 'commits' | 'check'>;

interface FinishOperations {
  /** `key` names the call: what it asks the store stands under it, in every operation below too. */
  finish(report: HandoffReport, key: string): Promise<Refusal | undefined>;
}

/** A task as a planner asks for it. */
export interface TaskRequest extends Omit<Task, 'base' | 'parent' | 'role' | 'budget' | 'check' | 'after' | 'topics'> {
  readonly base?: number | undefined;
  /** Default: the worker. */
  readonly role?: string | undefined;
  readonly check?: string | undefined;
  /** Why there is nothing to check. */
  readonly unchecked?: string | undefined;
  readonly after?: readonly TaskId[] | undefined;
  readonly budget?: Partial<Cap> | undefined;
  /** What is decided below it, by name: no other live subtree may decide the same. */
  readonly topics?: readonly string[] | undefined;
}

/** One line of `inspect`. */
export interface TaskView {
  readonly task: string;
  readonly title: string;
  readonly status: string;
  readonly agent?: string | undefined;
}

export interface DecisionRequest {
  readonly id: string;
  readonly title?: string | undefined;
  /** Ids of decisions whose place it takes. */
  readonly supersedes?: readonly string[] | undefined;
  readonly topics: readonly string[];
  readonly text: string;
}

/** An entry of the Field Guide, as an agent asks for it. */
export interface NoteRequest {
  readonly symptom: string;
  readonly cause: string;
  /** What to do. */
  readonly remedy: string;
  /** `PATH`, `PATH@VERSION`, or either with `#NAME`. */
  readonly evidence: readonly string[];
  /** Entries that are to be taken out. */
  readonly remove: readonly string[];
}

export interface NoteOperations {
  note(request: NoteRequest, key: string): Promise<Outcome | Refusal>;
}

export interface PlannerOperations extends ReadOperations, NoteOperations, FinishOperations {
  delegate(
    tasks: readonly TaskRequest[],
    key: string,
  ): Promise<Refusal | { readonly kind: 'delegated'; readonly base: number }>;
  /** Resolves when the planner's tasks have ended: all of them, or any. */
  wait(
    for_: 'all' | 'any',
  ): Promise<
    | Refusal
    | { readonly kind: 'ended'; readonly reports: readonly TaskReport[]; readonly seq: number; readonly open: number }
  >;
  inspect(): readonly TaskView[];
  decide(decision: DecisionRequest, key: string): Promise<Refusal | { readonly kind: 'decided'; readonly seq: number }>;
  ask(question: string, key: string): Promise<Refusal | { readonly kind: 'asked'; readonly id: string }>;
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

export interface WriteRequest extends ContentChange {
  readonly expect?: number | 'absent' | undefined;
}

export interface CommitRequest {
  /** Beside what the draft holds. */
  readonly changes: readonly WriteRequest[];
  readonly message: string;
  readonly rationale?: string | undefined;
  readonly breakage?: string | undefined;
  /** Further commits of the task follow: this one does not complete it. */
  readonly more: boolean;
}

/** A stretch of a file to be replaced, given by its exact text. */
export interface Replacement {
  readonly search: string;
  readonly replace: string;
}

export interface EditRequest {
  readonly path: string;
  /** The version that the agent read; another is refused. */
  readonly version: number;
  readonly edits: readonly Replacement[];
}

export interface Edited {
  readonly kind: 'edited';
  readonly paths: readonly { readonly path: string; readonly version: number }[];
}

export interface RunRequest {
  readonly command: string;
  readonly timeoutMs: number | undefined;
  /** Files, or directories, whose changes by the command become the agent's own edits. */
  readonly keep: readonly string[];
}

/** What somebody broke on purpose, and what of an output it may explain. */
export interface FoundBreakage {
  /** As the comment in the code names it. */
  readonly id: string;
  readonly rationale: string;
  readonly by: string;
  readonly task?: string;
  readonly seq: number;
  /** Files that were changed, and names in them that the output speaks of. */
  readonly paths: string[];
  readonly symbols: string[];
  /** Lines of the output. */
  readonly places: string[];
}

export interface RunAnswer {
  readonly kind: 'ran';
  /** Exit code; undefined where it did not exit by itself. */
  readonly code: number | undefined;
  /** How it ended. */
  readonly how: string;
  readonly output: string;
  readonly ms: number;
  readonly seq: number;
  /** Files that the command changed and that `keep` took in. */
  readonly kept: readonly string[];
  /** Files that it changed beside that: put back. */
  readonly dropped: readonly string[];
  /** Intended breaks that may explain why it failed. */
  readonly breakages: readonly FoundBreakage[];
}

export interface ClaimView {
  readonly topic: string;
  readonly holder: string;
}

export interface WorkerOperations extends ReadOperations, NoteOperations, FinishOperations {
  edit(request: EditRequest, key: string): Promise<Edited | Refusal>;
  write(request: WriteRequest, key: string): Promise<Edited | Refusal>;
  patch(text: string, key: string): Promise<Edited | Refusal>;
  run(request: RunRequest, key: string): Promise<RunAnswer | Refusal>;
  commit(request: CommitRequest, key: string): Promise<Outcome | Refusal>;
  flag(path: string, reason: string): Promise<number>;
  claim(topic: string): Promise<Refusal | undefined>;
  board(): readonly ClaimView[];
}

/** Runs a task's check on a tree; undefined where it could not be run. */
export type CheckRun = (command: string) => Promise<CheckResult & { readonly output: string }>;

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
  /** Of the incoming side. */
  readonly author: string;
  readonly message: string;
  readonly rationale?: string;
  readonly paths: readonly ConflictedPath[];
  /** What made the current side of the base, newest first. */
  readonly met: readonly {
    readonly seq: number;
    readonly author: string;
    readonly message: string;
    readonly rationale?: string;
  }[];
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

export interface MergerOperations extends NoteOperations, FinishOperations {
  readConflict(id: string): ConflictDetails | Refusal;
  resolve(request: ResolveRequest, key: string): Promise<Outcome | Refusal>;
}

/** What a neutral agent makes of a contradiction: one decision that takes the place of those that clash. */
export interface SettleRequest {
  readonly decision: DecisionRequest;
  /** Of the files that were fought over: what they are to be by the decision. */
  readonly results: readonly ContentChange[];
  /** Work that follows from it beside that of files which cite what it supersedes. */
  readonly tasks: readonly { readonly title: string; readonly scope: readonly string[]; readonly brief: string }[];
}

export interface ReconcilerOperations extends ReadOperations, NoteOperations, FinishOperations {
  readConflict(id: string): ConflictDetails | Refusal;
  settle(
    request: SettleRequest,
    key: string,
  ): Promise<Refusal | { readonly kind: 'settled'; readonly seq: number; readonly tasks: readonly TaskId[] }>;
}

export interface SplitRequest {
  readonly modules: readonly { readonly path: string; readonly content: string }[];
  /** null: nothing stays under the old path. */
  readonly remains: string | null;
  readonly message?: string | undefined;
  readonly ranges?:
    | readonly { readonly start: number; readonly count: number; readonly path: string; readonly toStart: number }[]
    | undefined;
}

export interface DecomposerOperations extends ReadOperations, NoteOperations, FinishOperations {
  split(
    request: SplitRequest,
    key: string,
  ): Promise<
    Refusal | { readonly kind: 'split'; readonly seq: number; readonly retargeted: Readonly<Record<string, number>> }
  >;
}

export interface ReviewerOperations extends ReadOperations, NoteOperations {
  /** Ends the review. */
  verdict(verdict: Verdict, key: string): Promise<Refusal | undefined>;
}
