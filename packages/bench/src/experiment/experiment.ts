import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

import { redacted } from '@mound/swarm';

import { throwIfInterrupted } from '../harness/interrupt.ts';
import { makeResult } from '../harness/make-result.ts';
import type { ResultFile } from '../harness/result-file.ts';
import { attempt, type Findings } from '../suites/findings.ts';
import { UsageError, type Suite, type SuiteContext, type SuiteOutcome } from '../suites/suite.ts';
import { runCell } from './cell-run.ts';
import { writeWhole } from './cell-result.ts';
import { cellsOf, type Cell, type StandIn } from './cells.ts';
import { codeTables } from './code-tables.ts';
import { costTables } from './costs.ts';
import { dryRunOf, dryRunText } from './dry-run.ts';
import { loadExperiment, type Experiment } from './experiment-file.ts';
import { notesOf, samplesOf, type Finished } from './figures.ts';
import { missingFor, seedsFor } from './preparation.ts';
import { publishedNotes, publishedSamples } from './published.ts';

const name = 'experiment';

export const experimentSuite: Suite = {
  name,
  summary: 'arms by seeds of one goal, as a file says: models, mechanisms, equal budgets; score, cost by role, code',
  argument: { flags: '<file>', name: 'file', description: 'what to run: JSON or a module' },
  options: [
    { flags: '--dry-run', description: 'say what would run, what is missing and what it would cost at most' },
    { flags: '--out <dir>', description: 'where runs are kept, to be gone on with (default: experiment-NAME)' },
    { flags: '--replay <dir>', description: 'answer from the cassettes of an earlier --out, or its cells directory' },
    { flags: '--no-sandbox', description: 'build and score with the network and all files within reach' },
    { flags: '--mailbox <dir>', description: 'answer by hand: a mailbox for each run below it' },
  ],
  run: runExperimentSuite,
};

async function runExperimentSuite({ values, signal, progress }: SuiteContext): Promise<SuiteOutcome> {
  const experiment = await loadExperiment(values['file'] as string, process.env);
  const cells = cellsOf(experiment, standInOf(values));
  if (values['dryRun'] === true) {
    const json = dryRunOf(experiment, cells, process.env, values['sandbox'] !== false);
    return { kind: 'own', json, text: dryRunText(json), exitCode: 0 };
  }
  const isSandboxed = values['sandbox'] !== false;
  const missing = missingFor(experiment, cells, process.env, isSandboxed);
  if (missing.length > 0) throw new UsageError(`${missing.join('; ')} (--dry-run says all of it)`);
  const out = resolve((values['out'] as string | undefined) ?? `experiment-${experiment.name}`);
  mustBeOurs(experiment, cells, out);
  const seeds = await seedsFor(experiment, out, signal);
  const findings: Findings = { notes: [], dir: out, failed: false };
  const finished: Finished[] = [];
  progress.begin(cells.length);
  try {
    for (const cell of cells) {
      throwIfInterrupted(signal);
      progress.step(cell.name);
      const place = { dir: join(out, 'cells', cell.name), seeds, signal, isSandboxed, say: (line: string) => findings.notes.push(line) }; // prettier-ignore
      await attempt(cell.name, 'be run to its end', findings, async () => {
        finished.push({ cell, result: await runCell(cell, experiment, place) });
      });
    }
  } finally {
    progress.end();
  }
  const result = await resultOf(experiment, finished, findings);
  writeWhole(join(out, 'result.json'), result);
  const isBlind = finished.some(({ result: { curve } }) => curve?.control?.shows === false);
  const next = `kept in ${out}; as a page: mound bench report ${join(out, 'result.json')} --out page.html`;
  return { kind: 'result', result, next, exitCode: findings.failed || isBlind ? 1 : 0 };
}

async function resultOf(
  experiment: Experiment,
  finished: readonly Finished[],
  findings: Findings,
): Promise<ResultFile> {
  const samples = [...samplesOf(experiment.name, finished), ...publishedSamples()];
  return makeResult({
    suite: name,
    samples,
    tables: [...costTables(samples), ...codeTables(finished)],
    notes: [...notesOf(finished, experiment.score !== undefined), ...findings.notes, ...publishedNotes],
    seeds: [...new Set(finished.map(({ cell }) => cell.seed))],
  });
}

function standInOf(values: SuiteContext['values']): StandIn | undefined {
  const replay = values['replay'] as string | undefined;
  const mailbox = values['mailbox'] as string | undefined;
  if (replay !== undefined && mailbox !== undefined) throw new UsageError('--replay and --mailbox: give one of them');
  if (mailbox !== undefined) return { kind: 'mailbox', dir: resolve(mailbox) };
  if (replay === undefined) return undefined;
  const dir = resolve(replay);
  return { kind: 'replay', dir: existsSync(join(dir, 'cells')) ? join(dir, 'cells') : dir };
}

/** Runs of another experiment must not be taken for this one's. Errors: `UsageError`. */
function mustBeOurs(experiment: Experiment, cells: readonly Cell[], out: string): void {
  const { goal, unset: _, here: __, ...form } = experiment;
  const configs = cells.map((cell) => [cell.name, redacted(cell.config, process.env)]);
  const what = JSON.stringify([goal, { ...form, seeds: 0, tree: undefined, references: [] }, configs.slice(0, configs.length / experiment.seeds)]); // prettier-ignore
  const sha256 = createHash('sha256').update(what).digest('hex');
  const file = join(out, 'experiment.json');
  if (existsSync(file)) {
    const found = JSON.parse(readFileSync(file, 'utf8')) as { readonly sha256?: string; readonly name?: string };
    if (found.sha256 === sha256) return;
    throw new UsageError(`--out ${out} holds runs of '${found.name}' as another file, or other models, had it; name another directory`); // prettier-ignore
  }
  mkdirSync(out, { recursive: true });
  writeWhole(file, { format: 1, name: experiment.name, sha256 });
}
