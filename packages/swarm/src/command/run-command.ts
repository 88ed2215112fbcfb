import { spawn, type ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { sleep, systemTime, type Time } from '../core/time.ts';
import { BoundedText } from './bounded-text.ts';
import {
  isGroupLive,
  isSame,
  memoryOf,
  processesWith,
  signal,
  startTimeOf,
  type ProcessIdentity,
} from './processes.ts';
import { sandboxed, type Sandbox } from './sandbox.ts';

export interface CommandLimits {
  /** Then it is killed. */
  readonly seconds: number;
  /** Of output that is kept, of each stream; more is read and left out. */
  readonly outputBytesMax: number;
  /** Printed in all; more ends it. Default: no bound. */
  readonly printedBytesMax?: number;
  /** Of all its processes; looked at a few times a second, where the system tells. Default: no bound. */
  readonly memoryBytesMax?: number;
  /** Between being asked to end and being made to. */
  readonly graceMs: number;
}

/** For an agent of its own, which may work for long. */
export const mindLimits: CommandLimits = { seconds: 3600, outputBytesMax: 256 * 1024, graceMs: 5000 };

/** For what an agent runs: builds, tests. */
export const toolLimits: CommandLimits = {
  seconds: 600,
  outputBytesMax: 32_000,
  printedBytesMax: 64 * 1024 * 1024,
  memoryBytesMax: 4 * 1024 * 1024 * 1024,
  graceMs: 2000,
};

export interface CommandOptions {
  readonly command: readonly [string, ...string[]];
  readonly cwd: string;
  /** The whole environment: nothing is inherited. */
  readonly env: Readonly<Record<string, string>>;
  readonly stdin?: string;
  /** Errors are kept with the output, as they come. Default: apart. */
  readonly isMerged?: boolean;
  /** Default: none. */
  readonly sandbox?: Sandbox;
  /** Directories that are empty in the sandbox. */
  readonly hidden?: readonly string[];
  /** Directories beside `cwd` that can be written to in the sandbox. */
  readonly writable?: readonly string[];
  readonly limits: CommandLimits;
  readonly signal: AbortSignal;
  readonly time?: Time;
  /** Told just before it starts, and again once it has. `mark` is held by the environment of every process that comes of it. */
  readonly onStarted?: (mark: string, identity: ProcessIdentity | undefined) => void;
}

/** Why a command was ended before it ended by itself. */
type Stop = 'timed-out' | 'aborted' | 'printed-too-much' | 'too-much-memory';

export interface CommandEnd {
  readonly kind: 'exited' | 'killed' | 'not-started' | Stop;
  /** Where it exited. */
  readonly code: number | undefined;
  /** How it ended, in words. */
  readonly says: string;
  readonly stdout: string;
  /** Empty where it is kept with the output. */
  readonly stderr: string;
}

/** Every process that comes of a command holds this, so that those that left its group are found. */
const markName = 'MOUND_COMMAND';
/** After the command's own end, for what it wrote last. */
const drainMs = 200;
const pollMs = 20;
const memoryCheckMs = 250;

/**
 * Runs a command as the head of its own process group, within its limits. When
 * it has ended, however, nothing of it is left: its group is asked to end, then
 * made to, and so is whoever left the group.
 */
export async function runCommand(options: CommandOptions): Promise<CommandEnd> {
  const { cwd, env, limits, time = systemTime, sandbox = 'none' } = options;
  const id = randomUUID();
  const mark = `${markName}=${id}`;
  const [file, args] = sandboxed(sandbox, cwd, options.command, options.hidden, options.writable);
  const stdout = new BoundedText(limits.outputBytesMax);
  const stderr = options.isMerged === true ? stdout : new BoundedText(limits.outputBytesMax);
  const ended = (kind: CommandEnd['kind'], code: number | undefined, says: string): CommandEnd => ({
    kind,
    code,
    says,
    stdout: stdout.toString(),
    stderr: options.isMerged === true ? '' : stderr.toString(),
  });
  if (options.signal.aborted) return ended('aborted', undefined, 'stopped before it began');

  options.onStarted?.(mark, undefined);
  const child = spawn(file, args, {
    cwd,
    env: { ...env, [markName]: id },
    detached: true,
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const stops = new Stops();
  let printed = 0;
  const take = (kept: BoundedText, piece: Buffer): void => {
    kept.push(piece);
    printed += piece.length;
    if (printed > (limits.printedBytesMax ?? Infinity)) stops.stop('printed-too-much');
  };
  child.stdout.on('data', (piece: Buffer) => take(stdout, piece));
  child.stderr.on('data', (piece: Buffer) => take(stderr, piece));
  // Who does not read its input closes it.
  child.stdin.on('error', () => undefined);
  child.stdin.end(options.stdin ?? '');
  const over = exitOf(child);
  const { pid } = child;
  if (pid === undefined) return ended('not-started', undefined, (await over).says);
  options.onStarted?.(mark, { pid, startTime: startTimeOf(pid) });

  const why = await firstOf(over, stops, { ...options, time, pid, mark });
  const exit = why === undefined ? await over : undefined;
  await endGroup(pid, mark, limits.graceMs, time);
  await Promise.race([closed(child), sleep(time, drainMs)]);
  child.stdout.destroy();
  child.stderr.destroy();
  if (why !== undefined) return ended(why, undefined, wordsOf(why, limits));
  if (typeof exit?.signal === 'string') return ended('killed', undefined, `the signal ${exit.signal} ended it`);
  return ended('exited', exit?.code ?? undefined, `exit code ${exit?.code}`);
}

function wordsOf(why: Stop, limits: CommandLimits): string {
  switch (why) {
    case 'timed-out':
      return `it was killed after ${limits.seconds} seconds`;
    case 'aborted':
      return 'it was stopped';
    case 'printed-too-much':
      return `it was killed: it printed more than ${limits.printedBytesMax} bytes`;
    case 'too-much-memory':
      return `it was killed: it took more than ${limits.memoryBytesMax} bytes of memory`;
  }
}

/** The first reason to end a command. */
class Stops {
  readonly first: Promise<Stop>;
  #resolve: (why: Stop) => void = () => undefined;

  constructor() {
    this.first = new Promise((resolve) => (this.#resolve = resolve));
  }

  stop(why: Stop): void {
    this.#resolve(why);
  }
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

interface Watched extends CommandOptions {
  readonly time: Time;
  readonly pid: number;
  readonly mark: string;
}

/** undefined where the command ended by itself. */
async function firstOf(over: Promise<Exit>, stops: Stops, watched: Watched): Promise<Stop | undefined> {
  const { limits, signal: outer, time, pid, mark } = watched;
  const end = new AbortController();
  const onAbort = (): void => stops.stop('aborted');
  outer.addEventListener('abort', onAbort, { once: true });
  void sleep(time, limits.seconds * 1000, end.signal).then((isOut) => isOut && stops.stop('timed-out'));
  const { memoryBytesMax } = limits;
  const checkMemory = async (most: number): Promise<void> => {
    while (await sleep(time, memoryCheckMs, end.signal)) if (memoryOf(pid, mark) > most) stops.stop('too-much-memory');
  };
  if (memoryBytesMax !== undefined) void checkMemory(memoryBytesMax);
  try {
    return await Promise.race([over.then(() => undefined), stops.first]);
  } finally {
    outer.removeEventListener('abort', onAbort);
    end.abort();
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
