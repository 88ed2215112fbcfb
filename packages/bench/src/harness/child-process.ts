import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';

import { Interrupted } from './interrupt.ts';

export interface CommandOptions {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly signal: AbortSignal;
}

export interface RunningCommand {
  readonly stdin: ChildProcessWithoutNullStreams['stdin'];
  /** For a command that answers as it goes; `finish` gives all of it in the end, unless it is not to be kept. */
  readonly stdout: ChildProcessWithoutNullStreams['stdout'];
  /** Waits for room where the child reads slower than we write. */
  write(bytes: Uint8Array | string): Promise<void>;
  /** Ends its input and waits; its standard output, or an error that quotes its last words. */
  finish(): Promise<Buffer>;
}

/**
 * Starts a command in its own process group. When the signal fires, the whole
 * group is killed: a child's own children must not outlive the bench either.
 */
export function startCommand(
  command: string,
  args: readonly string[],
  options: CommandOptions,
  { keepOutput = true }: { readonly keepOutput?: boolean } = {},
): RunningCommand {
  const { cwd, env, signal } = options;
  if (signal.aborted) throw new Interrupted();
  const child = spawn(command, args, { cwd, env, detached: true, stdio: 'pipe' });
  const stdout: Buffer[] = [];
  const stderr: Buffer[] = [];
  // Where it is not kept, who started it reads it.
  if (keepOutput) child.stdout.on('data', (chunk: Buffer) => stdout.push(chunk));
  child.stderr.on('data', (chunk: Buffer) => stderr.push(chunk));
  // A child that dies early breaks the pipe; its exit status says why.
  child.stdin.on('error', () => undefined);
  const kill = (): void => {
    if (child.pid === undefined) return;
    try {
      process.kill(-child.pid, 'SIGKILL');
    } catch {
      // It has gone already.
    }
  };
  signal.addEventListener('abort', kill, { once: true });
  const ended = new Promise<Buffer>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, killedBy) => {
      signal.removeEventListener('abort', kill);
      if (code === 0) return resolve(Buffer.concat(stdout));
      if (signal.aborted) return reject(new Interrupted());
      const words = Buffer.concat(stderr).toString('utf8').trim();
      reject(new Error(`${command} ${args[0] ?? ''}: ${killedBy ?? `exit ${code}`}: ${words.slice(-400)}`));
    });
  });
  // Whoever calls finish() hears of a failure; until then it must not count as unhandled.
  ended.catch(() => undefined);
  return {
    stdin: child.stdin,
    stdout: child.stdout,
    async write(bytes) {
      if (!child.stdin.write(bytes)) await Promise.race([once(child.stdin, 'drain'), ended]);
    },
    finish() {
      child.stdin.end();
      return ended;
    },
  };
}

/** Runs one command to its end; for many short ones see `CommandHost`. */
export async function runCommand(
  command: string,
  args: readonly string[],
  options: CommandOptions & { readonly input?: Uint8Array | string },
): Promise<Buffer> {
  const running = startCommand(command, args, options);
  if (options.input !== undefined) await running.write(options.input);
  return running.finish();
}
