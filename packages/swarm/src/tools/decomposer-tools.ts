import { z } from 'zod';
import { finishToolOf, noteToolOf, readTools } from './common-tools.ts';
import type { DecomposerOperations } from './operations.ts';
import { bindTool, defineTool, refusalAnswer, type Tool } from './tool.ts';

const line = z.int().min(1);

const splitTool = defineTool(
  'split',
  'Split your file into modules, as one commit. Edits that others based on the file as it was are led, line by line, to where its lines went.',
  z.strictObject({
    modules: z.array(z.strictObject({ path: z.string().min(1), content: z.string() })).min(1),
    remains: z.string().nullable().describe('What stays under the old path, such as re-exports; null: nothing.'),
    message: z.string().optional(),
    ranges: z
      .array(z.strictObject({ start: line, count: line, path: z.string().min(1), toStart: line }))
      .optional()
      .describe('Which lines of the file went to which lines of a module; default: found by comparing.'),
  }),
);

export const decomposerTools = (operations: DecomposerOperations): Tool[] => [
  ...readTools(operations),
  bindTool(splitTool, async (request, key) => {
    const answer = await operations.split(request, key);
    if (answer.kind === 'refused') return refusalAnswer(answer);
    const { seq, retargeted } = answer;
    const counts = Object.entries(retargeted).map(([outcome, count]) => `${count} ${outcome}`);
    const waited = counts.length === 0 ? 'nothing waited' : `of what waited: ${counts.join(', ')}`;
    return { ok: true, says: `split as seq ${seq}; ${waited}. Call finish`, more: { seq, retargeted } };
  }),
  noteToolOf(operations),
  finishToolOf((report, key) => operations.finish(report, key)),
];
