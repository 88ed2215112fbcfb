import { spawn } from 'node:child_process';
import { MoundError } from '../core/errors.ts';

/** As `git bisect run` has them: 0 good, 125 cannot be tried, up to 127 bad, above: the command itself failed. */
const skipCode = 125;
const badCodeMax = 127;

export type CheckVerdict = 'passed' | 'failed' | 'skipped';

export interface CheckEnd {
  readonly verdict: CheckVerdict;
  /** undefined where it was ended for its time. */
  readonly code: number | undefined;
  /** The last of what it printed, both streams as they came. */
  readonly output: string;
  /** Milliseconds that it took. */
  readonly ms: number;
}

export interface CheckOptions {
  /** Program and arguments. */
  readonly command: readonly string[];
  /** Beside the environment of this process. */
  readonly env: Readonly<Record<string, string>>;
  /** Then it is ended and counts as failed. */
  readonly seconds: number;
  readonly signal: AbortSignal;
  /** Told of what it prints. */
  readonly onOutput?: (piece: Buffer) => void;
}

/** Runs a check in a directory; nothing of it is left when this resolves. */
export type CheckRunner = (dir: string, options: CheckOptions) => Promise<CheckEnd>;

const outputBytesMax = 8 * 1024;

/** What the exit code of a check says; undefined: the command itself failed. */
export const verdictOfCode = (code: number): CheckVerdict | undefined =>
  code > badCodeMax ? undefined : code === 0 ? 'passed' : code === skipCode ? 'skipped' : 'failed';

/**
 * Runs a check in a directory, as the head of its own process group, which is gone when this resolves. Errors:
 * `invalid-argument` where it cannot be run, or ends with a code that says neither good nor bad; `interrupted`.
 */
export async function runCheck(dir: string, options: CheckOptions): Promise<CheckEnd> {
  const { command, env, seconds, signal, onOutput } = options;
  const [program = '', ...args] = command;
  if (signal.aborted) throw new MoundError('interrupted', 'interrupted');
  const startedMs = performance.now();
  const child = spawn(program, args, {
    cwd: dir,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...env },
  });
  let output = Buffer.alloc(0);
  const take = (piece: Buffer): void => {
    output = Buffer.concat([output, piece]).subarray(-outputBytesMax);
    onOutput?.(piece);
  };
  child.stdout.on('data', take);
  child.stderr.on('data', take);
  const kill = (): void => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
    } catch {
      // It has ended already.
    }
  };
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    kill();
  }, Math.min(seconds * 1000, 2 ** 31 - 1)); // prettier-ignore
  signal.addEventListener('abort', kill);
  try {
    const code = await new Promise<number>((resolve, reject) => {
      child.once('error', (cause) =>
        reject(new MoundError('invalid-argument', `'${program}' cannot be run: ${cause.message}`, { program }, cause)),
      );
      child.once('exit', (given) => resolve(given ?? badCodeMax + 1));
    });
    if (signal.aborted) throw new MoundError('interrupted', 'interrupted');
    const ms = Math.round(performance.now() - startedMs);
    const said = output.toString('utf8');
    if (isLate) return { verdict: 'failed', code: undefined, output: `${said}\nended after ${seconds} s\n`, ms };
    const verdict = verdictOfCode(code);
    if (verdict === undefined) {
      const message = `the command ended with ${code}; 1 to 127 means bad, 125 skip`;
      throw new MoundError('invalid-argument', message, { code });
    }
    return { verdict, code, output: said, ms };
  } finally {
    clearTimeout(timer);
    kill();
    signal.removeEventListener('abort', kill);
    // What is left of the group may hold the streams open.
    child.stdout.destroy();
    child.stderr.destroy();
  }
}
