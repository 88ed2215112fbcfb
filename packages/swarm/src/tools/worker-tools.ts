import { z } from 'zod';
import type { JsonObject } from '../core/json.ts';
import { sayBreakages } from './breakage-text.ts';
import { finishToolOf, noteToolOf, readTools } from './common-tools.ts';
import type { Edited, Refusal, RunAnswer, WorkerOperations } from './operations.ts';
import { outcomeAnswer } from './outcome-answer.ts';
import { bindTool, defineTool, refusalAnswer, type Tool, type ToolAnswer } from './tool.ts';

/** Shared with the merger's `resolve`. */
export const contentFields = {
  path: z.string().min(1),
  content: z.string().nullable().optional().describe('The whole new text; null deletes the file.'),
  encoding: z.literal('base64').optional().describe('Where content is no text but bytes in base64.'),
  contentRef: z.string().optional().describe('Instead of content: a reference to bytes that the run holds.'),
  mode: z.enum(['file', 'executable', 'symlink', 'gitlink']).optional(),
} as const;

const fileVersion = z.int().min(1);

const editTool = defineTool(
  'edit',
  'Replace exact text in a file that you have read. Each search text has to stand there exactly once; otherwise nothing is changed. The edit is kept; commit or finish lands it.',
  z.strictObject({
    path: z.string().min(1),
    version: z.int().min(0).describe('The version that read gave.'),
    edits: z.array(z.strictObject({ search: z.string().min(1), replace: z.string() })).min(1),
  }),
);

const writeTool = defineTool(
  'write',
  'Write a whole file, new or in place of one that you have read. The edit is kept; commit or finish lands it.',
  z.strictObject({
    ...contentFields,
    expect: z
      .union([fileVersion, z.literal('absent')])
      .optional()
      .describe('The version that read gave; needed where the file exists.'),
  }),
);

const patchTool = defineTool(
  'patch',
  'Change files by a patch: *** Begin Patch, then *** Add File: P, *** Delete File: P or *** Update File: P with @@ chunks of " ", "-" and "+" lines, then *** End Patch. All of it is applied, or nothing.',
  z.strictObject({ patch: z.string().min(1) }),
);

const runTool = defineTool(
  'run',
  'Run a shell command in a directory of your own with your snapshot and your edits. What it prints comes back, cut in the middle where it is long.',
  z.strictObject({
    command: z.string().min(1),
    timeoutMs: z.int().min(100).optional(),
    keep: z
      .array(z.string().min(1))
      .default([])
      .describe('Files or directories whose changes by the command become your edits; others are put back.'),
  }),
);

const commitTool = defineTool(
  'commit',
  'Land your edits, and changes of whole files given here, as one atomic commit. It lands, is merged with what others landed, or is kept as a conflict.',
  z.strictObject({
    changes: z
      .array(
        z.strictObject({
          ...contentFields,
          expect: z
            .union([fileVersion, z.literal('absent')])
            .optional()
            .describe('Version that the change is based on; default the one in your snapshot.'),
        }),
      )
      .optional(),
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

const claimTool = defineTool(
  'claim',
  'Claim a piece of the work by name before you begin it. One of all your peers gets it.',
  z.strictObject({ topic: z.string().min(1).max(200) }),
);

const boardTool = defineTool('board', 'See what your peers have claimed.', z.strictObject({}));

function editedAnswer(answer: Edited | Refusal): ToolAnswer {
  if (answer.kind === 'refused') return refusalAnswer(answer);
  const paths = answer.paths.map((path) => ({ ...path }));
  return { ok: true, says: `edited ${paths.map(({ path }) => path).join(', ')}; not landed yet`, more: { paths } };
}

function ranAnswer(answer: RunAnswer | Refusal): ToolAnswer {
  if (answer.kind === 'refused') return refusalAnswer(answer);
  const { code, how, kept, dropped, output, ms, seq, breakages } = answer;
  const notes = [
    ...sayBreakages(breakages),
    ...(kept.length > 0 ? [`now your edits: ${kept.join(', ')}`] : []),
    ...(dropped.length > 0 ? [`changed by the command and put back: ${dropped.join(', ')} (name them in keep)`] : []),
  ];
  const why = breakages.map((found) => ({ ...found }));
  const more: JsonObject = {
    ...(code !== undefined && { code }),
    ms,
    seq,
    output,
    ...(why.length > 0 && { breakages: why }),
  };
  return { ok: code === 0, says: [how, ...notes].join('; '), more };
}

export const workerTools = (operations: WorkerOperations): Tool[] => [
  ...readTools(operations),
  bindTool(editTool, async (request, key) => editedAnswer(await operations.edit(request, key))),
  bindTool(writeTool, async (request, key) => editedAnswer(await operations.write(request, key))),
  bindTool(patchTool, async ({ patch }, key) => editedAnswer(await operations.patch(patch, key))),
  bindTool(runTool, async ({ timeoutMs, ...request }, key) =>
    ranAnswer(await operations.run({ ...request, timeoutMs }, key)),
  ),
  bindTool(commitTool, async ({ changes = [], ...request }, key) =>
    outcomeAnswer(await operations.commit({ ...request, changes }, key)),
  ),
  bindTool(flagTool, async ({ path, reason }) => {
    const seq = await operations.flag(path, reason);
    return { ok: true, says: `flagged ${path}`, more: { seq } };
  }),
  noteToolOf(operations),
  bindTool(claimTool, async ({ topic }) => {
    const refusal = await operations.claim(topic);
    return refusal === undefined ? { ok: true, says: `'${topic}' is yours` } : refusalAnswer(refusal);
  }),
  bindTool(boardTool, () => {
    const claims = operations.board().map((claim) => ({ ...claim }));
    return { ok: true, says: `${claims.length} claims`, more: { claims } };
  }),
  finishToolOf((report, key) => operations.finish(report, key)),
];
