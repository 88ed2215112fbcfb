import { resolve } from 'node:path';
import { z } from 'zod';
import type { Repo } from '@mound/vcs';
import type { PriceOverride } from '../cost/prices.ts';
import { CassetteWriter, RecordingModel } from '../model/cassette/recording-model.ts';
import { ReplayModel } from '../model/cassette/replay-model.ts';
import { CommandModel } from '../model/command/command-model.ts';
import { FallbackModel } from '../model/fallback-model.ts';
import { Endpoints } from '../model/gate/endpoints.ts';
import { MailboxModel } from '../model/mailbox-model.ts';
import { ModelError } from '../model/model-error.ts';
import type { Model } from '../model/model.ts';
import { OpenAiModel } from '../model/openai-model.ts';
import { RepoDirectories } from './repo-directories.ts';

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

const mix = z.strictObject({
  endpoints: z
    .record(
      name,
      z.strictObject({
        baseURL: z.url({ protocol: /^https?$/ }),
        /** NAME of the environment variable that holds the key. */
        apiKeyEnv: name.optional(),
        concurrencyMax: count.optional(),
      }),
    )
    .default({}),
  models: z.record(name, model),
  /** Which of `models` serves which role; without a merger conflicts stay open. */
  roles: z.strictObject({ planner: name, worker: name, merger: name.optional() }),
  prices: z.array(price).default([]),
  /** A cassette into which everything is recorded. */
  record: name.optional(),
});

/** Which model serves which role, as data: what `--models FILE` holds. */
export type Mix = z.output<typeof mix>;
export type MixModel = Mix['models'][string];

/** Relative paths start at `dir`. Throws `TypeError` with the first field that is wrong; unknown fields are. */
export function parseMix(value: unknown, dir: string): Mix {
  const parsed = mix.safeParse(value);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw new TypeError(`${issue?.path.join('.') || 'the whole'}: ${issue?.message}`);
  }
  const { models, endpoints, roles } = parsed.data;
  for (const [role, wanted] of Object.entries(roles)) {
    if (wanted !== undefined && models[wanted] === undefined)
      throw new TypeError(`roles.${role}: there is no model '${wanted}'`);
  }
  for (const [key, one] of Object.entries(models)) {
    if (one.kind === 'endpoint' && endpoints[one.endpoint] === undefined) {
      throw new TypeError(`models.${key}.endpoint: there is no endpoint '${one.endpoint}'`);
    }
    const strange = one.fallbacks.find((other) => models[other] === undefined || other === key);
    if (strange !== undefined) throw new TypeError(`models.${key}.fallbacks: '${strange}' is no other model`);
  }
  const entries = Object.entries(models).map(([key, one]): [string, MixModel] => [key, withPaths(one, dir)]);
  const { record, ...rest } = parsed.data;
  return {
    ...rest,
    models: Object.fromEntries(entries),
    ...(record !== undefined && { record: resolve(dir, record) }),
  };
}

function withPaths(one: MixModel, dir: string): MixModel {
  switch (one.kind) {
    case 'endpoint':
      return one;
    case 'command':
      return one.dir === undefined ? one : { ...one, dir: resolve(dir, one.dir) };
    case 'mailbox':
      return { ...one, dir: resolve(dir, one.dir) };
    case 'replay':
      return { ...one, file: resolve(dir, one.file) };
  }
}

/** Throws `key-missing` where a variable that an endpoint names holds no key. */
export function mustKeys({ endpoints }: Mix): void {
  for (const { apiKeyEnv, baseURL } of Object.values(endpoints)) {
    if (apiKeyEnv === undefined || process.env[apiKeyEnv]) continue;
    throw new ModelError('key-missing', `the environment variable ${apiKeyEnv} holds no key for ${baseURL}`);
  }
}

export interface MixParts {
  readonly repo: Repo;
  readonly endpoints?: Endpoints;
}

export interface ReadyMix {
  readonly models: Readonly<Record<string, Model>>;
  readonly prices: readonly PriceOverride[];
}

/** The models of a mix, by role. Errors: `key-missing`; `TypeError` where a file is not what it should be. */
export function makeModels(mixture: Mix, parts: MixParts): ReadyMix {
  const { roles, models, prices, record } = mixture;
  const endpoints = parts.endpoints ?? new Endpoints();
  // One for each name, so that roles share it.
  const made = new Map<string, Model>();
  const make = (key: string): Model => {
    const known = made.get(key);
    if (known !== undefined) return known;
    const one = models[key];
    if (one === undefined) throw new Error(`no model ${key}`);
    const fresh = makeModel(key, one, mixture, endpoints, parts.repo);
    made.set(key, fresh);
    return fresh;
  };
  const cassette = record === undefined ? undefined : new CassetteWriter(record);
  const serving = (key: string): Model => {
    const first = make(key);
    const others = (models[key]?.fallbacks ?? []).map(make);
    const whole = others.length === 0 ? first : new FallbackModel([first, ...others]);
    return cassette === undefined ? whole : new RecordingModel(whole, cassette);
  };
  const byRole = Object.entries(roles).flatMap(([role, key]) =>
    key === undefined ? [] : [[role, serving(key)] as const],
  );
  return { models: Object.fromEntries(byRole), prices };
}

function makeModel(key: string, one: MixModel, mixture: Mix, endpoints: Endpoints, repo: Repo): Model {
  switch (one.kind) {
    case 'endpoint': {
      const at = mixture.endpoints[one.endpoint];
      if (at === undefined) throw new Error(`no endpoint ${one.endpoint}`);
      return new OpenAiModel({ ...endpointOptions(one, at), endpoints });
    }
    case 'command': {
      const [file = '', ...args] = one.command;
      const limits = { ...given('seconds', one.seconds), ...given('outputBytesMax', one.outputBytesMax) };
      return new CommandModel({
        name: key,
        command: [file, ...args],
        workspaces: new RepoDirectories(repo),
        limits,
        ...(one.env && { env: one.env }),
        ...(one.budgetUsd !== undefined && { budgetUsd: one.budgetUsd }),
        ...(one.runsMax !== undefined && { runsMax: one.runsMax }),
        ...(one.dir !== undefined && { dir: one.dir }),
      });
    }
    case 'mailbox':
      return new MailboxModel({ name: key, dir: one.dir, ...given('answerMs', one.answerSeconds, 1000) });
    case 'replay':
      return ReplayModel.from(one.file);
  }
}

type EndpointModel = Extract<MixModel, { kind: 'endpoint' }>;

/** For the doctor, too. */
export function endpointOptions(
  one: EndpointModel,
  at: Mix['endpoints'][string],
): ConstructorParameters<typeof OpenAiModel>[0] {
  const { quirks: own = {}, parameters, streaming } = one;
  const set = Object.fromEntries(Object.entries(own).filter(([, value]) => value !== undefined));
  return {
    baseURL: at.baseURL,
    model: one.model,
    quirks: set,
    ...(at.apiKeyEnv !== undefined && { apiKeyEnv: at.apiKeyEnv }),
    ...(at.concurrencyMax !== undefined && { gate: { concurrencyMax: at.concurrencyMax } }),
    ...(parameters && { parameters }),
    ...(streaming !== undefined && { streaming }),
    ...given('contextTokens', one.contextTokens),
    ...given('outputTokensMax', one.outputTokensMax),
    ...given('firstMs', one.firstSeconds, 1000),
    ...given('idleMs', one.idleSeconds, 1000),
    ...given('totalMs', one.totalSeconds, 1000),
    ...(one.attemptsMax !== undefined && { retry: { attemptsMax: one.attemptsMax } }),
  };
}

/** A field where there is a value for it. */
const given = <Key extends string>(key: Key, value: number | undefined, factor = 1): { readonly [K in Key]?: number } =>
  (value === undefined ? {} : { [key]: value * factor }) as { readonly [K in Key]?: number };
