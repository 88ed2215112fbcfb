import { dirname, resolve } from 'node:path';
import type { Command } from 'commander';
import { parseConfig, type EffectiveConfig } from '../config/config.ts';
import { layered, type Layer } from '../config/layers.ts';
import { findConfig, loadConfig } from '../config/load.ts';
import { isJsonObject } from '../core/json.ts';
import { boundLayer, type BoundFlags } from './bound-flags.ts';
import { mindLayer, type MindFlags } from './mind-flags.ts';
import { UsageError } from './usage-error.ts';

export interface ConfigFlags extends MindFlags, BoundFlags {
  readonly repo: string;
  readonly config?: string;
}

export const withConfigFlag = (command: Command): Command =>
  command.option(
    '--config <file>',
    'configuration (docs/guides/swarm-config.md); or MOUND_CONFIG; default swarm.config.{ts,mjs,json} here or in the repository',
  );

/** So that a bound of it alone has something to bound. */
const base: Layer = { topology: { kind: 'tree' } };

const noModel =
  "give --base-url and --model (an OpenAI-compatible endpoint), --command (any CLI agent), --mailbox (a directory in which you answer) or a swarm.config file; 'mound swarm doctor' checks them, 'mound swarm demo' needs none";

/**
 * Flags before the environment before the file before what is recorded (of a
 * run that is resumed) before defaults. Errors: `UsageError`, one line.
 */
export async function configOf(
  flags: ConfigFlags,
  env: NodeJS.ProcessEnv,
  recorded: Layer = {},
): Promise<EffectiveConfig> {
  try {
    const file = flags.config ?? (env['MOUND_CONFIG'] || undefined) ?? findConfig(['.', flags.repo]);
    const inFile = file === undefined ? {} : await loadConfig(file);
    if (!isJsonObject(inFile)) throw new TypeError(`${file}: it holds no object`);
    const dir = file === undefined ? process.cwd() : dirname(resolve(file));
    // What is wrong in the file is said of the file.
    if (file !== undefined) parsed(layered([base, inFile]), dir, `${file}: `);
    const layers = [base, recorded, inFile, mindLayer(flags, env, inFile), boundLayer(flags)];
    return parsed(layered(layers), dir, '');
  } catch (error) {
    if (error instanceof TypeError) throw new UsageError(error.message);
    throw error;
  }
}

function parsed(value: unknown, dir: string, where: string): EffectiveConfig {
  try {
    return parseConfig(value, dir);
  } catch (error) {
    throw new TypeError(`${where}${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
}

/** What a configuration in which nobody does the work lacks, and the ways on, in one line. */
export function missingMind({ roles, topology }: EffectiveConfig): string | undefined {
  if ((roles.worker ?? roles.peer) === undefined) return `no model: ${noModel}`;
  if (topology.kind !== 'tree' || roles.planner !== undefined) return undefined;
  return `no model for the planner: ${noModel}; --topology solo and peers need none`;
}

/** Refuses a configuration in which nobody does the work. Errors: `UsageError`. */
export function mustServe(config: EffectiveConfig): void {
  const missing = missingMind(config);
  if (missing !== undefined) throw new UsageError(missing);
}
