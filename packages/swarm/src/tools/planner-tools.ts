import { z } from 'zod';
import { isTaskId, type TaskId } from '../core/ids.ts';
import type { JsonValue } from '../core/json.ts';
import type { TaskReport } from '../core/task.ts';
import { finishToolOf, readTools } from './common-tools.ts';
import type { PlannerOperations } from './operations.ts';
import { bindTool, defineTool, refusalAnswer, type Tool } from './tool.ts';

const taskId = z
  .string()
  .refine((text): text is TaskId => isTaskId(text), 'letters, digits, . _ - only, at most 100')
  .describe('A new id, unique in the run.');

const delegateTool = defineTool(
  'delegate',
  'Hand out tasks. Each goes to one worker; they run at the same time and do not see one another.',
  z.strictObject({
    tasks: z
      .array(
        z.strictObject({
          id: taskId,
          title: z.string().min(1),
          scope: z.array(z.string().min(1)).default([]).describe('Paths or directories it may change; empty: all.'),
          brief: z.string().default(''),
          base: z.int().min(0).optional().describe('Snapshot (seq) it starts from; default the newest.'),
          input: z.unknown().optional(),
        }),
      )
      .min(1),
  }),
);

const waitTool = defineTool(
  'wait',
  'Wait until every delegated task has ended; gives a report of each.',
  z.strictObject({}),
);
const inspectTool = defineTool('inspect', 'See how the tasks stand, without waiting.', z.strictObject({}));

const wordsOf = (reports: readonly TaskReport[]): string => {
  const counts = new Map<string, number>();
  for (const { outcome } of reports) counts.set(outcome, (counts.get(outcome) ?? 0) + 1);
  return [...counts].map(([outcome, count]) => `${count} ${outcome}`).join(', ');
};

export const plannerTools = (operations: PlannerOperations): Tool[] => [
  ...readTools(operations),
  bindTool(delegateTool, async ({ tasks }) => {
    const requests = tasks.map(({ input, ...task }) => ({
      ...task,
      ...(input !== undefined && { input: input as JsonValue }),
    }));
    const answer = await operations.delegate(requests);
    if (answer.kind === 'refused') return refusalAnswer(answer);
    return { ok: true, says: `${tasks.length} tasks delegated; call wait`, more: { base: answer.base } };
  }),
  bindTool(waitTool, async () => {
    const answer = await operations.wait();
    if (answer.kind === 'refused') return refusalAnswer(answer);
    const { reports, seq } = answer;
    return {
      ok: true,
      says: `all tasks ended: ${wordsOf(reports)}`,
      more: { seq, reports: reports as unknown as JsonValue },
    };
  }),
  bindTool(inspectTool, () => {
    const tasks = operations.inspect();
    return { ok: true, says: `${tasks.length} tasks not yet ended`, more: { tasks: tasks as unknown as JsonValue } };
  }),
  finishToolOf((report) => operations.finish(report)),
];
