import { z } from 'zod';
import type { Finding } from '../core/lens.ts';
import { noteToolOf, readTools } from './common-tools.ts';
import type { ReviewerOperations } from './operations.ts';
import { withoutUndefined } from './planner-tools.ts';
import { bindTool, defineTool, refusalAnswer, type Tool } from './tool.ts';

const verdictTool = defineTool(
  'verdict',
  'Give your verdict and end. Each finding with its evidence; none where you find nothing.',
  z.strictObject({
    findings: z.array(
      z.strictObject({
        severity: z.enum(['blocking', 'minor']).describe('blocking: it is wrong and must not stay as it is.'),
        path: z.string().min(1),
        from: z.int().min(1).optional().describe('First line in the new file.'),
        to: z.int().min(1).optional(),
        claim: z.string().min(1).max(2000).describe('What is wrong.'),
        evidence: z
          .string()
          .min(1)
          .max(4000)
          .describe('What shows it: the line quoted, an input and what comes of it, a command and its output.'),
      }),
    ),
  }),
);

/** Those that read are there only for a lens that sees the codebase: others do not hold them. */
export const reviewerTools = (operations: ReviewerOperations): Tool[] => [
  ...readTools(operations),
  noteToolOf(operations),
  bindTool(verdictTool, async ({ findings }, key) => {
    const found = findings.map((finding): Finding => withoutUndefined(finding));
    const refusal = await operations.verdict({ findings: found }, key);
    return refusal === undefined ? { ok: true, says: 'ended', ends: 'finished' } : refusalAnswer(refusal);
  }),
];
