import { resolve } from 'node:path';
import type { Command } from 'commander';
import type { Layer } from '../config/layers.ts';
import { isJsonObject, type JsonObject } from '../core/json.ts';
import { UsageError } from './usage-error.ts';

export interface MindFlags {
  readonly baseUrl?: string;
  readonly model?: string;
  readonly plannerModel?: string;
  readonly workerModel?: string;
  readonly mergerModel?: string;
  readonly apiKeyEnv?: string;
  readonly command?: string;
  readonly mailbox?: string;
  readonly replay?: string;
  readonly record?: string;
}

export const withMindFlags = (command: Command): Command =>
  command
    .option('--base-url <url>', 'OpenAI-compatible endpoint, up to and with /v1; or MOUND_BASE_URL')
    .option('--model <name>', 'model of every role at that endpoint; or MOUND_MODEL')
    .option('--planner-model <name>', 'another one for the planner')
    .option('--worker-model <name>', 'another one for the workers')
    .option('--merger-model <name>', 'another one for the mergers')
    .option('--api-key-env <name>', 'NAME of the environment variable that holds the key; or MOUND_API_KEY_ENV')
    .option('--command <command>', 'a shell command as worker (as every role that nothing else serves)')
    .option('--mailbox <dir>', 'requests and answers as files, for the roles that nothing else serves')
    .option('--replay <file>', 'answers from a cassette')
    .option('--record <file>', 'record everything into a cassette');

const all = ['planner', 'worker', 'merger'];

/** What flags and environment say of minds, over what a file says. Errors: `UsageError`. */
export function mindLayer(flags: MindFlags, env: NodeJS.ProcessEnv, file: Layer): Layer {
  const { replay, mailbox, command, record } = flags;
  const baseURL = flags.baseUrl ?? (env['MOUND_BASE_URL'] || undefined);
  const model = flags.model ?? (env['MOUND_MODEL'] || undefined);
  const apiKeyEnv = flags.apiKeyEnv ?? (env['MOUND_API_KEY_ENV'] || undefined);
  const inFile = isJsonObject(file['roles']) ? file['roles'] : {};
  const models: Record<string, JsonObject> = {};
  const roles: Record<string, string> = {};
  const serve = (names: readonly string[], name: string, one: JsonObject): void => {
    for (const role of names) {
      if (roles[role] !== undefined) continue;
      roles[role] = name;
      models[name] = one;
    }
  };
  const unserved = (): string[] => all.filter((role) => inFile[role] === undefined);
  if (replay !== undefined) serve(all, 'replay', { kind: 'replay', file: resolve(replay) });
  if (command?.trim() === '') throw new UsageError('--command: the command is empty');
  const asCommand = { kind: 'command', command: ['sh', '-c', command ?? ''] };
  if (command !== undefined) serve(['worker'], 'command', asCommand);
  const own: Readonly<Record<string, string | undefined>> = {
    planner: flags.plannerModel,
    worker: flags.workerModel,
    merger: flags.mergerModel,
  };
  const endpoint = baseURL === undefined ? onlyEndpoint(file) : 'endpoint';
  for (const role of all) {
    const name = own[role] ?? model;
    if (name === undefined) continue;
    if (endpoint !== undefined) serve([role], name, { kind: 'endpoint', endpoint, model: name });
    else if (own[role] !== undefined || flags.model !== undefined)
      throw new UsageError(`--${own[role] === undefined ? '' : `${role}-`}model ${name}: give its --base-url, too`);
  }
  if (mailbox !== undefined) serve(unserved(), 'mailbox', { kind: 'mailbox', dir: resolve(mailbox) });
  if (command !== undefined && baseURL === undefined) serve(unserved(), 'command', asCommand);
  return {
    models,
    roles,
    ...(baseURL !== undefined && { endpoints: { endpoint: { baseURL, ...(apiKeyEnv && { apiKeyEnv }) } } }),
    ...(record !== undefined && { record: resolve(record) }),
  };
}

/** A model that is named alone is one at the file's endpoint, where it has just one. */
function onlyEndpoint(file: Layer): string | undefined {
  const names = isJsonObject(file['endpoints']) ? Object.keys(file['endpoints']) : [];
  return names.length === 1 ? names[0] : undefined;
}
