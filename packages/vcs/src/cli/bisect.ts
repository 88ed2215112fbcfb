import type { Command } from 'commander';
import { firstBad, trySnapshot, type CheckVerdict } from '../check/index.ts';
import { exitCodes, MoundError } from '../core/errors.ts';
import { Context, parseCount } from './context.ts';
import type { Finish } from './main.ts';
import { warn, writeJson, writeLine } from './output.ts';

const verdicts = { passed: 'good', failed: 'bad', skipped: 'skipped' } as const;

interface Try {
  readonly seq: number;
  readonly verdict: (typeof verdicts)[CheckVerdict];
}

interface BisectFlags {
  readonly good: number;
  readonly bad: number;
  readonly branch?: string;
}

/** Nobody waits longer for one try. */
const secondsMax = 24 * 60 * 60;

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
          const found = await firstBad(candidates, async (seq) => {
            const env = { MOUND_BISECT_SEQ: String(seq) };
            const onOutput = (piece: Buffer): void => void process.stderr.write(piece);
            const options = { command: words, env, seconds: secondsMax, signal: stop.signal, onOutput };
            const { verdict } = await trySnapshot(repo.snapshot(seq, flags.branch), options);
            tried.push({ seq, verdict: verdicts[verdict] });
            if (!context.isJson) warn(`seq ${seq} is ${verdicts[verdict]}`);
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
