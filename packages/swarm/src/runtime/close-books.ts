import { noAmount } from '../core/amount.ts';
import type { TaskId } from '../core/ids.ts';
import type { RunContext } from './run-context.ts';
import { system } from './run-header.ts';

/** What tasks that have ended were given and have not spent is their planner's again, before it plans on. */
export async function closeBooks(context: RunContext, tasks: ReadonlySet<TaskId>): Promise<void> {
  const { budgets } = context.parts;
  await Promise.all(
    [...tasks].map(async (id) => {
      const ended = context.ownNode(id);
      if (ended === undefined || budgets.node(id)?.state !== 'open') return;
      const step = { records: [], author: system, message: `settle ${id}`, operationId: undefined };
      await budgets.settle({ draws: [ended.above], spent: noAmount, ended }, step);
    }),
  );
}
