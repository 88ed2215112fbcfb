import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { createJiti } from 'jiti';
import { defineConfig } from './config.ts';

const endings = ['ts', 'mjs', 'json'];

/** The configuration file of the first directory that has one. Errors: `TypeError` where one has several. */
export function findConfig(dirs: readonly string[]): string | undefined {
  for (const dir of dirs) {
    const found = endings.map((ending) => join(dir, `swarm.config.${ending}`)).filter((file) => existsSync(file));
    if (found.length > 1) throw new TypeError(`there are ${found.join(' and ')}: keep one, or name it with --config`);
    if (found[0] !== undefined) return resolve(found[0]);
  }
  return undefined;
}

/** What a file holds, as it stands there. Errors: `TypeError` with the file and what is wrong. */
export async function loadConfig(file: string): Promise<unknown> {
  try {
    if (file.endsWith('.json')) return JSON.parse(readFileSync(file, 'utf8')) as unknown;
    return await loadModule(file);
  } catch (error) {
    throw new TypeError(`${file}: ${lineOf(error)}`, { cause: error });
  }
}

/** The default export of a module, TypeScript or not, on every version of Node. It finds `defineConfig` also where this package is not installed beside it. */
export async function loadModule(file: string): Promise<unknown> {
  const jiti = createJiti(import.meta.url, { virtualModules: { '@mound/swarm': { defineConfig } }, fsCache: false });
  return await jiti.import(resolve(file), { default: true });
}

const lineOf = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).trim().split('\n')[0] ?? '';
