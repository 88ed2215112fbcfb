import { z } from 'zod';
import type { HunkAccount, HunkFate } from '@mound/vcs';
import type { JsonValue } from '../core/json.ts';
import { finishToolOf, noteToolOf } from './common-tools.ts';
import type { MergerOperations } from './operations.ts';
import { outcomeAnswer } from './outcome-answer.ts';
import { bindTool, defineTool, refusalAnswer, type Tool } from './tool.ts';
import { contentFields } from './worker-tools.ts';

const readConflictTool = defineTool(
  'read_conflict',
  'Read a conflict: for each path base, current and incoming, and the lines in which they differ.',
  z.strictObject({ conflict: z.string().min(1) }),
);

const because = z
  .discriminatedUnion('kind', [
    z.strictObject({ kind: z.literal('decision'), id: z.string().min(1) }),
    z.strictObject({ kind: z.literal('identical'), path: z.string().min(1) }),
    z.strictObject({ kind: z.literal('check'), command: z.string().min(1), finding: z.string().min(1) }),
  ])
  .describe('What a discard rests on: a decision, a file where the same stands, or a check that fails with the hunk.');

const account = z.strictObject({
  path: z.string(),
  side: z.enum(['current', 'incoming']),
  hunk: z.int().min(0),
  fate: z.enum(['kept', 'transformed', 'discarded']),
  reason: z.string().optional(),
  because: because.optional(),
});

const resolveTool = defineTool(
  'resolve',
  'Close your conflict with one result for each conflicted path and an account of each hunk.',
  z.strictObject({
    conflict: z.string().min(1),
    results: z.array(z.strictObject(contentFields)).min(1),
    accounts: z.array(account).optional(),
    otherwise: z
      .strictObject({
        fate: z.enum(['transformed', 'discarded']),
        reason: z.string().min(1),
        because: because.optional(),
      })
      .optional()
      .describe('For every hunk that accounts does not name and that is not to be seen in the results.'),
    message: z.string().optional(),
    rationale: z.string().optional(),
  }),
);

type LooseFate = { readonly [K in keyof HunkFate]: HunkFate[K] | undefined } & Pick<HunkFate, 'fate'>;

/** A field that was not given is not there. */
const fateOf = ({ fate, reason, because: cause }: LooseFate): HunkFate => ({
  fate,
  ...(reason !== undefined && { reason }),
  ...(cause !== undefined && { because: cause }),
});

/** Shared with the reconciler. */
export const readConflictToolOf = (operations: Pick<MergerOperations, 'readConflict'>): Tool =>
  bindTool(readConflictTool, ({ conflict }) => {
    const details = operations.readConflict(conflict);
    if ('kind' in details) return refusalAnswer(details);
    return {
      ok: true,
      says: `${details.state}, ${details.paths.length} paths`,
      more: { ...(details as unknown as Record<string, JsonValue>) },
    };
  });

export const mergerTools = (operations: MergerOperations): Tool[] => [
  readConflictToolOf(operations),
  bindTool(resolveTool, async ({ accounts, otherwise, ...request }, key) => {
    const accounted = accounts?.map(({ path, side, hunk, ...said }): HunkAccount => ({
      path,
      side,
      hunk,
      ...fateOf(said),
    }));
    const rest = otherwise && fateOf(otherwise);
    return outcomeAnswer(await operations.resolve({ ...request, accounts: accounted, otherwise: rest }, key));
  }),
  noteToolOf(operations),
  finishToolOf((report, key) => operations.finish(report, key)),
];
