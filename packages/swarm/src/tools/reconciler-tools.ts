import { z } from 'zod';
import { finishToolOf, noteToolOf, readTools } from './common-tools.ts';
import { readConflictToolOf } from './merger-tools.ts';
import type { ReconcilerOperations } from './operations.ts';
import { decisionFields } from './planner-tools.ts';
import { bindTool, defineTool, refusalAnswer, type Tool } from './tool.ts';
import { contentFields } from './worker-tools.ts';

const settleTool = defineTool(
  'settle',
  'Settle your contradiction: one decision that takes the place of those that clash. It lands as a design document; files that cite what it supersedes become tasks by themselves.',
  z.strictObject({
    decision: z.strictObject(decisionFields),
    results: z
      .array(z.strictObject(contentFields))
      .default([])
      .describe('The files that were fought over, as the decision wants them.'),
    tasks: z
      .array(
        z.strictObject({
          title: z.string().min(1),
          scope: z.array(z.string().min(1)).min(1),
          brief: z.string().min(1),
        }),
      )
      .max(20)
      .default([])
      .describe('What else has to follow it.'),
  }),
);

export const reconcilerTools = (operations: ReconcilerOperations): Tool[] => [
  ...readTools(operations),
  readConflictToolOf(operations),
  bindTool(settleTool, async (request, key) => {
    const answer = await operations.settle(request, key);
    if (answer.kind === 'refused') return refusalAnswer(answer);
    const { seq, tasks } = answer;
    const says = `settled as seq ${seq}; ${tasks.length} tasks follow it; both sides are told. Call finish`;
    return { ok: true, says, more: { seq, tasks } };
  }),
  noteToolOf(operations),
  finishToolOf((report, key) => operations.finish(report, key)),
];
