import { spawn, type ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { sleep, systemTime, type Time } from '../../core/time.ts';
import { BoundedText } from './bounded-text.ts';
import { isGroupLive, isSame, processesWith, signal, startTimeOf, type ProcessIdentity } from './processes.ts';

export interface CommandLimits {
  /** Then it is killed. */
  readonly seconds: number;
  /** Of output that is kept, of each stream; more is read and left out. */
  readonly outputBytesMax: number;
  /** Between being asked to end and being made to. */
  readonly graceMs: number;
}

export const defaultCommandLimits: CommandLimits = { seconds: 3600, outputBytesMax: 256 * 1024, graceMs: 5000 };

export interface CommandOptions {
  readonly command: readonly [string, ...string[]];
  readonly cwd: string;
  /** The whole environment: nothing is inherited. */
  readonly env: Readonly<Record<string, string>>;
  readonly stdin?: string;
  readonly limits: CommandLimits;
  readonly signal: AbortSignal;
  readonly time?: Time;
  /** Told just before it starts, and again once it has. `mark` is held by the environment of every process that comes of it. */
  readonly onStarted?: (mark: string, identity: ProcessIdentity | undefined) => void;
}

export interface CommandEnd {
  readonly kind: 'exited' | 'killed' | 'timed-out' | 'aborted' | 'not-started';
  /** Where it exited. */
  readonly code: number | undefined;
  /** Where it did not start, or a signal ended it. */
  readonly says: string;
  readonly stdout: string;
  readonly stderr: string;
}

/** Every process that comes of a command holds this, so that those that left its group are found. */
const markName = 'MOUND_COMMAND';
/** After the command's own end, for what it wrote last. */
const drainMs = 200;
const pollMs = 20;

/**
 * Runs a command as the head of its own process group, with a bound on its time
 * and on its output. When it has ended, however, nothing of it is left: its
 * group is asked to end, then made to, and so is whoever left the group.
 */
export async function runCommand(options: CommandOptions): Promise<CommandEnd> {
  const { command, cwd, env, limits, time = systemTime } = options;
  const id = randomUUID();
  const mark = `${markName}=${id}`;
  const [file, ...args] = command;
  const stdout = new BoundedText(limits.outputBytesMax);
  const stderr = new BoundedText(limits.outputBytesMax);
  const ended = (kind: CommandEnd['kind'], code: number | undefined, says: string): CommandEnd => ({
    kind,
    code,
    says,
    stdout: stdout.toString(),
    stderr: stderr.toString(),
  });
  if (options.signal.aborted) return ended('aborted', undefined, 'stopped before it began');

  options.onStarted?.(mark, undefined);
  const child = spawn(file, args, {
    cwd,
    env: { ...env, [markName]: id },
    detached: true,
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  child.stdout.on('data', (piece: Buffer) => stdout.push(piece));
  child.stderr.on('data', (piece: Buffer) => stderr.push(piece));
  // Who does not read its input closes it.
  child.stdin.on('error', () => undefined);
  child.stdin.end(options.stdin ?? '');
  const over = exitOf(child);
  const { pid } = child;
  if (pid === undefined) return ended('not-started', undefined, (await over).says);
  options.onStarted?.(mark, { pid, startTime: startTimeOf(pid) });

  const why = await firstOf(over, options, time);
  const exit = why === undefined ? await over : undefined;
  await endGroup(pid, mark, limits.graceMs, time);
  await Promise.race([closed(child), sleep(time, drainMs)]);
  child.stdout.destroy();
  child.stderr.destroy();
  if (why === 'timed-out') return ended(why, undefined, `it was killed after ${limits.seconds} seconds`);
  if (why === 'aborted') return ended(why, undefined, 'it was stopped');
  if (typeof exit?.signal === 'string') return ended('killed', undefined, `the signal ${exit.signal} ended it`);
  return ended('exited', exit?.code ?? undefined, `exit code ${exit?.code}`);
}

interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly says: string;
}

/** `exit`, not `close`: a grandchild may hold the pipes open for ever. */
const exitOf = (child: ChildProcess): Promise<Exit> =>
  new Promise((resolve) => {
    child.once('error', (error) => resolve({ code: null, signal: null, says: error.message }));
    child.once('exit', (code, name) => resolve({ code, signal: name, says: '' }));
  });

const closed = (child: ChildProcess): Promise<void> =>
  new Promise((resolve) => {
    if (child.stdout?.closed === true && child.stderr?.closed === true) resolve();
    else child.once('close', () => resolve());
  });

/** undefined where the command ended by itself. */
async function firstOf(
  over: Promise<Exit>,
  { limits, signal: outer }: CommandOptions,
  time: Time,
): Promise<'timed-out' | 'aborted' | undefined> {
  const stop = new AbortController();
  const onAbort = (): void => stop.abort();
  outer.addEventListener('abort', onAbort, { once: true });
  const alarm = sleep(time, limits.seconds * 1000, stop.signal).then((isOut) => (isOut ? 'timed-out' : 'aborted'));
  try {
    return await Promise.race([over.then(() => undefined), alarm]);
  } finally {
    outer.removeEventListener('abort', onAbort);
    stop.abort();
  }
}

/** SIGTERM, and SIGKILL where that does not help in time; nobody of other commands is touched. */
export async function endGroup(pid: number, mark: string, graceMs: number, time: Time): Promise<void> {
  const strays = (): ProcessIdentity[] => processesWith(mark).filter(isSame);
  const isLeft = (): boolean => isGroupLive(pid) || strays().length > 0;
  const tell = (name: NodeJS.Signals): void => {
    signal(-pid, name);
    for (const stray of strays()) signal(stray.pid, name);
  };
  if (!isLeft()) return;
  tell('SIGTERM');
  for (let waited = 0; waited < graceMs; waited += pollMs) {
    await sleep(time, pollMs);
    if (!isLeft()) return;
  }
  // Again and again: one may have forked just before it died.
  for (let tries = 0; tries < 100 && isLeft(); tries++) {
    tell('SIGKILL');
    await sleep(time, pollMs);
  }
}
