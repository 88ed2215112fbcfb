import { join } from 'node:path';

import type { CompactReport } from '@mound/vcs';

import { AskedProcess } from '../../harness/asked-process.ts';
import { throwIfInterrupted } from '../../harness/interrupt.ts';
import { makeResult } from '../../harness/make-result.ts';
import { type ResultFile } from '../../harness/result-file.ts';
import { percentileOf } from '../../harness/statistics.ts';
import { isInMemory, withTempDir } from '../../harness/temp-dir.ts';
import { gitIsAvailable } from '../../subjects/git/git-repo.ts';
import { attempt, type Findings } from '../findings.ts';
import type { Suite, SuiteContext, SuiteOutcome } from '../suite.ts';
import { targetNotes } from '../targets.ts';
import type { CompacterRequest } from './compacter-process.ts';
import { forkInTurn, forkMany } from './forks.ts';
import { measureGitForms } from './git-forms.ts';
import { GrowingRepo } from './growing-repo.ts';
import { growStretch, type Stretch } from './growth.ts';
import { scaleOptions, scaleParametersOf, type ScaleParameters } from './parameters.ts';
import { headFaults, logFaults } from './read-back.ts';
import { measureReads, measureScan } from './reads.ts';
import { ScaleSamples } from './samples.ts';
import { scaleTargets } from './targets.ts';

export const scaleSuite: Suite = {
  name: 'scale',
  summary:
    'A large repository grows: rate by stretch, disk, memory, reads of old versions, listings, forks; git beside it',
  options: scaleOptions,
  run: (context) => runScaleSuite(scaleParametersOf(context.size, context.values), context),
};

type Context = Pick<SuiteContext, 'dir' | 'signal' | 'progress'>;

const faultsShownMax = 3;
const forksMeasured = 100;
const stepsBesides = 7;

export async function runScaleSuite(parameters: ScaleParameters, context: Context): Promise<SuiteOutcome> {
  const findings: Findings = { notes: [], dir: '', failed: false };
  const result = await withTempDir(context.dir, async (dir): Promise<ResultFile> => {
    findings.dir = dir;
    if (await isInMemory(dir)) findings.notes.push('the directory lies in memory: a flush costs nothing there (--dir)');
    const { commits, stretch } = parameters;
    context.progress.begin(Math.ceil(commits / stretch) + stepsBesides);
    context.progress.step('putting the files in place');
    const grown = await GrowingRepo.make(parameters, dir, context.signal);
    const samples = new ScaleSamples({
      ...grown.workload.fields(),
      inFlight: parameters.inFlight,
      durability: 'flushed',
    });
    try {
      await measureAll(grown, parameters, samples, findings, context);
    } finally {
      context.progress.end();
      await grown.close();
    }
    findings.notes.push(...targetNotes(scaleTargets, samples.all, 'mound'));
    return makeResult({ suite: 'scale', samples: samples.all, notes: findings.notes });
  });
  return { kind: 'result', result, exitCode: findings.failed ? 1 : 0 };
}

async function measureAll(
  grown: GrowingRepo,
  parameters: ScaleParameters,
  samples: ScaleSamples,
  findings: Findings,
  { progress, signal }: Context,
): Promise<void> {
  const { repo, journal } = grown;
  const { commits, forks } = parameters;
  const forked = Math.min(forks, forksMeasured);
  addForks(samples, 'before the first commit', await forkInTurn(repo, 'early', forked));
  findings.notes.push(await grow(grown, parameters, samples, { progress }));
  progress.step('scanning while agents commit');
  await attempt('a scan', 'go on while agents commit', findings, async () => {
    failOn(await measureScan(grown, parameters, samples));
  });
  progress.step('forking');
  addForks(samples, 'after all commits', await forkInTurn(repo, 'late', forked));
  await forkMany(repo, 'more', Math.max(0, forks - 3 * forked), signal);
  addForks(samples, 'after all', await forkInTurn(repo, 'last', forked));
  await grown.close();
  progress.step('reading the log back');
  await attempt('mound', 'be read back', findings, async () => {
    failOn([...(await logFaults(grown.dir, journal)), ...(await headFaults(grown.dir, journal, grown.workload.files))]);
    findings.notes.push(
      `read back: ${journal.length} acknowledged commits are in the log once, at the seq and with the content id that were acknowledged; every head is what was put last`,
    );
  });
  progress.step('reading old versions');
  await attempt('old versions', 'be read back', findings, async () => {
    const { faults, versionsRead, controlShows } = await measureReads(grown, parameters, samples);
    failOn(faults);
    if (!controlShows)
      throw new Error('control: versions with other bytes than were put DO NOT SHOW, trust nothing here');
    const which = versionsRead === journal.length ? 'all' : 'drawn at random';
    findings.notes.push(
      `read back: ${versionsRead} old versions (${which}) are byte for byte what was put, read in a process of their own in random order`,
      'control: versions that are asked with other bytes in mind are told as wrong',
    );
  });
  findings.notes.push(
    `${commits} commits, ${forks} forks; the floor program made a quarter of the same commits between pieces of 10,000`,
    'bytes/commit is growth on disk of all records and indexes, by allocated blocks',
  );
  progress.step('git, for its bytes');
  await addGitForms(grown, parameters, samples, findings);
}

async function grow(
  grown: GrowingRepo,
  { commits, stretch, compact }: ScaleParameters,
  samples: ScaleSamples,
  { progress }: Pick<Context, 'progress'>,
): Promise<string> {
  const compacter = compact ? new AskedProcess<CompacterRequest>('scale-compacter', grown.signal) : undefined;
  await compacter?.ask({ kind: 'start', dir: grown.dir });
  const stretches: Stretch[] = [];
  while (grown.journal.length < commits) {
    progress.step(`commit ${grown.journal.length} of ${commits}`);
    const grownBy = await growStretch(grown, Math.min(stretch, commits - grown.journal.length));
    samples.addStretch(stretches.length, grownBy);
    stretches.push(grownBy);
  }
  samples.addGrowth(stretches);
  if (compacter === undefined) return 'nothing compacted the log';
  const { entries, segments, bytesBefore, bytesAfter } = await compacter.ask<CompactReport>({ kind: 'stop' });
  await compacter.close();
  return `a process beside the writers compacted ${entries} log entries into ${segments} segments, ${bytesBefore} bytes into ${bytesAfter}`;
}

function addForks(samples: ScaleSamples, at: string, timesMs: Float64Array): void {
  samples.add('forkMsP50', { at }, [percentileOf(timesMs, 0.5)]);
  samples.add('forkMsP99', { at }, [percentileOf(timesMs, 0.99)]);
}

function failOn(faults: readonly string[]): void {
  if (faults.length === 0) return;
  throw new Error(`${faults.slice(0, faultsShownMax).join('; ')} (${faults.length} faults)`);
}

async function addGitForms(
  { workload, signal }: GrowingRepo,
  { gitCommits, commits, inFlight }: ScaleParameters,
  samples: ScaleSamples,
  findings: Findings,
): Promise<void> {
  throwIfInterrupted(signal);
  const count = Math.min(gitCommits, commits);
  if (count === 0) return;
  const available = await gitIsAvailable();
  if (available !== true) {
    findings.notes.push(`missing: git's forms (needs ${available.missing})`);
    return;
  }
  await attempt('git', 'take the history in', findings, async () => {
    const operations = workload.stream(inFlight).peek(count);
    const forms = await measureGitForms(workload.files, operations, join(findings.dir, 'git'), signal);
    const where = { stretch: 'all', gitCommits: count };
    samples.add('bytesPerCommit', where, [forms.packedBytes / count], 'git-packed');
    samples.add('bytesPerCommit', where, [forms.looseBytes / count], 'git-loose');
    findings.notes.push(
      `git-packed, git-loose: the first ${count} commits of the same history through fast-import, as one pack with deltas, and as objects of their own (allocated blocks)`,
    );
  });
}
