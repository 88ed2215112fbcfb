import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { JsonObject, JsonValue } from '../../core/json.ts';

/**
 * A cassette is a file of JSON lines: a header, each message once, and for each
 * answer the messages that it answered and what it was. Lines are only ever
 * appended; one that a crash cut off is left out.
 */
export const cassetteFormat = 1;

const json = z.custom<JsonValue>();
const usage = z.object({
  inputTokens: z.number(),
  outputTokens: z.number(),
  cachedTokens: z.number(),
  cacheWriteTokens: z.number().optional(),
  estimated: z.boolean(),
});
const spend = z.object({
  model: z.string(),
  endpoint: z.string().optional(),
  usage: usage.optional(),
  costUsd: z.number().optional(),
});
const turn = z.object({
  text: z.string(),
  calls: z.array(z.object({ name: z.string(), arguments: json, fault: z.string().optional() })),
  usage,
  finish: z.enum(['stop', 'length', 'other']),
  spent: z.array(spend).optional(),
});
const failure = z.object({
  code: z.string(),
  message: z.string(),
  contextTokens: z.number().optional(),
  spent: z.array(spend),
});

const line = z.union([
  z.object({ cassette: z.literal(cassetteFormat) }),
  z.object({ id: z.string(), message: z.custom<JsonObject>() }),
  z.object({
    role: z.string(),
    model: z.string(),
    messages: z.array(z.string()),
    turn: turn.optional(),
    failure: failure.optional(),
  }),
]);

export type RecordedTurn = z.output<typeof turn>;
export type RecordedFailure = z.output<typeof failure>;
export interface RecordedAnswer {
  readonly role: string;
  readonly model: string;
  readonly messages: readonly string[];
  readonly turn?: RecordedTurn | undefined;
  readonly failure?: RecordedFailure | undefined;
}

export const messageId = (message: JsonObject): string =>
  createHash('sha256').update(JSON.stringify(message)).digest('hex').slice(0, 20);

/** By content: who asked, and when, has no part in it. */
export const requestKey = (role: string, messages: readonly string[]): string => `${role} ${messages.join(' ')}`;

export interface Cassette {
  readonly messages: ReadonlyMap<string, JsonObject>;
  readonly answers: readonly RecordedAnswer[];
}

/** Throws `TypeError` where it is no cassette, with the line. */
export function parseCassette(text: string): Cassette {
  const messages = new Map<string, JsonObject>();
  const answers: RecordedAnswer[] = [];
  const lines = text.split('\n');
  // Cut off by a crash, or empty after the last line's end.
  lines.pop();
  if (lines.length === 0) throw new TypeError('the cassette is empty');
  for (const [at, written] of lines.entries()) {
    let value: unknown;
    try {
      value = JSON.parse(written);
    } catch {
      throw new TypeError(`line ${at + 1} of the cassette is no JSON`);
    }
    const parsed = line.safeParse(value);
    if (!parsed.success || (at === 0) !== 'cassette' in parsed.data) {
      throw new TypeError(`line ${at + 1} of the cassette is not of format ${cassetteFormat}`);
    }
    if ('id' in parsed.data) messages.set(parsed.data.id, parsed.data.message);
    else if ('messages' in parsed.data) answers.push(parsed.data);
  }
  return { messages, answers };
}
