import type { TaskId } from '../core/ids.ts';

interface Notice {
  readonly text: string;
  readonly onTold: () => void;
}

/** What agents are to be told before their next request, by task. */
export class Notices {
  readonly #waiting = new Map<TaskId, readonly Notice[]>();

  add(task: TaskId, text: string, onTold: () => void): void {
    this.#waiting.set(task, [...(this.#waiting.get(task) ?? []), { text, onTold }]);
  }

  /** For somebody else who tells. */
  move(task: TaskId): readonly Notice[] {
    const waiting = this.#waiting.get(task) ?? [];
    this.#waiting.delete(task);
    return waiting;
  }

  /** They are told now. */
  take(task: TaskId): readonly string[] {
    return this.move(task).map(({ text, onTold }) => {
      onTold();
      return text;
    });
  }
}
