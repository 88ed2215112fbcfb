import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { z } from 'zod';
import type { JsonValue } from '../../core/json.ts';

const stepBytesMax = 16 * 1024 * 1024;

const schema = z.strictObject({
  /** Of the commit. */
  message: z.string().min(1).optional(),
  text: z.string().optional(),
  calls: z.array(z.strictObject({ name: z.string().min(1), arguments: z.custom<JsonValue>().default({}) })).optional(),
  usage: z
    .strictObject({
      inputTokens: z.number().min(0),
      outputTokens: z.number().min(0),
      cachedTokens: z.number().min(0).default(0),
    })
    .optional(),
  costUsd: z.number().min(0).optional(),
});

/** What a command, a person or another program says of its next step. */
export type Step = z.output<typeof schema>;

export const stepForm =
  '{"message"?: of the commit, "text"?: string, "calls"?: [{"name": tool, "arguments": {…}}], "usage"?: {"inputTokens", "outputTokens", "cachedTokens"?}, "costUsd"?: number}';

export type ReadStep = { readonly step: Step } | { readonly fault: string };

export function parseStep(text: string): ReadStep {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return { fault: `it is no JSON: ${error instanceof Error ? error.message : String(error)}` };
  }
  const parsed = schema.safeParse(value);
  if (parsed.success) return { step: parsed.data };
  const [issue] = parsed.error.issues;
  return { fault: `${issue?.path.join('.') || 'the whole'}: ${issue?.message}; its form is ${stepForm}` };
}

/** undefined where there is no such file, or a link in its place. */
export async function readStep(path: string): Promise<ReadStep | undefined> {
  let file;
  try {
    // Does not wait where somebody made a pipe of it, and goes through no link.
    file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
  } catch {
    return undefined;
  }
  try {
    const stats = await file.stat();
    const { size } = stats;
    if (!stats.isFile()) return { fault: 'it is no file' };
    if (size > stepBytesMax) return { fault: `it has ${size} bytes; ${stepBytesMax} are the most` };
    return parseStep(await file.readFile('utf8'));
  } finally {
    await file.close();
  }
}
