import { z } from 'zod';
import { editForms } from '../model/wire/quirks.ts';

const name = z.string().min(1);
const seconds = z.number().positive();
const count = z.int().min(1);
const fallbacks = z.array(name).default([]);

const quirks = z.strictObject({
  streamUsage: z.boolean().optional(),
  cachedReport: z.enum(['inclusive', 'separate', 'auto']).optional(),
  reasoning: z.enum(['strip', 'echo', 'echo-with-calls']).optional(),
  echoedFields: z.array(name).optional(),
  salvageCalls: z.boolean().optional(),
  callIds: z.enum(['any', 'nine-alphanumeric']).optional(),
  maxTokensField: z.enum(['max_tokens', 'max_completion_tokens']).optional(),
  emptyContent: z.enum(['null', 'empty']).optional(),
  edits: z.array(z.enum(editForms)).min(1).optional(),
});

const endpoint = z.strictObject({
  baseURL: z.url({ protocol: /^https?$/ }),
  /** NAME of the environment variable that holds the key. */
  apiKeyEnv: name.optional(),
  concurrencyMax: count.optional(),
});

const model = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('endpoint'),
    /** One of `endpoints`. */
    endpoint: name,
    model: name,
    fallbacks,
    contextTokens: count.optional(),
    outputTokensMax: count.optional(),
    streaming: z.boolean().optional(),
    parameters: z.record(z.string(), z.unknown()).optional(),
    quirks: quirks.optional(),
    firstSeconds: seconds.optional(),
    idleSeconds: seconds.optional(),
    totalSeconds: seconds.optional(),
    attemptsMax: count.optional(),
  }),
  z.strictObject({
    kind: z.literal('command'),
    command: z.array(z.string()).min(1),
    fallbacks,
    env: z.array(name).optional(),
    seconds: seconds.optional(),
    outputBytesMax: count.optional(),
    budgetUsd: z.number().min(0).optional(),
    runsMax: count.optional(),
    dir: name.optional(),
  }),
  z.strictObject({ kind: z.literal('mailbox'), dir: name, fallbacks, answerSeconds: seconds.optional() }),
  /** A module whose default export holds a script for each role. */
  z.strictObject({ kind: z.literal('scripted'), module: name, fallbacks }),
  z.strictObject({ kind: z.literal('replay'), file: name, fallbacks }),
]);

const price = z.strictObject({
  model: name,
  endpoint: name.optional(),
  from: z.string().optional(),
  input: z.number().min(0),
  output: z.number().min(0),
  cached: z.number().min(0).optional(),
  cacheWrite: z.number().min(0).optional(),
});

/** Which mind serves which role, and what it costs. */
export const mindFields = {
  endpoints: z.record(name, endpoint).default({}),
  models: z.record(name, model).default({}),
  /** Which of `models` serves which role; without a merger conflicts stay open. */
  roles: z
    .strictObject({
      planner: name.optional(),
      worker: name.optional(),
      merger: name.optional(),
      /** Default: the merger's. */
      reconciler: name.optional(),
      /** Default: the worker's. */
      decomposer: name.optional(),
      /** Of lenses that name no model of their own. Default: the merger's, else the worker's. */
      reviewer: name.optional(),
      /** Default: the worker's. */
      peer: name.optional(),
    })
    .prefault({}),
  prices: z.array(price).default([]),
  /** A cassette into which everything is recorded. */
  record: name.optional(),
};

const minds = z.strictObject(mindFields);

export type Minds = z.output<typeof minds>;
export type MindModel = Minds['models'][string];

/** What the form alone does not say: names that stand for nothing. One line, or undefined. */
export function faultOfMinds({ models, endpoints, roles }: Minds): string | undefined {
  for (const [role, wanted] of Object.entries(roles)) {
    if (wanted !== undefined && models[wanted] === undefined) return `roles.${role}: there is no model '${wanted}'`;
  }
  for (const [key, one] of Object.entries(models)) {
    if (one.kind === 'endpoint' && endpoints[one.endpoint] === undefined)
      return `models.${key}.endpoint: there is no endpoint '${one.endpoint}'`;
    const strange = one.fallbacks.find((other) => models[other] === undefined || other === key);
    if (strange !== undefined) return `models.${key}.fallbacks: '${strange}' is no other model`;
  }
  return undefined;
}
