import { spawn, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { KeptOutput } from './kept-output.ts';
import { killMarked, memoryOf } from './processes.ts';
import { sandboxed, type Sandbox } from './sandbox.ts';

export interface CommandBounds {
  readonly timeMsMax: number;
  /** Of the whole group of processes; checked a few times a second, where the system tells. */
  readonly memoryBytesMax: number;
  /** Printed in all; more stops it. */
  readonly outputBytesMax: number;
  /** Of the output that is handed back: its beginning and its end. */
  readonly outputCharsKept: number;
}

export const defaultBounds: CommandBounds = {
  timeMsMax: 10 * 60_000,
  memoryBytesMax: 4 * 1024 * 1024 * 1024,
  outputBytesMax: 64 * 1024 * 1024,
  outputCharsKept: 32_000,
};

export interface CommandOptions {
  /** For `/bin/sh -c`. */
  readonly command: string;
  readonly directory: string;
  /** All that it inherits. */
  readonly environment: Readonly<Record<string, string>>;
  readonly bounds: CommandBounds;
  readonly sandbox: Sandbox;
  readonly signal?: AbortSignal;
}

export interface CommandEnd {
  /** Exit code, 128 and the number where a signal ended it; undefined where it was stopped. */
  readonly code: number | undefined;
  readonly stopped?: 'time' | 'output' | 'memory' | 'run';
  /** Output and errors as they came, the middle left out where there is too much. */
  readonly output: string;
  readonly ms: number;
}

/** How long processes have after SIGTERM. */
const graceMs = 2000;
const memoryCheckMs = 250;
/** What was printed just before the end is still on its way. */
const drainMs = 100;

/** In the environment of every process of one command, so that also those are found that left its group. */
const markName = 'MOUND_COMMAND';

/**
 * Runs a shell command in a process group of its own, within its bounds. When
 * it answers, no process of it is left: neither those that ignore SIGTERM, nor
 * those that made a group of their own.
 */
export async function runCommand(options: CommandOptions): Promise<CommandEnd> {
  const { command, directory, environment, bounds, sandbox, signal } = options;
  const startedMs = performance.now();
  const mark = randomBytes(12).toString('hex');
  const [file, args] = sandboxed(sandbox, directory, ['/bin/sh', '-c', command]);
  const child = spawn(file, args, {
    cwd: directory,
    env: { ...environment, [markName]: mark },
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output = new KeptOutput(bounds.outputCharsKept);
  let stopped: CommandEnd['stopped'];
  let killing: Promise<void> | undefined;
  const stop = (why: NonNullable<CommandEnd['stopped']>): void => {
    stopped ??= why;
    killing ??= killGroup(child);
  };
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (bytes: Buffer) => {
      output.add(bytes);
      if (output.total > bounds.outputBytesMax) stop('output');
    });
  }
  const onAbort = (): void => stop('run');
  if (signal?.aborted) onAbort();
  signal?.addEventListener('abort', onAbort, { once: true });
  const timer = setTimeout(() => stop('time'), bounds.timeMsMax);
  const watch = setInterval(() => {
    if (child.pid !== undefined && memoryOf(child.pid, `${markName}=${mark}`) > bounds.memoryBytesMax) stop('memory');
  }, memoryCheckMs);
  try {
    const code = await ended(child);
    await drained(child);
    return {
      code: stopped === undefined ? code : undefined,
      ...(stopped !== undefined && { stopped }),
      output: output.text(),
      ms: Math.round(performance.now() - startedMs),
    };
  } finally {
    clearTimeout(timer);
    clearInterval(watch);
    signal?.removeEventListener('abort', onAbort);
    child.stdout.destroy();
    child.stderr.destroy();
    // What it left running goes too, in its group or out of it.
    signalGroup(child, 'SIGKILL');
    killMarked(`${markName}=${mark}`);
    await killing;
  }
}

const signalNumbers: Readonly<Record<string, number>> = {
  SIGHUP: 1,
  SIGINT: 2,
  SIGABRT: 6,
  SIGKILL: 9,
  SIGSEGV: 11,
  SIGTERM: 15,
};

/** Not `close`: a grandchild may hold the pipes open for ever. */
function ended(child: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code, name) => resolve(code ?? 128 + (signalNumbers[name ?? ''] ?? 0)));
  });
}

async function drained(child: ChildProcess): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const closed = new Promise<void>((resolve) => {
    if (child.stdout?.closed && child.stderr?.closed) resolve();
    child.once('close', () => resolve());
  });
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, drainMs);
  });
  await Promise.race([closed, late]);
  clearTimeout(timer);
}

async function killGroup(child: ChildProcess): Promise<void> {
  signalGroup(child, 'SIGTERM');
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, graceMs);
    child.once('exit', () => {
      clearTimeout(timer);
      resolve();
    });
  });
  signalGroup(child, 'SIGKILL');
}

function signalGroup(child: ChildProcess, name: NodeJS.Signals): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, name);
  } catch {
    // The group has ended.
  }
}
