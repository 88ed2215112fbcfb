import { z } from 'zod';
import { finishToolOf, readTools } from './common-tools.ts';
import type { WorkerOperations } from './operations.ts';
import { outcomeAnswer } from './outcome-answer.ts';
import { bindTool, defineTool, type Tool } from './tool.ts';

/** Shared with the merger's `resolve`. */
export const contentFields = {
  path: z.string().min(1),
  content: z.string().nullable().optional().describe('The whole new text; null deletes the file.'),
  encoding: z.literal('base64').optional().describe('Where content is no text but bytes in base64.'),
  contentRef: z.string().optional().describe('Instead of content: a reference to bytes that the run holds.'),
  mode: z.enum(['file', 'executable', 'symlink', 'gitlink']).optional(),
} as const;

const commitTool = defineTool(
  'commit',
  'Land changes of whole files as one atomic commit. It lands, is merged with what others landed, or is kept as a conflict.',
  z.strictObject({
    changes: z
      .array(
        z.strictObject({
          ...contentFields,
          expect: z
            .union([z.int().min(1), z.literal('absent')])
            .optional()
            .describe('Version that the change is based on; default the one in your snapshot.'),
        }),
      )
      .min(1),
    message: z.string().min(1),
    rationale: z.string().optional().describe('Why, where the message does not say it.'),
    breakage: z.string().optional().describe('Reason for a change outside of your scope.'),
    more: z.boolean().default(false).describe('True while further commits of this task follow.'),
  }),
);

const flagTool = defineTool(
  'flag',
  'Mark a file as too large or too contended; work on it is then handed out one task at a time.',
  z.strictObject({ path: z.string().min(1), reason: z.string().min(1) }),
);

export const workerTools = (operations: WorkerOperations): Tool[] => [
  ...readTools(operations),
  bindTool(commitTool, async (request) => outcomeAnswer(await operations.commit(request))),
  bindTool(flagTool, async ({ path, reason }) => {
    const seq = await operations.flag(path, reason);
    return { ok: true, says: `flagged ${path}`, more: { seq } };
  }),
  finishToolOf((report) => operations.finish(report)),
];
