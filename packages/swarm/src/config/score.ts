import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Repo } from '@mound/vcs';
import { environmentFor } from '../command/environment.ts';
import { runCommand, toolLimits } from '../command/run-command.ts';
import { RepoDirectories } from '../runtime/repo-directories.ts';
import type { EffectiveConfig } from './config.ts';

/** Numbers as a program prints them: `12`, `-0.5`, `1e3`. */
const number = /-?\d+(?:\.\d+)?(?:e[+-]?\d+)?/gi;

/** The last number that a text holds. */
export function lastNumber(text: string): number | undefined {
  const last = text.match(number)?.at(-1);
  return last === undefined ? undefined : Number(last);
}

/**
 * What the score command makes of the newest tree, in a directory of its own.
 * It is the operator's command: it is not sandboxed, and gets no keys.
 * undefined where it fails or prints no number.
 */
export async function scoreOf(
  repo: Repo,
  command: string,
  { commands }: EffectiveConfig,
  env: NodeJS.ProcessEnv,
  signal: AbortSignal,
): Promise<number | undefined> {
  const dir = await mkdtemp(join(commands.dir ?? tmpdir(), 'mound-score-'));
  try {
    await new RepoDirectories(repo).materialise(dir, repo.snapshot().seq);
    const end = await runCommand({
      command: ['/bin/sh', '-c', command],
      cwd: dir,
      env: environmentFor(env, commands.env, {}),
      limits: { ...toolLimits, seconds: commands.seconds },
      signal,
    });
    return end.code === 0 ? lastNumber(end.stdout) : undefined;
  } finally {
    await rm(dir, { recursive: true, force: true, maxRetries: 3 });
  }
}
