import type { Command } from 'commander';
import { exitCodes, MoundError } from '../core/errors.ts';
import { absent, version, type Author } from '../core/intent.ts';
import type { Repo } from '../repo/api.ts';
import {
  formatGrant,
  listTokens,
  newSecret,
  parseGrant,
  tokenPrefix,
  tokenRecord,
  withoutToken,
} from '../server/index.ts';
import { Context, parseCount } from './context.ts';
import type { Finish } from './main.ts';
import { exitCodeOfOutcome, printOutcome, writeJson, writeLine } from './output.ts';

interface AddFlags {
  readonly grant?: readonly string[];
  readonly days?: number;
}

const dayMs = 24 * 60 * 60 * 1000;

const addHelp = `
Grants: read, write, read:PREFIX, write:PREFIX (a directory or a file; write includes read of the same),
admin (all, and landing rules, signals and tokens), as-any (to name any author).
Its holder acts as the author of this command: 'mound --agent alice token add alice'.`;

const sayAuthor = ({ name, agent }: Author): string => (agent === undefined ? name : `agent ${agent}`);

function standing(repo: Repo, name: string): number | undefined {
  return repo.snapshot().record(tokenPrefix + name)?.version;
}

/** token, token add, token remove. */
export function addTokenCommands(program: Command, finish: Finish): void {
  const tokens = program
    .command('token')
    .description('who may use a server of this repository')
    .action(async (_flags: object, command: Command) => {
      const context = new Context(command);
      await context.withReadRepo(async (repo) => {
        const found = listTokens(repo).map(({ grants, ...token }) => ({ ...token, grants: grants.map(formatGrant) }));
        if (context.isJson) await writeJson({ tokens: found });
        for (const { name, author, grants, expires } of context.isJson ? [] : found) {
          const until = expires === undefined ? '' : `  until ${new Date(expires).toISOString()}`;
          await writeLine(`${name}  as ${sayAuthor(author)}  ${grants.join(' ')}${until}`);
        }
        finish(exitCodes.ok);
      });
    });

  tokens
    .command('add')
    .description('make a token and print it: it is not kept, only its digest')
    .argument('<name>')
    .option('--grant <grant...>', 'what it allows (default: write)')
    .option('--days <n>', 'for how long (default: until it is removed)', parseCount)
    .addHelpText('after', addHelp)
    .action(async (name: string, { grant = ['write'], days }: AddFlags, command: Command) => {
      const context = new Context(command);
      const secret = newSecret();
      const author = context.author();
      const token = {
        name,
        author,
        grants: grant.map(parseGrant),
        expires: days === undefined ? undefined : Date.now() + days * dayMs,
      };
      const record = tokenRecord(token, secret, absent);
      await context.withRepo(async (repo) => {
        const outcome = await repo.land({ author, message: `Add token ${name}`, records: [record] });
        if (outcome.kind === 'rejected' && outcome.code === 'record-stale') {
          throw new MoundError(
            'invalid-argument',
            `there is a token ${name} already; remove it first, or choose another name`,
          );
        }
        if (outcome.kind !== 'landed') return finish(await printOutcome(outcome, context.isJson));
        await (context.isJson
          ? writeJson({ name, token: secret, grants: token.grants.map(formatGrant) })
          : writeLine(secret));
        finish(exitCodeOfOutcome(outcome));
      });
    });

  tokens
    .command('remove')
    .description('refuse a token from now on (servers at work: within a second)')
    .argument('<name>')
    .action(async (name: string, _flags: object, command: Command) => {
      const context = new Context(command);
      await context.withRepo(async (repo) => {
        const found = standing(repo, name);
        if (found === undefined)
          throw new MoundError('invalid-argument', `there is no token ${name}; 'mound token' lists them`);
        const records = [withoutToken(name, version(found))];
        const outcome = await repo.land({ author: context.author(), message: `Remove token ${name}`, records });
        finish(await printOutcome(outcome, context.isJson));
      });
    });
}
