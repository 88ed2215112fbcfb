import { spawn, type ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { onCleanup } from './temp.ts';

export const projectDir = fileURLToPath(new URL('../..', import.meta.url));
export const moundBin = fileURLToPath(new URL('../../packages/vcs/bin/mound.js', import.meta.url));

export interface Finished {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Running {
  readonly child: ChildProcess;
  readonly finished: Promise<Finished>;
}

export interface SpawnOptions {
  readonly cwd?: string;
  readonly env?: NodeJS.ProcessEnv;
  readonly input?: string | Uint8Array;
  readonly uid?: number;
  /** Standard input stays open; the caller ends it. */
  readonly holdStdin?: boolean;
}

/** Starts a process that is killed after the test if it still runs. */
export function start(command: string, args: readonly string[], options: SpawnOptions = {}): Running {
  const { cwd = projectDir, env = process.env, input, uid, holdStdin = false } = options;
  const child = spawn(command, args, { cwd, env, ...(uid !== undefined && { uid, gid: uid }) });
  onCleanup(() => void child.kill('SIGKILL'));
  const finished = new Promise<Finished>((resolve, reject) => {
    let stdout = '';
    let stderr = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
    child.once('error', reject);
    child.once('close', (code, signal) => resolve({ code, signal, stdout, stderr }));
  });
  child.stdin.on('error', () => undefined);
  if (!holdStdin) child.stdin.end(input ?? '');
  return { child, finished };
}

export const run = (command: string, args: readonly string[], options?: SpawnOptions): Promise<Finished> =>
  start(command, args, options).finished;

/** Runs the built `mound` command. */
export const mound = (args: readonly string[], options?: SpawnOptions): Promise<Finished> =>
  run(process.execPath, [moundBin, ...args], options);
