import type { Command } from 'commander';
import { exitCodes, MoundError } from '../core/errors.ts';
import { absent, version, type RecordWrite } from '../core/intent.ts';
import type { Repo } from '../repo/api.ts';
import { rulePrefix, type Rule } from '../rules/rule.ts';
import { ruleRecord } from '../rules/rule-record.ts';
import { Context, readStdin } from './context.ts';
import type { Finish } from './main.ts';
import { printOutcome, writeJson, writeLine } from './output.ts';

const ruleHelp = `
Standard input is one JSON object:
  {"kind": "scope", "paths": ["src/parser", "docs/*.md"]}        intents change these paths only
  {"kind": "line-budget", "paths": ["GUIDE.md"], "linesMax": 80}  no file of these grows beyond so many lines
  {"kind": "references", "paths": ["*"], "bad": "refuse"}         what is added cites active decisions only; or "flag"
  {"kind": "links", "paths": ["field-guide"]}                    no Markdown link of these files leads nowhere
  {"kind": "fence", "record": "lease/{task}"}                     an intent also writes this record, as its author saw it
Each may say whom it is about: "to": {"tasks", "agents", "roles", "kinds", "branches"}, lists of which all given
ones have to fit. A path that names a directory names all below it; patterns are those of .gitattributes.`;

/** The record of a rule, based on what stands there now: two that change one rule at once do not both win. */
function changed(repo: Repo, name: string, rule: Rule | null): RecordWrite {
  const known = repo.snapshot().record(`${rulePrefix}${name}`);
  return ruleRecord(name, rule, known === undefined ? absent : version(known.version));
}

function parse(text: string): Rule {
  try {
    // Checked where the record is made of it.
    return JSON.parse(text) as Rule;
  } catch (cause) {
    throw new MoundError(
      'stdin-malformed',
      `standard input is no rule: ${String(cause)}; see 'mound rules set --help'`,
    );
  }
}

/** rules, rules set, rules remove. */
export function addRuleCommands(program: Command, finish: Finish): void {
  const rules = program
    .command('rules')
    .description('the landing rules, which every process enforces')
    .action(async (_flags: object, command: Command) => {
      const context = new Context(command);
      await context.withReadRepo(async (repo) => {
        const found = repo.rules();
        if (context.isJson) await writeJson({ rules: found });
        for (const { name, rule } of context.isJson ? [] : found) await writeLine(`${name}  ${JSON.stringify(rule)}`);
        finish(exitCodes.ok);
      });
    });

  const land = async (command: Command, name: string, rule: Rule | null): Promise<void> => {
    const context = new Context(command);
    await context.withRepo(async (repo) => {
      const records = [changed(repo, name, rule)];
      const message = `${rule === null ? 'Remove' : 'Set'} landing rule ${name}`;
      finish(await printOutcome(await repo.land({ author: context.author(), message, records }), context.isJson));
    });
  };

  rules
    .command('set')
    .description('set a rule to what standard input says')
    .addHelpText('after', ruleHelp)
    .argument('<name>')
    .action(async (name: string, _flags: object, command: Command) =>
      land(command, name, parse((await readStdin()).toString('utf8'))),
    );

  rules
    .command('remove')
    .description('take a rule away')
    .argument('<name>')
    .action((name: string, _flags: object, command: Command) => land(command, name, null));
}
