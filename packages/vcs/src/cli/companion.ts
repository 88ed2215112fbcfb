import { spawn } from 'node:child_process';
import { accessSync, constants, realpathSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { exitCodes } from '../core/errors.ts';
import { warn } from './output.ts';

/** `mound-swarm` and `mound-bench` are packages of their own: beside the running `mound` first, then on PATH. */
function findCompanion(name: string): string | undefined {
  const running = process.argv[1] ?? '';
  const beside = [dirname(running), dirname(realpathSync(running))];
  for (const dir of [...beside, ...(process.env['PATH'] ?? '').split(delimiter)]) {
    const path = join(dir, name);
    try {
      accessSync(path, constants.X_OK);
      return path;
    } catch {
      continue;
    }
  }
  return undefined;
}

/** Runs the companion with the same streams; its exit code is ours. */
export async function runCompanion(name: 'swarm' | 'bench', args: readonly string[]): Promise<number> {
  const path = findCompanion(`mound-${name}`);
  if (path === undefined) {
    warn(`mound-${name} is not installed; 'npm install @mound/${name}' brings it`);
    return exitCodes.usage;
  }
  // Ctrl-C reaches the whole group: the companion ends by itself and we report how.
  const ignore = (): void => undefined;
  process.on('SIGINT', ignore);
  try {
    return await new Promise<number>((resolve, reject) => {
      const child = spawn(path, args, { stdio: 'inherit' });
      child.once('error', reject);
      child.once('exit', (code, signal) =>
        resolve(code ?? (signal === 'SIGINT' ? exitCodes.interrupted : exitCodes.other)),
      );
    });
  } finally {
    process.off('SIGINT', ignore);
  }
}
