import { tmpdir } from 'node:os';
import type { Repo } from '@mound/vcs';
import { environmentFor } from '../command/environment.ts';
import { privateCaches } from '../command/tool-caches.ts';
import type { PriceOverride } from '../cost/prices.ts';
import { CassetteWriter, RecordingModel } from '../model/cassette/recording-model.ts';
import { ReplayModel } from '../model/cassette/replay-model.ts';
import { CommandModel } from '../model/command/command-model.ts';
import { FallbackModel } from '../model/fallback-model.ts';
import { defaultGatePolicy } from '../model/gate/gate.ts';
import { Endpoints } from '../model/gate/endpoints.ts';
import { MailboxModel } from '../model/mailbox-model.ts';
import { ModelError } from '../model/model-error.ts';
import type { Model } from '../model/model.ts';
import { loadTracer } from '../core/tracer.ts';
import { TracedModel } from '../model/traced-model.ts';
import { OpenAiModel } from '../model/openai-model.ts';
import { ScriptedModel, type Script } from '../model/scripted-model.ts';
import { ArtefactShelf } from '../runtime/artefact-shelf.ts';
import { RepoDirectories } from '../runtime/repo-directories.ts';
import type { EffectiveConfig } from './config.ts';
import { loadModule } from './load.ts';
import type { MindModel, Minds } from './minds.ts';

/** Throws `key-missing` where a variable that an endpoint names holds no key. */
export function mustKeys({ endpoints }: Pick<Minds, 'endpoints'>): void {
  for (const { apiKeyEnv, baseURL } of Object.values(endpoints)) {
    if (apiKeyEnv === undefined || process.env[apiKeyEnv]) continue;
    throw new ModelError('key-missing', `the environment variable ${apiKeyEnv} holds no key for ${baseURL}`);
  }
}

export interface ReadyMinds {
  readonly models: Readonly<Record<string, Model>>;
  readonly prices: readonly PriceOverride[];
  /** Removes what they have put by. */
  readonly close: () => Promise<void>;
}

/** The models of a configuration, by role. Errors: `TypeError` where a file is not what it should be. */
export async function makeModels(config: EffectiveConfig, parts: { readonly repo: Repo }): Promise<ReadyMinds> {
  const minds = sharedOut(config);
  const { roles, models, prices, record } = minds;
  const endpoints = new Endpoints();
  // One for each name, so that roles share it.
  const made = new Map<string, Model>();
  const shelves: ArtefactShelf[] = [];
  for (const [key, one] of Object.entries(models))
    made.set(key, await makeModel(key, one, { minds, config, endpoints, repo: parts.repo, shelves }));
  const tracer = await loadTracer();
  const cassette = record === undefined ? undefined : new CassetteWriter(record);
  const serving = (key: string): Model => {
    const line = [key, ...(models[key]?.fallbacks ?? [])].flatMap((name) => made.get(name) ?? []);
    const [first] = line;
    if (first === undefined) throw new Error(`no model ${key}`);
    const whole = line.length === 1 ? first : new FallbackModel([first, ...line.slice(1)]);
    const kept = cassette === undefined ? whole : new RecordingModel(whole, cassette);
    return tracer === undefined ? kept : new TracedModel(kept, tracer, config.telemetry.content === 'on');
  };
  const {
    worker = roles.peer,
    reconciler = roles.merger,
    decomposer = worker,
    reviewer = roles.merger ?? worker,
  } = roles;
  const lenses = (config.review?.lenses ?? []).map(({ model }) => [lensModel(model), model] as const);
  const all = { ...roles, worker, reconciler, decomposer, ...Object.fromEntries(lenses), reviewer };
  const byRole = Object.entries(all).flatMap(([role, key]) =>
    key === undefined ? [] : [[role, serving(key)] as const],
  );
  const close = async (): Promise<void> => void (await Promise.all(shelves.map((shelf) => shelf.close())));
  return { models: Object.fromEntries(byRole), prices, close };
}

/** Under which name a run has the model of a lens. */
export const lensModel = (model: string | undefined): string => (model === undefined ? 'reviewer' : `lens/${model}`);

/** What may be asked at once, by one of several processes. */
function sharedOut(config: EffectiveConfig): Minds {
  const { processes } = config.bounds;
  if (processes === 1) return config;
  const endpoints = Object.entries(config.endpoints).map(([name, one]): [string, Minds['endpoints'][string]] => {
    const { concurrencyMax = defaultGatePolicy.concurrencyMax } = one;
    return [name, { ...one, concurrencyMax: Math.max(1, Math.floor(concurrencyMax / processes)) }];
  });
  return { ...config, endpoints: Object.fromEntries(endpoints) };
}

interface Workshop {
  readonly minds: Minds;
  readonly config: EffectiveConfig;
  readonly endpoints: Endpoints;
  readonly repo: Repo;
  /** Of those that put something by. */
  readonly shelves: ArtefactShelf[];
}

async function makeModel(
  key: string,
  one: MindModel,
  { minds, config, endpoints, repo, shelves }: Workshop,
): Promise<Model> {
  switch (one.kind) {
    case 'endpoint': {
      const at = minds.endpoints[one.endpoint];
      if (at === undefined) throw new Error(`no endpoint ${one.endpoint}`);
      return new OpenAiModel({ ...endpointOptions(one, at), endpoints });
    }
    case 'command': {
      const [file = '', ...args] = one.command;
      const { caches, artefacts } = config.commands;
      const shelf = artefacts.length === 0 ? undefined : new ArtefactShelf(artefacts, one.dir ?? tmpdir());
      if (shelf !== undefined) shelves.push(shelf);
      const limits = { ...given('seconds', one.seconds), ...given('outputBytesMax', one.outputBytesMax) };
      return new CommandModel({
        name: key,
        command: [file, ...args],
        workspaces: new RepoDirectories(repo, shelf),
        limits,
        caches: privateCaches(caches, process.env, environmentFor(process.env, one.env ?? [], {})),
        ...(one.env && { env: one.env }),
        ...(one.budgetUsd !== undefined && { budgetUsd: one.budgetUsd }),
        ...(one.runsMax !== undefined && { runsMax: one.runsMax }),
        ...(one.dir !== undefined && { dir: one.dir }),
      });
    }
    case 'mailbox':
      return new MailboxModel({ name: key, dir: one.dir, ...given('answerMs', one.answerSeconds, 1000) });
    case 'scripted':
      return new ScriptedModel(await scriptsOf(one.module), key);
    case 'replay':
      return ReplayModel.from(one.file);
  }
}

/** A script for each role, by name. Errors: `TypeError`. */
async function scriptsOf(module: string): Promise<Readonly<Record<string, Script>>> {
  const wrong = (says: string): TypeError => new TypeError(`${module}: ${says}`);
  const scripts = await loadModule(module).catch((error: unknown) => {
    throw wrong(error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error));
  });
  const isScript = (value: unknown): boolean => typeof value === 'function' || Array.isArray(value);
  if (typeof scripts !== 'object' || scripts === null || !Object.values(scripts).every(isScript))
    throw wrong('its default export holds a function, or a list of turns, for each role');
  return scripts as Readonly<Record<string, Script>>;
}

type EndpointModel = Extract<MindModel, { kind: 'endpoint' }>;

/** For the doctor, too. */
export function endpointOptions(
  one: EndpointModel,
  at: Minds['endpoints'][string],
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
