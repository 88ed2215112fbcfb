import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { Build } from './build.ts';

/** Builds the sources below the directory that it is started in: exit code 0 where they build, 125 without a compiler. */
export async function main(): Promise<number> {
  const tree = new Map<string, string>();
  for (const entry of readdirSync('src', { withFileTypes: true, recursive: true })) {
    if (!entry.isFile() || !entry.name.endsWith('.ts')) continue;
    const path = join(entry.parentPath, entry.name);
    tree.set(path, readFileSync(path, 'utf8'));
  }
  const build = await Build.load();
  const faults = build?.faults(tree) ?? [];
  process.stdout.write(`${faults.slice(0, 40).join('\n')}\n`);
  return build === undefined ? 125 : Math.min(1, faults.length);
}
