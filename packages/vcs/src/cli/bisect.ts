import type { Command } from 'commander';
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { exitCodes, MoundError } from '../core/errors.ts';
import type { Repo } from '../repo/api.ts';
import { Context, parseCount } from './context.ts';
import type { Finish } from './main.ts';
import { materialise } from './materialise.ts';
import { warn, writeJson, writeLine } from './output.ts';

/** As `git bisect run` has them: 0 good, 125 cannot be tried, up to 127 bad, above: the command itself failed. */
const skipCode = 125;
const badCodeMax = 127;

type Verdict = 'good' | 'bad' | 'skipped';

interface Try {
  readonly seq: number;
  readonly verdict: Verdict;
}

interface BisectFlags {
  readonly good: number;
  readonly bad: number;
  readonly branch?: string;
}

/** Runs a command in a directory of its own; its output goes to standard error. Ends with its whole process group. */
async function runIn(dir: string, command: readonly string[], seq: number, stop: AbortSignal): Promise<number> {
  const [program = '', ...args] = command;
  const child = spawn(program, args, {
    cwd: dir,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, MOUND_BISECT_SEQ: String(seq) },
  });
  child.stdout.pipe(process.stderr, { end: false });
  child.stderr.pipe(process.stderr, { end: false });
  const kill = (): void => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
    } catch {
      // It has ended already.
    }
  };
  stop.addEventListener('abort', kill);
  try {
    return await new Promise<number>((resolve, reject) => {
      child.once('error', (cause) =>
        reject(new MoundError('invalid-argument', `'${program}' cannot be run: ${cause.message}`, { program }, cause)),
      );
      child.once('exit', (code) => resolve(code ?? badCodeMax + 1));
    });
  } finally {
    kill();
    stop.removeEventListener('abort', kill);
  }
}

async function tryAt(
  repo: Repo,
  flags: BisectFlags,
  seq: number,
  command: readonly string[],
  stop: AbortSignal,
): Promise<Verdict> {
  const dir = mkdtempSync(join(tmpdir(), 'mound-bisect-'));
  try {
    materialise(repo.snapshot(seq, flags.branch), dir);
    const code = await runIn(dir, command, seq, stop);
    if (stop.aborted) throw new MoundError('interrupted', 'interrupted');
    if (code > badCodeMax)
      throw new MoundError(
        'invalid-argument',
        `the command ended with ${code} at seq ${seq}; 1 to 127 means bad, 125 skip`,
        { seq, code },
      );
    return code === 0 ? 'good' : code === skipCode ? 'skipped' : 'bad';
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

/** Narrows down the first bad landing; what was skipped leaves more than one that it may be. */
async function search(candidates: readonly number[], tryOne: (seq: number) => Promise<Verdict>): Promise<number[]> {
  let low = 0;
  let high = candidates.length - 1;
  const skipped = new Set<number>();
  while (low < high) {
    // The last is bad already; nearest to the middle that is not skipped.
    const open = candidates.slice(low, high).flatMap((seq, at) => (skipped.has(seq) ? [] : [low + at]));
    if (open.length === 0) break;
    const middle = (low + high - 1) / 2;
    const at = open.reduce((best, next) => (Math.abs(next - middle) < Math.abs(best - middle) ? next : best));
    const seq = candidates[at] ?? 0;
    const verdict = await tryOne(seq);
    if (verdict === 'skipped') skipped.add(seq);
    else if (verdict === 'good') low = at + 1;
    else high = at;
  }
  return candidates.slice(low, high + 1);
}

export function addBisectCommand(program: Command, finish: Finish): void {
  program
    .command('bisect')
    .description('find the first landing at which a command fails; it runs in a copy of each snapshot')
    .argument('<command...>', 'after --; exit code 0: good, 125: cannot be tried, 1 to 127: bad')
    .requiredOption('--good <seq>', 'a seq at which it succeeds', parseCount)
    .requiredOption('--bad <seq>', 'a later one at which it fails', parseCount)
    .option('--branch <name>', 'default: main')
    .action(async (words: string[], flags: BisectFlags, command: Command) => {
      const context = new Context(command);
      const { good, bad } = flags;
      if (good >= bad)
        throw new MoundError('invalid-argument', `--good ${good} is not before --bad ${bad}`, { good, bad });
      const stop = new AbortController();
      const interrupt = (): void => stop.abort();
      process.once('SIGINT', interrupt);
      try {
        await context.withRepo(async (repo) => {
          repo.snapshot(bad, flags.branch);
          const landings = [...repo.log({ from: bad, ...(flags.branch !== undefined && { branch: flags.branch }) })];
          const candidates = landings
            .map(({ seq }) => seq as number)
            .filter((seq) => seq > good)
            .toReversed();
          if (candidates.length === 0)
            throw new MoundError('invalid-argument', `nothing landed after ${good} up to ${bad}`, { good, bad });
          const tried: Try[] = [];
          const found = await search(candidates, async (seq) => {
            const verdict = await tryAt(repo, flags, seq, words, stop.signal);
            tried.push({ seq, verdict });
            if (!context.isJson) warn(`seq ${seq} is ${verdict}`);
            return verdict;
          });
          const views = found.map((seq) => repo.commit(seq));
          const [first] = views;
          const isFound = views.length === 1;
          if (context.isJson) {
            const view =
              isFound && first
                ? {
                    seq: first.seq,
                    commit: first.commit,
                    author: first.author,
                    message: first.message,
                    ...(first.task !== undefined && { task: first.task }),
                  }
                : {};
            await writeJson({ ...view, candidates: found, tried });
          } else if (isFound && first) {
            await writeLine(
              `seq ${first.seq} is the first bad one: ${first.author.name}: ${first.message.split('\n')[0] ?? ''}`,
            );
          } else await writeLine(`the first bad one is among ${found.join(', ')}; the rest could not be tried`);
          finish(isFound ? exitCodes.ok : exitCodes.other);
        });
      } finally {
        process.removeListener('SIGINT', interrupt);
      }
    });
}
