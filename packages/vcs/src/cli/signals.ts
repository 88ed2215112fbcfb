import type { Command } from 'commander';
import { exitCodes, MoundError } from '../core/errors.ts';
import { absent, version } from '../core/intent.ts';
import { signalsKey, signalsRecord, type SignalPolicy } from '../rules/signals.ts';
import { Context, readStdin } from './context.ts';
import type { Finish } from './main.ts';
import { printOutcome, writeJson, writeLine } from './output.ts';

const signalsHelp = `
Standard input is one JSON object, or null for the default; what it leaves out is the default's, null turns one off:
  {"oscillation": {"versions": 8},                 a file is again what it was within so many versions
   "pileOn": true,                                 somebody asks for what another has landed already
   "megafile": {"bytes": 262144, "lines": 5000},   a file grows over either
   "contention": {"windowMs": 600000, "intents": 20, "authors": 8},
                                                   so many found the file changed under them
   "flagAgainMs": 3600000,                         a flagged file is flagged again at the earliest
   "freeze": {"ms": 600000, "owner": "splitter"}}  what is flagged is frozen, but for its owner; default: null`;

function parse(text: string): Partial<SignalPolicy> | null {
  try {
    // Checked where the record is made of it.
    return JSON.parse(text) as Partial<SignalPolicy> | null;
  } catch (cause) {
    const message = `standard input is no policy: ${String(cause)}; see 'mound signals set --help'`;
    throw new MoundError('stdin-malformed', message);
  }
}

/** signals, signals set. */
export function addSignalCommands(program: Command, finish: Finish): void {
  const signals = program
    .command('signals')
    .description('what is noticed about files, and from where on')
    .action(async (_flags: object, command: Command) => {
      const context = new Context(command);
      await context.withReadRepo(async (repo) => {
        const policy = repo.signals();
        if (context.isJson) await writeJson(policy);
        for (const [name, value] of context.isJson ? [] : Object.entries(policy)) {
          await writeLine(`${name}  ${JSON.stringify(value)}`);
        }
        finish(exitCodes.ok);
      });
    });

  signals
    .command('set')
    .description('tune the signals to what standard input says')
    .addHelpText('after', signalsHelp)
    .action(async (_flags: object, command: Command) => {
      const context = new Context(command);
      const policy = parse((await readStdin()).toString('utf8'));
      await context.withRepo(async (repo) => {
        const known = repo.snapshot().record(signalsKey);
        const records = [signalsRecord(policy, known === undefined ? absent : version(known.version))];
        const outcome = await repo.land({ author: context.author(), message: 'Tune the signals', records });
        finish(await printOutcome(outcome, context.isJson));
      });
    });
}
