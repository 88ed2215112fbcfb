import type { Decision } from '../core/brief.ts';
import type { TaskId } from '../core/ids.ts';
import type { RunContext } from './run-context.ts';

/** The decisions that hold now, with the task whose planner made them. */
export function decisionsOf(context: RunContext): (Decision & { readonly owner: TaskId })[] {
  return context.repo
    .snapshot()
    .records(`${context.keys.prefix}decision/`)
    .map(({ value }) => {
      const { id, topics, text, owner } = JSON.parse(value.toString('utf8')) as Decision & { readonly owner: TaskId };
      return { id, topics, text, owner };
    });
}
