import { rm } from 'node:fs/promises';
import { join } from 'node:path';

import { throwIfInterrupted } from '../../harness/interrupt.ts';
import { makeResult } from '../../harness/make-result.ts';
import { sampleOf, type Sample, type WorkloadFields } from '../../harness/result-file.ts';
import { rotate } from '../../harness/rounds.ts';
import { percentileOf } from '../../harness/statistics.ts';
import { diskBytesOf, withTempDir } from '../../harness/temp-dir.ts';
import { attempt, type Findings } from '../findings.ts';
import type { Suite, SuiteContext, SuiteOutcome } from '../suite.ts';
import { compareHistories, spoil } from './comparison.ts';
import { GitHistoryCopy } from './git-history.ts';
import { makeOddHistory } from './odd-history.ts';
import { gitArgument, gitOptions, gitParametersOf, type GitParameters } from './parameters.ts';
import { catFile, control, fastImport, importer, judge, roundSamples, spoiltExport, type Round } from './samples.ts';
import { doWork, readInFreshProcess, type Cost } from './work.ts';

export const gitSuite: Suite = {
  name: 'git',
  summary: 'A whole git history in and out: time, memory and bytes beside git fast-import, every id compared',
  argument: gitArgument,
  options: gitOptions,
  run: (context) => runGitSuite(gitParametersOf(context.size, context.values), context),
};

type Context = Pick<SuiteContext, 'dir' | 'signal' | 'progress'>;

const generatedFiles = 60;
const mebibyte = 1024 * 1024;
const namedMax = 3;

/** Errors: `not-a-git-repository`, `git-missing`. */
export async function runGitSuite(parameters: GitParameters, context: Context): Promise<SuiteOutcome> {
  return withTempDir(context.dir, async (dir): Promise<SuiteOutcome> => {
    context.progress.begin(8 + parameters.rounds * 5);
    try {
      const run = new GitRun(parameters, dir, context);
      await run.prepare();
      await run.compare();
      await run.lookAtStore();
      await run.race();
      const { samples, findings } = run;
      const { notes, isRight } = judge(samples);
      const all = [...findings.notes, ...notes];
      const result = await makeResult({ suite: gitSuite.name, samples, notes: all, seeds: [parameters.seed] });
      return { kind: 'result', result, exitCode: isRight && !findings.failed ? 0 : 1 };
    } finally {
      context.progress.end();
    }
  });
}

class GitRun {
  readonly samples: Sample[] = [];
  readonly findings: Findings;
  private readonly parameters: GitParameters;
  private readonly dir: string;
  private readonly context: Context;
  private readonly source: GitHistoryCopy;
  private readonly store: string;
  private readonly exported: GitHistoryCopy;
  private packedBytes = 0;
  private common: WorkloadFields = {};
  private hasStream = false;

  constructor(parameters: GitParameters, dir: string, context: Context) {
    this.parameters = parameters;
    this.dir = dir;
    this.context = context;
    this.findings = { notes: [], dir, failed: false };
    this.source = new GitHistoryCopy(join(dir, 'source.git'), context.signal);
    this.store = join(dir, 'store');
    this.exported = new GitHistoryCopy(join(dir, 'exported.git'), context.signal);
  }

  private step(label: string): void {
    throwIfInterrupted(this.context.signal);
    this.context.progress.step(label);
  }

  /** The history, the store and the export that everything else looks at; they are the warm-up, too. */
  async prepare(): Promise<void> {
    const { gitDir, commits, seed } = this.parameters;
    const { signal } = this.context;
    this.step(gitDir === undefined ? 'generating' : 'copying');
    if (gitDir === undefined) {
      await makeOddHistory(this.source.gitDir, { seed, commits, files: generatedFiles }, signal);
    } else await GitHistoryCopy.of(gitDir, this.source.gitDir, signal);
    const deltasAnew = gitDir === undefined;
    await this.source.pack([], { deltasAnew });
    this.step('importing');
    const { skippedRefs } = await this.import(this.store);
    if (skippedRefs.length > 0) {
      this.findings.notes.push(`refs that have no place in Mound are left out: ${skippedRefs.join(', ')}`);
    }
    this.packedBytes = await this.source.pack(skippedRefs, { deltasAnew: false });
    this.common = {
      source: gitDir === undefined ? 'generated' : 'history',
      commits: (await this.source.trees()).size,
    };
    this.step('exporting');
    const { skippedRefs: notOut } = await this.export(this.exported.gitDir);
    if (notOut.length > 0) this.findings.notes.push(`left out of the export: ${notOut.join(', ')}`);
    this.step('writing the stream');
    this.hasStream = await attempt(fastImport, 'be given the history', this.findings, () =>
      this.source.writeStream(this.streamFile),
    );
  }

  private get streamFile(): string {
    return join(this.dir, 'stream');
  }

  private import(store: string): Promise<Cost> {
    return doWork({ kind: 'import', gitDir: this.source.gitDir, dir: store }, this.context.signal);
  }

  private export(gitDir: string): Promise<Cost> {
    return doWork({ kind: 'export', gitDir, dir: this.store }, this.context.signal);
  }

  /** The export against the source, then a spoilt one, which must show. */
  async compare(): Promise<void> {
    this.step('comparing');
    const workload = { workload: 'git-comparison', ...this.common };
    const tell = async (subject: string): Promise<void> => {
      const { trees, refs, objects } = await compareHistories(this.source, this.exported);
      this.samples.push(
        sampleOf(subject, workload, 'wrongTrees', [trees.length]),
        sampleOf(subject, workload, 'wrongRefs', [refs.length]),
        sampleOf(subject, workload, 'missingObjects', [objects.length]),
      );
      const named = [...trees, ...refs, ...objects].slice(0, namedMax);
      if (subject === importer && named.length > 0) this.findings.notes.push(`differs: ${named.join(', ')}`);
    };
    await tell(importer);
    await spoil(this.exported);
    await tell(spoiltExport);
    await rm(this.exported.gitDir, { recursive: true });
  }

  /** What it takes on disk, and how fast old versions come from it. */
  async lookAtStore(): Promise<void> {
    this.step('collecting');
    const { signal } = this.context;
    const { reads, seed } = this.parameters;
    const workload = { workload: 'git-store', ...this.common };
    await doWork({ kind: 'gc', dir: this.store }, signal);
    const bytes = await diskBytesOf(this.store);
    this.samples.push(
      sampleOf(importer, workload, 'storeMiB', [bytes / mebibyte]),
      sampleOf('git-packed', workload, 'storeMiB', [this.packedBytes / mebibyte]),
      sampleOf(importer, workload, 'ratioToPackedSize', [bytes / this.packedBytes]),
    );
    this.step('reading versions');
    const versions = await this.source.drawFiles(reads, seed);
    const { timesUs, wrong } = await readInFreshProcess({ kind: 'read', dir: this.store, versions }, signal);
    if (wrong.length > 0) this.findings.notes.push(`read wrong: ${wrong.slice(0, namedMax).join(', ')}`);
    this.samples.push(sampleOf(importer, workload, 'wrongReads', [wrong.length]));
    if (timesUs.length === 0) return;
    this.samples.push(
      sampleOf(importer, workload, 'readUsP50', [percentileOf(timesUs, 0.5)]),
      sampleOf(importer, workload, 'readUsP99', [percentileOf(timesUs, 0.99)]),
    );
    this.findings.notes.push(
      `${versions.length} versions of files at commits drawn at random were read, in a process of their own`,
    );
  }

  /** The arms in interleaved rounds. */
  async race(): Promise<void> {
    const rounds: Round[] = [];
    for (let round = 0; round < this.parameters.rounds; round++) {
      const imports = new Map<string, Cost>();
      let exported: Cost | undefined;
      const arms: readonly (readonly [string, () => Promise<Cost>])[] = [
        [importer, () => this.import(this.place('import'))],
        [fastImport, () => this.fastImport()],
        ['export', () => this.export(this.place('export'))],
        [catFile, () => this.readAll()],
        [control, () => this.importTwice()],
      ];
      for (const [name, run] of rotate(arms, round)) {
        this.step(`${name}, round ${round + 1} of ${this.parameters.rounds}`);
        if (name === fastImport && !this.hasStream) continue;
        await attempt(name, 'be run', this.findings, async () => {
          const cost = await run();
          if (name === 'export') exported = cost;
          else imports.set(name, cost);
        });
        for (const place of ['import', 'again', 'export'])
          await rm(this.place(place), { recursive: true, force: true });
      }
      rounds.push({ imports, exported });
    }
    this.samples.push(...roundSamples(rounds, this.common));
    this.findings.notes.push(
      `${catFile} is the read floor: git reads every object once and throws it away; ${fastImport} takes the stream of fast-export, which is written before, as fast as it can, and checks nothing`,
      'an import is measured from the call in a process of its own; CPU and memory are those of all processes of a run, git included',
    );
  }

  private place(name: string): string {
    return join(this.dir, `round-${name}`);
  }

  private async fastImport(): Promise<Cost> {
    const target = new GitHistoryCopy(this.place('import'), this.context.signal);
    await target.init();
    const args = ['fast-import', '--quiet', '--force'];
    return doWork({ kind: 'git', gitDir: target.gitDir, args, inputFile: this.streamFile }, this.context.signal);
  }

  private readAll(): Promise<Cost> {
    const args = ['cat-file', '--batch-all-objects', '--batch', '--buffer', '--unordered'];
    return doWork({ kind: 'git', gitDir: this.source.gitDir, args }, this.context.signal);
  }

  private async importTwice(): Promise<Cost> {
    const first = await this.import(this.place('import'));
    const second = await this.import(this.place('again'));
    return {
      ...first,
      seconds: first.seconds + second.seconds,
      cpuSeconds: first.cpuSeconds && second.cpuSeconds && first.cpuSeconds + second.cpuSeconds,
    };
  }
}
