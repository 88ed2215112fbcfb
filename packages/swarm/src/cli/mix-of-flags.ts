import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { parseMix, type Mix } from '../runtime/model-mix.ts';
import type { MixFlags } from './mix-flags.ts';
import { UsageError } from './usage-error.ts';

const noModel =
  "no model: give --base-url and --model (an OpenAI-compatible endpoint), --command (any CLI agent), --mailbox (a directory in which you answer) or --models FILE; 'mound swarm doctor' checks them, 'mound swarm demo' needs none";

/** The mix that flags, environment or a file ask for. */
export function mixOf(flags: MixFlags, env: NodeJS.ProcessEnv): Mix {
  const asked = [flags.baseUrl, flags.model, flags.command, flags.mailbox, flags.replay].some(
    (flag) => flag !== undefined,
  );
  const file = flags.models ?? (asked ? undefined : env['MOUND_MODELS'] || undefined);
  if (file !== undefined) {
    if (asked)
      throw new UsageError(
        '--models holds the whole mix: leave out --base-url, --model, --command, --mailbox and --replay',
      );
    const mix = fromFile(file);
    return flags.record === undefined ? mix : { ...mix, record: resolve(flags.record) };
  }
  return fromFlags(flags, env);
}

function fromFile(file: string): Mix {
  try {
    return parseMix(JSON.parse(readFileSync(file, 'utf8')), dirname(resolve(file)));
  } catch (error) {
    throw new UsageError(`${file}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function fromFlags(flags: MixFlags, env: NodeJS.ProcessEnv): Mix {
  const { replay, mailbox, command, record } = flags;
  const baseURL = flags.baseUrl ?? (env['MOUND_BASE_URL'] || undefined);
  const model = flags.model ?? (env['MOUND_MODEL'] || undefined);
  const apiKeyEnv = flags.apiKeyEnv ?? (env['MOUND_API_KEY_ENV'] || undefined);
  const models: Record<string, object> = {};
  const roles: Record<string, string> = {};
  const serve = (names: readonly string[], name: string, one: object): void => {
    for (const role of names) {
      if (roles[role] !== undefined) continue;
      roles[role] = name;
      models[name] = one;
    }
  };
  const all = ['planner', 'worker', 'merger'];
  if (replay !== undefined) serve(all, 'replay', { kind: 'replay', file: replay });
  if (command !== undefined) serve(['worker'], 'command', { kind: 'command', command: ['sh', '-c', command] });
  const own: Readonly<Record<string, string | undefined>> = {
    planner: flags.plannerModel,
    worker: flags.workerModel,
    merger: flags.mergerModel,
  };
  if (baseURL !== undefined) {
    for (const role of all) {
      const name = own[role] ?? model;
      if (name !== undefined) serve([role], name, { kind: 'endpoint', endpoint: 'endpoint', model: name });
    }
  }
  if (mailbox !== undefined) serve(all, 'mailbox', { kind: 'mailbox', dir: mailbox });
  if (command !== undefined && baseURL === undefined) serve(all, 'command', models['command'] ?? {});
  if (roles['planner'] === undefined || roles['worker'] === undefined) throw new UsageError(noModel);
  try {
    return parseMix(
      {
        models,
        roles,
        ...(baseURL !== undefined && { endpoints: { endpoint: { baseURL, ...(apiKeyEnv && { apiKeyEnv }) } } }),
        ...(record !== undefined && { record }),
      },
      process.cwd(),
    );
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}
