import type { TaskId } from '../core/ids.ts';
import type { SwarmEvent } from '../events/event.ts';
import type { SwarmState } from '../state/state.ts';
import type { RunContext } from './run-context.ts';
import { system } from './run-header.ts';

type Reopened = Extract<SwarmEvent, { kind: 'task.reopened' }>;

/** Tasks whose last try came to nothing: they have ended, and stand so in the records before anybody is told. */
export class GivenUp {
  readonly #context: RunContext;
  readonly #tell: (event: SwarmEvent) => void;
  readonly #fail: (error: unknown) => void;
  readonly #written = new Map<TaskId, Promise<void>>();

  constructor(context: RunContext, tell: (event: SwarmEvent) => void, fail: (error: unknown) => void) {
    this.#context = context;
    this.#tell = tell;
    this.#fail = fail;
  }

  get tasks(): readonly TaskId[] {
    return [...this.#written.keys()];
  }

  seen({ task: id, reason }: Reopened, before: SwarmState, after: SwarmState): void {
    const task = before.tasks.get(id);
    if (task === undefined || after.tasks.has(id) || after.queue.some((open) => open.id === id)) return;
    this.#written.set(
      id,
      this.#context.book.giveUp(id, system).then(() => undefined, this.#fail),
    );
    queueMicrotask(() => this.#tell({ kind: 'task.given-up', task: id, attempts: task.attempts + 1, reason }));
  }

  /** Of these tasks, or of all. */
  async settled(tasks: readonly TaskId[] = this.tasks): Promise<void> {
    await Promise.all(tasks.map((task) => this.#written.get(task) ?? Promise.resolve()));
  }
}
