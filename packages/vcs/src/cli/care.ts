import type { Command } from 'commander';
import { exitCodes } from '../core/errors.ts';
import { initRepo } from '../repo/open.ts';
import { Context } from './context.ts';
import { outcomeFields, writeJson, writeLine } from './output.ts';
import type { Finish } from './main.ts';

interface MarkFlags {
  readonly reason: string;
  readonly branch?: string;
}

/** init, fsck, stats, flag, freeze, thaw. */
export function addCareCommands(program: Command, finish: Finish): void {
  program
    .command('init')
    .description('create a repository')
    .argument('[dir]', 'default: here')
    .action(async (dir: string | undefined, _flags: object, command: Command) => {
      const context = new Context(command);
      const repo = await initRepo(dir ?? context.options.repo ?? process.cwd());
      const { dir: home, formatVersion } = repo;
      await repo.close();
      await (context.isJson ? writeJson({ repo: home, formatVersion }) : writeLine(`made a repository in ${home}`));
      finish(exitCodes.ok);
    });

  program
    .command('fsck')
    .description('verify every object, chain and index')
    .action(async (_flags: object, command: Command) => {
      const context = new Context(command);
      await context.withReadRepo(async (repo) => {
        const report = repo.fsck();
        if (context.isJson) await writeJson(report);
        else {
          for (const { code, seq, message } of report.errors) await writeLine(`${code} at seq ${seq}: ${message}`);
          await writeLine(`${report.entries} entries, ${report.objects} objects: ${report.ok ? 'ok' : 'damaged'}`);
        }
        finish(report.ok ? exitCodes.ok : exitCodes.other);
      });
    });

  program
    .command('stats')
    .description('sizes and counts')
    .action(async (_flags: object, command: Command) => {
      const context = new Context(command);
      await context.withReadRepo(async (repo) => {
        const stats = repo.stats();
        if (context.isJson) await writeJson(stats);
        else for (const [name, value] of Object.entries(stats)) await writeLine(`${name}  ${String(value)}`);
        finish(exitCodes.ok);
      });
    });

  for (const [name, description] of [
    ['flag', 'mark a file as too large or too contended'],
    ['freeze', 'park what is to land on a file'],
    ['thaw', 'end a freeze; what was parked is decided again'],
  ] as const) {
    program
      .command(name)
      .description(description)
      .argument('<path>')
      .requiredOption('--reason <text>', 'why')
      .option('--branch <name>', 'default: main')
      .action(async (path: string, flags: MarkFlags, command: Command) => {
        const context = new Context(command);
        await context.withRepo(async (repo) => {
          const options = { author: context.author(), ...flags };
          const done =
            name === 'thaw' ? await repo.thaw(path, options) : { seq: await repo[name](path, options), parked: [] };
          const state = { flag: 'flagged', freeze: 'frozen', thaw: 'thawed' }[name];
          const parked = done.parked.map(({ id, outcome }) => ({ id, ...outcomeFields(outcome) }));
          if (context.isJson) await writeJson({ path, state, seq: done.seq, parked });
          else
            await writeLine(
              `${path} is ${state}${parked.length > 0 ? `; ${parked.length} parked intents decided` : ''}`,
            );
          finish(exitCodes.ok);
        });
      });
  }
}
