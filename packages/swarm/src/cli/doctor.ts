import { accessSync, constants, mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { openRepo } from '@mound/vcs';
import { systemTime } from '../core/time.ts';
import { PriceBook } from '../cost/prices.ts';
import { ReplayModel } from '../model/cassette/replay-model.ts';
import { ModelError } from '../model/model-error.ts';
import type { ModelTurn } from '../model/model.ts';
import { OpenAiModel } from '../model/openai-model.ts';
import type { EffectiveConfig } from '../config/config.ts';
import { loadModule } from '../config/load.ts';
import { endpointOptions } from '../config/make-models.ts';
import type { MindModel } from '../config/minds.ts';
import { detectSandbox } from '../command/sandbox.ts';

export interface Check {
  readonly subject: string;
  readonly check: string;
  readonly state: 'ok' | 'warn' | 'fail';
  readonly says: string;
  /** What to do, where it is not ok. */
  readonly next?: string;
}

/** Longest that the doctor waits for one answer. */
const answerMs = 60_000;
const reachMs = 10_000;

/** Looks at all that a run with this configuration needs; asks each model for one call of a tool. */
export async function examine(config: EffectiveConfig, repo: string, signal: AbortSignal): Promise<Check[]> {
  const checks = [await repository(repo)];
  for (const [name, at] of Object.entries(config.endpoints)) checks.push(...(await endpoint(name, at, signal)));
  for (const [name, model] of Object.entries(config.models))
    checks.push(...(await examineModel(name, model, config, signal)));
  checks.push(commandsOfWorkers(config));
  if (config.roles.merger === undefined) {
    const next = "give the role 'merger' a model, or settle them by 'mound conflicts resolve'";
    checks.push({ subject: 'roles', check: 'merger', state: 'warn', says: 'no merger: conflicts stay open', next });
  }
  return checks;
}

function commandsOfWorkers({ commands: { mode }, check }: EffectiveConfig): Check {
  const about = { subject: 'workers', check: 'commands' };
  if (mode === 'off' || mode === 'open')
    return { ...about, state: 'ok', says: mode === 'off' ? 'they run none' : 'they run them without a sandbox' };
  if (detectSandbox(tmpdir()) === 'bubblewrap') return { ...about, state: 'ok', says: 'they run in bubblewrap' };
  const next = "install bubblewrap, or set commands.mode to 'open' where you trust what they run";
  const isNeeded = mode === 'sandbox' || check !== undefined;
  return { ...about, state: isNeeded ? 'fail' : 'warn', says: 'they run none: bubblewrap does not work here', next };
}

async function repository(dir: string): Promise<Check> {
  const about = { subject: 'repository', check: dir };
  try {
    await (await openRepo(dir)).close();
    return { ...about, state: 'ok', says: 'opens' };
  } catch (error) {
    return {
      ...about,
      state: 'fail',
      says: messageOf(error),
      next: `'mound init ${dir}' makes one, --repo names another`,
    };
  }
}

async function endpoint(name: string, at: EffectiveConfig['endpoints'][string], signal: AbortSignal): Promise<Check[]> {
  const checks: Check[] = [];
  const { baseURL, apiKeyEnv } = at;
  const subject = `endpoint ${name}`;
  const key = apiKeyEnv === undefined ? undefined : process.env[apiKeyEnv];
  if (apiKeyEnv === undefined) checks.push({ subject, check: 'key', state: 'ok', says: 'none is sent' });
  else if (key) checks.push({ subject, check: 'key', state: 'ok', says: `${apiKeyEnv} is set` });
  else {
    const next = `export ${apiKeyEnv}=…, or name another variable by --api-key-env`;
    checks.push({ subject, check: 'key', state: 'fail', says: `${apiKeyEnv} is not set`, next });
  }
  const reach = { subject, check: 'reachable' };
  try {
    const headers = key ? { authorization: `Bearer ${key}` } : {};
    const either = AbortSignal.any([signal, AbortSignal.timeout(reachMs)]);
    const response = await fetch(`${baseURL.replace(/\/$/, '')}/models`, { headers, signal: either });
    await response.body?.cancel();
    const isRefused = response.status === 401 || response.status === 403;
    if (isRefused)
      checks.push({
        ...reach,
        state: 'fail',
        says: `${baseURL} answers ${response.status}`,
        next: 'check the key and what it may do',
      });
    else checks.push({ ...reach, state: 'ok', says: `${baseURL} answers ${response.status}` });
  } catch (error) {
    const next = 'check the address (up to and with /v1), that the server runs, and the network';
    checks.push({ ...reach, state: 'fail', says: `${baseURL}: ${messageOf(error)}`, next });
  }
  return checks;
}

async function examineModel(
  name: string,
  model: MindModel,
  config: EffectiveConfig,
  signal: AbortSignal,
): Promise<Check[]> {
  const subject = `model ${name}`;
  switch (model.kind) {
    case 'endpoint':
      return answers(subject, model, config, signal);
    case 'command':
      return [command(subject, model.command[0] ?? ''), ...variables(subject, model.env ?? [])];
    case 'mailbox':
      try {
        mkdirSync(model.dir, { recursive: true });
        accessSync(model.dir, constants.W_OK);
        return [{ subject, check: 'directory', state: 'ok', says: `${model.dir} can be written` }];
      } catch (error) {
        return [
          {
            subject,
            check: 'directory',
            state: 'fail',
            says: messageOf(error),
            next: 'name a directory that you may write',
          },
        ];
      }
    case 'scripted':
      try {
        await loadModule(model.module);
        return [{ subject, check: 'module', state: 'ok', says: `${model.module} can be loaded` }];
      } catch (error) {
        const next = 'its default export holds a function for each role';
        return [{ subject, check: 'module', state: 'fail', says: messageOf(error), next }];
      }
    case 'replay':
      try {
        ReplayModel.from(model.file);
        return [{ subject, check: 'cassette', state: 'ok', says: `${model.file} can be read` }];
      } catch (error) {
        return [
          {
            subject,
            check: 'cassette',
            state: 'fail',
            says: messageOf(error),
            next: "record one with 'mound swarm run --record FILE'",
          },
        ];
      }
  }
}

const probe = {
  role: 'doctor',
  messages: [
    { role: 'user' as const, content: "Call the tool 'probe' once, with the word 'mound'. Write nothing else." },
  ],
  tools: [
    {
      name: 'probe',
      description: 'Shows that tools can be called.',
      parameters: {
        type: 'object',
        properties: { word: { type: 'string' } },
        required: ['word'],
        additionalProperties: false,
      },
    },
  ],
};

async function answers(
  subject: string,
  model: Extract<MindModel, { kind: 'endpoint' }>,
  config: EffectiveConfig,
  signal: AbortSignal,
): Promise<Check[]> {
  const at = config.endpoints[model.endpoint];
  if (at === undefined) return [];
  const check = model.streaming === false ? 'answers' : 'streams';
  let turn: ModelTurn;
  try {
    const options = { ...endpointOptions(model, at), retry: { attemptsMax: 1 }, totalMs: answerMs };
    turn = await new OpenAiModel(options).complete(probe, signal, { waitMsMax: 0 });
  } catch (error) {
    const code = error instanceof ModelError ? error.code : undefined;
    return [{ subject, check, state: 'fail', says: messageOf(error), next: adviceFor(code) }];
  }
  const checks: Check[] = [{ subject, check, state: 'ok', says: `${model.model} answers` }];
  const called = turn.calls.find(({ name, fault }) => name === 'probe' && fault === undefined);
  if (called !== undefined) checks.push({ subject, check: 'tools', state: 'ok', says: 'calls a tool' });
  else {
    const isWritten = /<tool_call>|<function=/.test(turn.text);
    const next = isWritten
      ? 'it writes its calls as text: set quirks.salvageCalls in the configuration, or start the server with its tool parser'
      : 'choose a model that calls tools; without them an agent can do nothing';
    checks.push({
      subject,
      check: 'tools',
      state: 'fail',
      says: `called no tool: ${JSON.stringify(turn.text.slice(0, 80))}`,
      next,
    });
  }
  checks.push(
    turn.usage.estimated
      ? {
          subject,
          check: 'usage',
          state: 'warn',
          says: 'tokens are not reported',
          next: 'costs will be estimates, and marked as such',
        }
      : { subject, check: 'usage', state: 'ok', says: 'tokens are reported' },
  );
  const [spend] = turn.spent ?? [];
  const cost = spend && new PriceBook(config.prices, systemTime).cost(spend);
  checks.push(
    cost?.kind === 'known'
      ? {
          subject,
          check: 'price',
          state: 'ok',
          says: `known (${cost.source}): this answer cost $${(cost.nanoUsd / 1e9).toFixed(6)}`,
        }
      : {
          subject,
          check: 'price',
          state: 'warn',
          says: 'unknown',
          next: "costs will be shown as unknown; set one in the configuration under 'prices'",
        },
  );
  return checks;
}

function adviceFor(code: ModelError['code'] | undefined): string {
  switch (code) {
    case 'key-missing':
      return 'export the variable that is named';
    case 'not-a-stream':
      return 'check that the address ends in /v1; for a server that cannot stream set streaming: false in the configuration';
    case 'quota-exhausted':
      return 'the account has no money or quota left';
    case 'rate-limited':
      return 'too many requests just now: try later, or lower concurrencyMax';
    case 'refused':
      return "check the model's name and what the key may do";
    case 'transport':
      return 'check the address and that the server runs';
    default:
      return 'the server failed: look at its log, or try another model';
  }
}

function command(subject: string, file: string): Check {
  const places = file.includes('/')
    ? [file]
    : (process.env['PATH'] ?? '').split(delimiter).map((dir) => join(dir, file));
  const found = places.find((path) => {
    try {
      accessSync(path, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
  if (found !== undefined) return { subject, check: 'command', state: 'ok', says: found };
  return {
    subject,
    check: 'command',
    state: 'fail',
    says: `${file} is not found`,
    next: 'install it, or give its whole path',
  };
}

const variables = (subject: string, names: readonly string[]): Check[] =>
  names
    .filter((name) => !process.env[name])
    .map((name) => ({
      subject,
      check: 'environment',
      state: 'warn',
      says: `${name} is not set`,
      next: `export ${name}=…`,
    }));

/** The innermost reason says most. */
function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  return cause instanceof Error && !(error instanceof ModelError)
    ? messageOf(cause)
    : error.message.split('\n')[0] || error.name;
}
