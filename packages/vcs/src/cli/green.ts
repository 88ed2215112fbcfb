import { Option, type Command } from 'commander';
import {
  keepGreen,
  readGreen,
  type CulpritView,
  type GreenPolicy,
  type GreenReport,
  type GreenView,
} from '../check/index.ts';
import { exitCodes } from '../core/errors.ts';
import { Context, parseCount } from './context.ts';
import type { Finish } from './main.ts';
import { warn, writeJson, writeLine } from './output.ts';

interface GreenFlags {
  readonly check?: string;
  readonly branch?: string;
  readonly policy?: GreenPolicy;
  readonly good?: number;
  readonly runs?: number;
  readonly seconds?: number;
  readonly secondsMax?: number;
}

const firstLine = (text: string): string => text.split('\n')[0] ?? '';

function sayCulprit({ seq, author, message, action }: CulpritView): string {
  const who = [author.agent ?? author.name, author.role, author.model].filter(Boolean).join(', ');
  const where = 'branch' in action && action.branch !== undefined ? `, whole on branch ${action.branch}` : '';
  const done = {
    told: () => '',
    reverted: () => `; taken back${where}`,
    quarantined: () => `; taken back${where}`,
    kept: () => `; taking it back is a conflict${where}`,
    refused: () => `; it could not be taken back${where}`,
  }[action.kind]();
  return `seq ${seq} by ${who} broke it: ${firstLine(message)}${done}`;
}

async function printReport({ kind, green, head, culprits, candidates }: GreenReport): Promise<void> {
  for (const culprit of culprits) await writeLine(sayCulprit(culprit));
  if (candidates.length > 1) await writeLine(`what broke it is among ${candidates.join(', ')}; the rest was not tried`);
  const at = green === undefined ? 'no seq is known at which it passes' : `green is ${green}`;
  const says = {
    green: 'passes',
    flaky: 'failed, and passed when it was run again',
    red: 'fails',
    unknown: 'fails',
    skipped: 'cannot be tried',
  }[kind];
  await writeLine(`the newest landing, ${head}, ${says}; ${at}`);
}

async function printView({ green, head, passed, failed, flaky, passRate, culprits }: GreenView): Promise<void> {
  const again = flaky > 0 ? ` (${flaky} when run again)` : '';
  const share =
    passRate === undefined
      ? 'it was never checked'
      : `${passed + flaky} of ${passed + failed + flaky} checks passed${again}`;
  await writeLine(`green is ${green ?? 'unknown'}, the newest landing ${head}; ${share}`);
  for (const culprit of culprits) await writeLine(sayCulprit(culprit));
}

export function addGreenCommand(program: Command, finish: Finish): void {
  program
    .command('green')
    .description('keep the tag green at the newest landing at which a check passes; without --check: how it stands')
    .option(
      '--check <command>',
      'for /bin/sh, in a copy of the snapshot; exit code 0: good, 125: cannot be tried, 1 to 127: bad',
    )
    .option('--branch <name>', 'default: main')
    .addOption(
      new Option('--policy <policy>', 'what becomes of the landing that broke it').choices([
        'tell',
        'revert',
        'quarantine',
      ]),
    )
    .option('--good <seq>', 'a seq at which it passes; default: the tag, else one that is looked for', parseCount)
    .option('--runs <n>', 'it has to fail so often in a row to count as failed; default: 2', parseCount)
    .option('--seconds <n>', 'of one run of the command; default: 600', parseCount)
    .option('--seconds-max <n>', 'of the whole search; default: 3600', parseCount)
    .action(async (flags: GreenFlags, command: Command) => {
      const context = new Context(command);
      const { check, branch, ...rest } = flags;
      if (check === undefined) {
        await context.withReadRepo(async (repo) => {
          const view = readGreen(repo, branch);
          await (context.isJson ? writeJson({ ...view, passRate: view.passRate ?? null }) : printView(view));
          finish(exitCodes.ok);
        });
        return;
      }
      const stop = new AbortController();
      const interrupt = (): void => stop.abort();
      process.once('SIGINT', interrupt);
      try {
        await context.withRepo(async (repo) => {
          const report = await keepGreen(repo, {
            command: ['/bin/sh', '-c', check],
            ...(branch !== undefined && { branch }),
            ...rest,
            signal: stop.signal,
            onOutput: (piece) => void process.stderr.write(piece),
            onTried: (seq, { verdict }) => (context.isJson ? undefined : warn(`seq ${seq} ${verdict}`)),
          });
          await (context.isJson ? writeJson(report) : printReport(report));
          finish(report.kind === 'green' || report.kind === 'flaky' ? exitCodes.ok : exitCodes.other);
        });
      } finally {
        process.removeListener('SIGINT', interrupt);
      }
    });
}
