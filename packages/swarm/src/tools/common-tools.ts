import { z } from 'zod';
import type { HandoffReport, NoteOperations, ReadOperations, Refusal } from './operations.ts';
import { outcomeAnswer } from './outcome-answer.ts';
import { bindTool, defineTool, fail, refusalAnswer, type Tool } from './tool.ts';

/** Lines of a file in one answer where the call names no number. */
const linesDefault = 2000;

const readTool = defineTool(
  'read',
  'Read a text file of your snapshot. Gives its version, on which a change of it is to be based.',
  z.strictObject({
    path: z.string().min(1),
    from: z.int().min(1).optional().describe('First line, from 1.'),
    lines: z.int().min(1).optional().describe(`Number of lines; default ${linesDefault}.`),
  }),
);

const listTool = defineTool(
  'list',
  'List the files of your snapshot below a directory.',
  z.strictObject({ prefix: z.string().default('').describe('A directory such as src; empty for all.') }),
);

const hitsDefault = 100;

const searchTool = defineTool(
  'search',
  'Find text in the files of your snapshot. Gives path, line and the line itself.',
  z.strictObject({
    pattern: z.string().min(1),
    regex: z.boolean().default(false).describe('The pattern is a regular expression, matched within a line.'),
    ignoreCase: z.boolean().default(false),
    prefix: z.string().default('').describe('A directory or file; empty for all.'),
    hits: z.int().min(1).max(2000).default(hitsDefault),
  }),
);

const noteTool = defineTool(
  'note',
  'Put what surprised you, and will surprise the next one, into the Field Guide, whose index every agent reads at its start. At any time; it lands by itself.',
  z.strictObject({
    symptom: z.string().min(1).max(200).describe('What one sees.'),
    cause: z.string().min(1).max(400),
    do: z.string().min(1).max(200).describe('What to do then.'),
    evidence: z
      .array(z.string().min(1))
      .min(1)
      .describe(
        'Files that show it: PATH, PATH@VERSION, or PATH@VERSION#NAME for what names a symbol. The entry counts as doubtful once they change.',
      ),
    remove: z
      .array(z.string().min(1))
      .default([])
      .describe('Entries that help nobody, by the name of their file without .md.'),
  }),
);

const lines = z.array(z.string()).default([]);

const finishTool = defineTool(
  'finish',
  'Report and end. done is accepted only where the store has your work.',
  z.strictObject({
    status: z.enum(['done', 'nothing-to-do', 'partial', 'blocked']),
    verifiedBy: lines.describe('Commands or checks that you ran, with their result.'),
    concerns: lines,
    findings: lines,
    debts: lines.describe('What you left for later.'),
    deviations: lines.describe('Where you did otherwise than the brief says.'),
    outOfScope: lines.describe('What should be done outside of your scope.'),
  }),
);

/** The lines from `from`, with their ends kept. */
function sliceLines(text: string, from: number, count: number): { readonly part: string; readonly total: number } {
  const all = text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
  return { part: all.slice(from - 1, from - 1 + count).join(''), total: all.length };
}

export function readTools(operations: ReadOperations): Tool[] {
  return [
    bindTool(readTool, ({ path, from = 1, lines: count = linesDefault }) => {
      const file = operations.read(path);
      const went = operations.whereabouts(path);
      if (file === undefined)
        return fail(went ?? `${path} does not exist in your snapshot. Call list to see what does.`);
      const { version, mode, size, text, edited } = file;
      operations.noteRead([path]);
      const own = { ...(edited && { edited }), ...(went !== undefined && { went }) };
      if (text === undefined) return { ok: true, says: 'a binary file', more: { path, version, mode, size, ...own } };
      const { part, total } = sliceLines(text, from, count);
      const says =
        part.length === text.length ? 'the whole file' : `lines ${from} to ${Math.min(total, from - 1 + count)}`;
      return { ok: true, says, more: { path, version, mode, lines: total, ...own, text: part } };
    }),
    bindTool(listTool, ({ prefix }) => {
      const files = operations.list(prefix).map(({ path, version, size }) => ({ path, version, size }));
      return { ok: true, says: `${files.length} files`, more: { files } };
    }),
    bindTool(searchTool, async ({ hits: hitsMax, ...request }) => {
      const answer = await operations.search({ ...request, hitsMax });
      if (answer.kind === 'refused') return refusalAnswer(answer);
      const hits = answer.hits.map((hit) => ({ ...hit }));
      const says = answer.isCut
        ? `the first ${hits.length} hits; narrow it by prefix or pattern for others`
        : `${hits.length} hits in ${answer.files} files`;
      return { ok: true, says, more: { hits } };
    }),
  ];
}

export const noteToolOf = (operations: NoteOperations): Tool =>
  bindTool(noteTool, async ({ do: remedy, ...request }, key) =>
    outcomeAnswer(await operations.note({ ...request, remedy }, key)),
  );

export const finishToolOf = (finish: (report: HandoffReport, key: string) => Promise<Refusal | undefined>): Tool =>
  bindTool(finishTool, async (report, key) => {
    const refusal = await finish(report, key);
    return refusal === undefined ? { ok: true, says: 'ended', ends: 'finished' } : refusalAnswer(refusal);
  });
