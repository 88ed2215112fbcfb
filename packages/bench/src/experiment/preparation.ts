import { accessSync, constants, existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';
import { tmpdir } from 'node:os';

import { detectSandbox } from '@mound/swarm';

import { runCommand } from '../harness/child-process.ts';
import { modelsAsked, type Cell } from './cells.ts';
import type { Experiment } from './experiment-file.ts';
import type { Seed } from './starting-tree.ts';

/** What has to be there before anything runs, and is not: one line each. */
export function missingFor(
  experiment: Experiment,
  cells: readonly Cell[],
  env: NodeJS.ProcessEnv,
  isSandboxed: boolean,
): string[] {
  const endpoints = cells.flatMap(({ config }) =>
    modelsAsked(config).flatMap((model) => (model.kind === 'endpoint' ? (config.endpoints[model.endpoint] ?? []) : [])),
  );
  const isLive = endpoints.length > 0;
  const keys = endpoints.flatMap(({ apiKeyEnv, baseURL }) =>
    apiKeyEnv === undefined || env[apiKeyEnv] ? [] : [`key: ${apiKeyEnv} is not set (for ${baseURL})`],
  );
  const files = cells.flatMap(({ config }) =>
    modelsAsked(config).flatMap((model) => {
      const file = model.kind === 'replay' ? model.file : model.kind === 'scripted' ? model.module : undefined;
      return file === undefined || existsSync(file) ? [] : [`${model.kind}: ${file} is not there`];
    }),
  );
  const needsSandbox = cells.some(({ config }) => config.commands.mode === 'sandbox' || (config.commands.mode === 'auto' && config.check !== undefined)); // prettier-ignore
  const { corpus } = experiment.score ?? {};
  const all = [
    ...(corpus === undefined || corpus.startsWith('unset-') || existsSync(resolve(experiment.here, corpus)) ? [] : [`corpus: ${corpus} is not there`]),
    // Where no endpoint is asked, what it is called does not matter.
    ...experiment.unset.filter((name) => isLive || corpus === `unset-${name}`).map((name) => `variable: ${name} is not set`),
    ...keys,
    ...files,
    ...experiment.tools.filter((tool) => !isOnPath(tool, env)).map((tool) => `tool: ${tool} is not on the PATH`),
    ...(isSandboxed && experiment.score !== undefined && detectSandbox(tmpdir(), ['bubblewrap', 'unshare']) === 'none'
      ? ['tool: neither bubblewrap nor unshare works here, to build and score without a network (--no-sandbox does with one)'] : []),
    ...(needsSandbox && detectSandbox(tmpdir()) === 'none' ? ['tool: bubblewrap does not work here, and agents are to run commands in it'] : []),
  ]; // prettier-ignore
  return [...new Set(all)];
}

function isOnPath(tool: string, env: NodeJS.ProcessEnv): boolean {
  const places = (env['PATH'] ?? '').split(delimiter).map((dir) => join(dir, tool));
  return places.some((path) => {
    try {
      accessSync(path, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

/**
 * The files that every arm begins with; documentation is got once, into `dir`.
 * Errors: an `Error` with the script's last words where it fails or brings nothing.
 */
export async function seedsFor(
  { tree, documentation, here }: Experiment,
  dir: string,
  signal: AbortSignal,
): Promise<Seed[]> {
  const seeds: Seed[] = tree === undefined ? [] : [{ dir: tree, at: '', message: 'The starting tree' }];
  if (documentation === undefined) return seeds;
  const place = join(dir, 'documentation');
  const isThere = (): boolean => existsSync(place) && readdirSync(place).length > 0;
  if (!isThere()) {
    // Beside it first, so that half of it is never taken for the whole.
    const beside = `${place}.part`;
    rmSync(beside, { recursive: true, force: true });
    mkdirSync(beside, { recursive: true });
    await runCommand(resolve(here, documentation.script), [beside], { cwd: here, env: process.env, signal });
    renameSync(beside, place);
    if (!isThere()) throw new Error(`${documentation.script} brought no documentation`);
  }
  return [...seeds, { dir: place, at: documentation.into, message: 'The documentation' }];
}
