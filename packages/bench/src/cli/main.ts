import { readFile, writeFile } from 'node:fs/promises';

import { Command, CommanderError, Option } from 'commander';
import pc from 'picocolors';
import { exitCodeOfError, exitCodes, isMoundError } from '@mound/vcs';

import { Interrupted } from '../harness/interrupt.ts';
import type { ResultFile } from '../harness/result-file.ts';
import { htmlReport } from '../report/html.ts';
import { markdownReport } from '../report/markdown.ts';
import { readResult } from '../report/read-result.ts';
import { textReport } from '../report/text.ts';
import { experimentSuite } from '../experiment/experiment.ts';
import { suites as measured } from '../suites/index.ts';
import { UnreadableError, UsageError, type Suite, type SuiteOutcome, type SuiteSize } from '../suites/suite.ts';
import { listenForInterruption } from './interruption.ts';
import { progressOn } from './progress-bar.ts';

const suites: readonly Suite[] = [...measured, experimentSuite];

/** `mound bench …`; the exit code. */
export async function main(argv: string[]): Promise<number> {
  const interruption = listenForInterruption();
  // A reader that has gone away (`| head`) ends the command quietly.
  const onOutputError = (error: NodeJS.ErrnoException): void => {
    if (error.code === 'EPIPE') process.exit(exitCodes.ok);
    throw error;
  };
  process.stdout.on('error', onOutputError);
  try {
    let exitCode = 0;
    const program = buildProgram(interruption.signal, (code) => (exitCode = code));
    await program.parseAsync(argv, { from: 'user' });
    return exitCode;
  } catch (error) {
    return exitCodeOf(error, interruption.signal, argv.includes('--json'));
  } finally {
    // What was written tells only in the next turn that nobody reads it.
    await new Promise((resolve) => setImmediate(resolve));
    process.stdout.off('error', onOutputError);
    interruption.release();
  }
}

function exitCodeOf(error: unknown, signal: AbortSignal, isJson: boolean): number {
  // commander has written its line already.
  if (error instanceof CommanderError && error.exitCode === 0) return exitCodes.ok;
  // Whatever broke first: children that the same Ctrl-C ended, pipes to them.
  const isInterrupted = signal.aborted || error instanceof Interrupted;
  const line = isInterrupted ? 'interrupted' : lineOf(error);
  if (!(error instanceof CommanderError)) {
    process.stderr.write(`${process.stderr.isTTY ? pc.red('mound bench:') : 'mound bench:'} ${line}\n`);
  }
  if (isJson && !isInterrupted)
    process.stdout.write(`${JSON.stringify({ error: isMoundError(error) ? error.code : 'failed', message: line })}\n`);
  if (isInterrupted) return exitCodes.interrupted;
  if (error instanceof UsageError || error instanceof CommanderError) return exitCodes.usage;
  return error instanceof UnreadableError ? exitCodes.unreadable : exitCodeOfError(error);
}

/** One line; where the system refused a file, which one and how. */
function lineOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { code, path } = error as NodeJS.ErrnoException;
  if (code !== undefined && path !== undefined) return `${path} cannot be used (${code}); name another directory`;
  return (error.message.split('\n')[0] ?? '').replace(/^error: /, '');
}

function buildProgram(signal: AbortSignal, setExitCode: (code: number) => void): Command {
  const program = new Command('mound bench')
    .description('Measures Mound beside git and others, on the same work in the same run')
    .option('--list', 'list the suites')
    .option('--json', 'one object on one line of standard output')
    .enablePositionalOptions()
    .exitOverride()
    .showSuggestionAfterError(false)
    .configureOutput({ outputError: (text, write) => write(`mound bench: ${text.replace(/^error: /, '')}`) })
    .argument('[suite...]', 'one of the commands below')
    .action((named: readonly string[], { list, json }: { readonly list?: true; readonly json?: true }) => {
      const found = named[0] === undefined ? 'no suite named' : `no suite '${named[0]}'`;
      if (list !== true) throw new UsageError(`${found}; there are ${suites.map(({ name }) => name).join(', ')}`);
      if (json === true)
        process.stdout.write(`${JSON.stringify({ suites: suites.map(({ name, summary }) => ({ name, summary })) })}\n`);
      else for (const { name, summary } of suites) process.stdout.write(`${name.padEnd(12)}  ${summary}\n`);
    });
  for (const suite of suites) addSuite(program, suite, signal, setExitCode);
  program
    .command('report')
    .description('make one page of result files; runs nothing')
    .argument('<file...>', 'what `mound bench SUITE --json` printed')
    .addOption(new Option('--html', 'a page with charts (the default where --out ends in .html)').conflicts('markdown'))
    .option('--markdown', 'tables in Markdown (the default)')
    .option('--out <file>', 'written there instead of to standard output')
    .action(report);
  return program;
}

function addSuite(program: Command, suite: Suite, signal: AbortSignal, setExitCode: (code: number) => void): void {
  const command = program
    .command(suite.name)
    .description(suite.summary)
    .addOption(new Option('--quick', 'small and fast, for a first look').conflicts('full'))
    .option('--full', 'more rounds and longer ones')
    .option('--json', 'one object on one line of standard output')
    .option('--dir <dir>', 'where temporary directories are made');
  for (const { flags, description, parse } of suite.options) {
    const option = new Option(flags, description);
    if (parse !== undefined) option.argParser((text) => namingOption(flags, () => parse(text)));
    command.addOption(option);
  }
  const { argument } = suite;
  if (argument !== undefined) command.argument(argument.flags, argument.description);
  command.action(async (...given: readonly unknown[]) => {
    const values = { ...(given[argument === undefined ? 0 : 1] as Readonly<Record<string, unknown>>) };
    if (argument !== undefined && given[0] !== undefined) values[argument.name] = given[0];
    const size: SuiteSize = values['quick'] === true ? 'quick' : values['full'] === true ? 'full' : 'default';
    const dir = values['dir'] as string | undefined;
    const outcome = await suite.run({ size, values, dir, signal, progress: progressOn(process.stderr) });
    setExitCode(outcome.exitCode);
    if (values['json'] === true || program.opts()['json'] === true) {
      process.stdout.write(`${JSON.stringify(outcome.kind === 'result' ? outcome.result : outcome.json)}\n`);
    } else process.stdout.write(textOf(outcome));
  });
}

function textOf(outcome: SuiteOutcome): string {
  if (outcome.kind === 'own') return `${outcome.text}\n`;
  const { result, text, next } = outcome;
  return `${text === undefined ? textReport(result) : `${text}\n`}${next === undefined ? '' : `${next}\n`}`;
}

function namingOption<Value>(flags: string, parse: () => Value): Value {
  try {
    return parse();
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    throw new UsageError(`${flags.split(' ')[0] ?? flags}: ${error.message}`);
  }
}

interface ReportOptions {
  readonly html?: true;
  readonly markdown?: true;
  readonly out?: string;
}

async function report(files: readonly string[], { html, markdown, out }: ReportOptions): Promise<void> {
  const results: ResultFile[] = [];
  for (const file of files) {
    const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
      throw new UnreadableError(`${file} cannot be read (${error.code ?? error.message})`);
    });
    const result = readResult(text);
    if (typeof result === 'string') throw new UnreadableError(`${file} ${result}`);
    results.push(result);
  }
  const isHtml = html ?? (markdown === undefined && out?.endsWith('.html') === true);
  const page = isHtml ? htmlReport(results) : results.map(markdownReport).join('\n');
  if (out === undefined) process.stdout.write(page);
  else {
    await writeFile(out, page).catch((error: NodeJS.ErrnoException) => {
      throw new UnreadableError(`${out} cannot be written (${error.code ?? error.message})`);
    });
  }
}
