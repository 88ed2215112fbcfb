import type { RunId, TaskId } from '../core/ids.ts';

/** Keys of a run's records ([spec](../../../../docs/spec/run-records.md)). */
export class RunKeys {
  readonly run: RunId;

  constructor(run: RunId) {
    this.run = run;
  }

  get prefix(): string {
    return `swarm/${this.run}/`;
  }

  /** Who runs it, with which settings, and how it ended. */
  get header(): string {
    return `${this.prefix}run`;
  }

  /** State of a task: claims, progress, completion. */
  task(task: TaskId | ''): string {
    return `${this.prefix}task/${task}`;
  }

  /** What the task is; written once. */
  brief(task: TaskId | ''): string {
    return `${this.prefix}brief/${task}`;
  }

  /** The last claim of topics. */
  get topics(): string {
    return `${this.prefix}topics`;
  }

  /** Edits that have not landed. */
  draft(task: TaskId): string {
    return `${this.prefix}draft/${task}`;
  }

  /** What the agent of one generation of a task came to; without a generation: all of them. */
  handoff(task: TaskId | '', generation?: number): string {
    return `${this.prefix}handoff/${task}${generation === undefined ? '' : `/${generation}`}`;
  }

  /** What a merger came to. */
  merge(conflict: string, attempt: number): string {
    return `${this.prefix}merge/${conflict}/${attempt}`;
  }

  get merges(): string {
    return `${this.prefix}merge/`;
  }

  /** What a lens made of a landing. */
  review(seq: number | '', lens = ''): string {
    return `${this.prefix}review/${seq}${lens === '' ? '' : `/${lens}`}`;
  }

  /** The last settlement of what was fought over a path; by its hash. */
  settled(path: string): string {
    return `${this.prefix}settled/${path}`;
  }

  budget(task: TaskId | ''): string {
    return `${this.prefix}budget/${task}`;
  }

  /** What another process asks of the run. */
  get controls(): string {
    return `${this.prefix}control/`;
  }

  get questions(): string {
    return `${this.prefix}question/`;
  }
}
