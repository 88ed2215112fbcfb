import { z } from 'zod';
import { isTaskId, type TaskId } from '../core/ids.ts';
import type { JsonValue } from '../core/json.ts';
import type { TaskReport } from '../core/task.ts';
import { finishToolOf, noteToolOf, readTools } from './common-tools.ts';
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
          role: z.string().optional().describe('Who does it; default worker. A planner splits it again.'),
          scope: z.array(z.string().min(1)).default([]).describe('Paths or directories it may change; empty: all.'),
          brief: z.string().default(''),
          check: z.string().min(1).optional().describe('Shell command that proves it: exit code 0, or it is not done.'),
          unchecked: z.string().min(1).optional().describe('Instead of check: why there is nothing to run.'),
          after: z.array(taskId).optional().describe('Tasks that have to end first.'),
          topics: z
            .array(z.string().min(1))
            .optional()
            .describe('What is decided below it; nobody else may decide it.'),
          budget: z
            .strictObject({
              nanoUsd: z.int().min(0).optional(),
              tokens: z.int().min(0).optional(),
              ms: z.int().min(0).optional(),
            })
            .optional()
            .describe('What it may cost; default an equal part of half of what you have.'),
          base: z.int().min(0).optional().describe('Snapshot (seq) it starts from; default the newest.'),
          input: z.unknown().optional(),
        }),
      )
      .min(1),
  }),
);

const waitTool = defineTool(
  'wait',
  'Wait until your tasks have ended; gives a report of each.',
  z.strictObject({
    for: z.enum(['all', 'any']).default('all').describe('all: until every one has ended; any: until one has.'),
  }),
);
/** Shared with the reconciler's `settle`. */
export const decisionFields = {
  id: z.string().regex(/^[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?$/, 'small letters, digits and - only, at most 64'),
  title: z.string().min(1).max(120).optional().describe('One line; default the first of the text.'),
  topics: z.array(z.string().min(1)).min(1).describe('What it decides, in a few words each.'),
  text: z.string().min(1),
  supersedes: z.array(z.string().min(1)).optional().describe('Ids of decisions whose place it takes.'),
} as const;

const decideTool = defineTool(
  'decide',
  'Settle a design question for everybody, before you delegate what depends on it. It becomes a design document that code can cite. The same id again says it anew.',
  z.strictObject(decisionFields),
);
const askTool = defineTool(
  'ask',
  'Ask the people who started the run. The answer comes as a message later: go on meanwhile with what does not depend on it.',
  z.strictObject({ question: z.string().min(1) }),
);
const inspectTool = defineTool('inspect', 'See how the tasks stand, without waiting.', z.strictObject({}));

export const withoutUndefined = <T extends object>(value: T): { [Key in keyof T]: Exclude<T[Key], undefined> } =>
  Object.fromEntries(Object.entries(value).filter(([, part]) => part !== undefined)) as {
    [Key in keyof T]: Exclude<T[Key], undefined>;
  };

const wordsOf = (reports: readonly TaskReport[]): string => {
  const counts = new Map<string, number>();
  for (const { outcome } of reports) counts.set(outcome, (counts.get(outcome) ?? 0) + 1);
  return [...counts].map(([outcome, count]) => `${count} ${outcome}`).join(', ');
};

export const plannerTools = (operations: PlannerOperations): Tool[] => [
  ...readTools(operations),
  bindTool(delegateTool, async ({ tasks }, key) => {
    const requests = tasks.map(({ input, budget, ...task }) => ({
      ...task,
      ...(budget !== undefined && { budget: withoutUndefined(budget) }),
      ...(input !== undefined && { input: input as JsonValue }),
    }));
    const answer = await operations.delegate(requests, key);
    if (answer.kind === 'refused') return refusalAnswer(answer);
    return { ok: true, says: `${tasks.length} tasks delegated; call wait`, more: { base: answer.base } };
  }),
  bindTool(waitTool, async (request) => {
    const answer = await operations.wait(request.for);
    if (answer.kind === 'refused') return refusalAnswer(answer);
    const { reports, seq, open } = answer;
    return {
      ok: true,
      says: `${open === 0 ? 'all tasks ended' : `${open} tasks are still open; ended`}: ${wordsOf(reports)}`,
      more: { seq, open, reports: reports as unknown as JsonValue },
    };
  }),
  bindTool(decideTool, async (decision, key) => {
    const answer = await operations.decide(decision, key);
    if (answer.kind === 'refused') return refusalAnswer(answer);
    return { ok: true, says: `decided; all who start from now on are told`, more: { seq: answer.seq } };
  }),
  bindTool(askTool, async ({ question }, key) => {
    const answer = await operations.ask(question, key);
    if (answer.kind === 'refused') return refusalAnswer(answer);
    return { ok: true, says: 'asked; the answer comes as a message', more: { id: answer.id } };
  }),
  bindTool(inspectTool, () => {
    const tasks = operations.inspect();
    return { ok: true, says: `${tasks.length} tasks not yet ended`, more: { tasks: tasks as unknown as JsonValue } };
  }),
  noteToolOf(operations),
  finishToolOf((report, key) => operations.finish(report, key)),
];
