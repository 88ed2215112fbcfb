import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { devNull } from 'node:os';
import { Readable, type Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { MoundError } from '../core/errors.ts';

/** What is kept of a failing git's stderr. */
const stderrBytesMax = 8192;

const oldestMajor = 2;
const oldestMinor = 30;

export interface GitOptions {
  /** The git directory itself (never discovered: a check of ownership and a search upwards do not happen). */
  readonly gitDir?: string;
  /** Exit codes that are answers, not failures. Default `[0]`. */
  readonly okCodes?: readonly number[];
}

export interface GitProcess {
  readonly stdin: Writable;
  readonly stdout: Readable;
  /** The exit code once the process and its streams have ended; rejects where it is not among `okCodes`. */
  readonly ended: Promise<number>;
  kill(): void;
}

/** The binary; a test points it at a fake. */
const gitBinary = (): string => process.env['MOUND_GIT'] ?? 'git';

/**
 * The caller's environment without anything that redirects git: no GIT_DIR,
 * GIT_INDEX_FILE, GIT_CONFIG_… of an enclosing hook, no user or system
 * configuration, no prompt, no replaced objects, no lazy fetch over the network.
 */
function gitEnvironment(): NodeJS.ProcessEnv {
  const environment: NodeJS.ProcessEnv = {};
  for (const [name, value] of Object.entries(process.env)) {
    if (!/^GIT_/i.test(name)) environment[name] = value;
  }
  return {
    ...environment,
    LC_ALL: 'C',
    GIT_TERMINAL_PROMPT: '0',
    GIT_OPTIONAL_LOCKS: '0',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: devNull,
    GIT_NO_REPLACE_OBJECTS: '1',
    GIT_NO_LAZY_FETCH: '1',
    GIT_ALLOW_PROTOCOL: 'none',
  };
}

const fixedArgs = ['-c', 'core.fsmonitor=', '-c', `core.hooksPath=${devNull}`];

/** Runs git with the caller's own stdin and stdout, to its end; its exit code. `protocol` as git asked for it. */
export async function runGitAttached(args: readonly string[], protocol: string | undefined): Promise<number> {
  const env = { ...gitEnvironment(), ...(protocol !== undefined && { GIT_PROTOCOL: protocol }) };
  const child = spawn(gitBinary(), [...fixedArgs, ...args], { stdio: 'inherit', env });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve(code ?? 1));
  });
}

/** Starts git without a shell, hooks or fsmonitor. */
export function spawnGit(args: readonly string[], options: GitOptions = {}): GitProcess {
  const okCodes = options.okCodes ?? [0];
  const fixed = [...fixedArgs];
  if (options.gitDir !== undefined) fixed.push(`--git-dir=${options.gitDir}`);
  const child: ChildProcessByStdio<Writable, Readable, Readable> = spawn(gitBinary(), [...fixed, ...args], {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: gitEnvironment(),
  });
  let stderr = '';
  child.stderr.setEncoding('latin1');
  child.stderr.on('data', (text: string) => {
    stderr = (stderr + text).slice(-stderrBytesMax);
  });
  // A git that ends before it has read all closes the pipe; its exit code says why.
  child.stdin.on('error', () => undefined);
  const ended = new Promise<number>((resolve, reject) => {
    child.on('error', (error: NodeJS.ErrnoException) => {
      reject(
        error.code === 'ENOENT'
          ? new MoundError('git-missing', `git was not found ('${gitBinary()}')`, { binary: gitBinary() }, error)
          : new MoundError(
              'git-failed',
              `git could not be started: ${error.message}`,
              { command: args.join(' ') },
              error,
            ),
      );
    });
    child.on('close', (code, signal) => {
      if (code !== null && okCodes.includes(code)) resolve(code);
      else reject(failureOf(args, options.gitDir, { code, signal }, stderr));
    });
  });
  // Whoever cares awaits `ended`; nobody must be able to forget a handler.
  ended.catch(() => undefined);
  return { stdin: child.stdin, stdout: child.stdout, ended, kill: () => void child.kill('SIGKILL') };
}

/** What git says of a repository whose files are damaged or not there. */
const damaged =
  /corrupt|missing (object|blob|tree|commit|tag)|bad (object|tree|pack|index|revision|line length)|unable to (read|unpack|parse|map|find)|cannot be (accessed|read)|could not (read|parse)|not a valid object|inflate|truncated|garbage at end|failed to (read|traverse)|does not (match|point)|wrong (pack|index)|signature mismatch|unexpected line/i;

function failureOf(
  args: readonly string[],
  gitDir: string | undefined,
  { code, signal }: { readonly code: number | null; readonly signal: string | null },
  stderr: string,
): MoundError {
  const said = Buffer.from(stderr.trim(), 'latin1').toString('utf8');
  const how = code === null ? `was ended by ${signal ?? 'a signal'}` : `ended with ${code}`;
  const fields = { command: args.join(' '), exitCode: code, stderr: said };
  if (/not a git repository/i.test(said)) return new MoundError('not-a-git-repository', said, fields);
  const lines = said.split('\n');
  const fatal = lines.find((line) => line.startsWith('fatal: ')) ?? lines.find((line) => line.startsWith('error: '));
  if (gitDir !== undefined && fatal !== undefined && damaged.test(said)) {
    const what = fatal.replace(/^(fatal|error): /, '');
    const message = `'${gitDir}' is damaged: ${what}; 'git fsck' there tells more`;
    return new MoundError('git-unreadable', message, { ...fields, path: gitDir });
  }
  return new MoundError('git-failed', `git ${args[0] ?? ''} ${how}${said === '' ? '' : `: ${said}`}`, fields);
}

/** Writes all of it, at the pace at which git reads. */
export async function writeAll(stdin: Writable, pieces: Iterable<Uint8Array | string>): Promise<void> {
  try {
    await pipeline(Readable.from(pieces), stdin);
  } catch {
    // A git that ends before it has read all closes the pipe; its exit code says why.
  }
}

export interface GitAnswer {
  readonly code: number;
  readonly stdout: Buffer;
}

/** Runs git to its end; for answers that fit in memory. */
export async function runGit(
  args: readonly string[],
  options: GitOptions & { readonly input?: Iterable<Uint8Array | string> } = {},
): Promise<GitAnswer> {
  const git = spawnGit(args, options);
  const chunks: Buffer[] = [];
  git.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
  const [code] = await Promise.all([git.ended, writeAll(git.stdin, options.input ?? [])]);
  return { code, stdout: Buffer.concat(chunks) };
}

/** The lines of a running git's stdout, as bytes in latin1 (one char a byte). */
export async function* linesOf(git: GitProcess): AsyncGenerator<string> {
  let rest = '';
  git.stdout.setEncoding('latin1');
  try {
    for await (const text of git.stdout as AsyncIterable<string>) {
      const lines = (rest + text).split('\n');
      rest = lines.pop() ?? '';
      yield* lines;
    }
    if (rest !== '') yield rest;
    await git.ended;
  } finally {
    git.kill();
  }
}

/** Errors: `git-missing`, `git-too-old`. */
export async function requireGit(): Promise<string> {
  const { stdout } = await runGit(['--version']);
  const said = stdout.toString('utf8').trim();
  const match = /(\d+)\.(\d+)(?:\.\d+)*/.exec(said);
  const [major, minor] = [Number(match?.[1] ?? 0), Number(match?.[2] ?? 0)];
  if (major < oldestMajor || (major === oldestMajor && minor < oldestMinor)) {
    throw new MoundError('git-too-old', `git >= ${oldestMajor}.${oldestMinor} is needed, found '${said}'`, {
      found: said,
      needed: `${oldestMajor}.${oldestMinor}`,
    });
  }
  return match?.[0] ?? '';
}
