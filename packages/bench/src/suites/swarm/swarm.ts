import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';

import { makeResult } from '../../harness/make-result.ts';
import { sampleOf, type Sample, type WorkloadFields } from '../../harness/result-file.ts';
import { runRounds } from '../../harness/rounds.ts';
import { medianOf, percentileOf } from '../../harness/statistics.ts';
import { isInMemory, withTempDir } from '../../harness/temp-dir.ts';
import type { Suite, SuiteContext, SuiteOutcome } from '../suite.ts';
import { targetNotes, type Target } from '../targets.ts';
import { runAgents, runBare, type RunMeasured } from './arm.ts';
import { swarmOptions, swarmSizes, type SwarmParameters } from './parameters.ts';

const mound = 'mound';
const control = 'mound-slow';
/** Of the time that the control wastes, outside of model and tools, what has to show. */
const controlShare = 0.6;

const targets: readonly Target[] = [
  {
    what: 'CPU time of a step outside of model and tools, in ms',
    metric: 'stepOverheadMs',
    where: { step: 'whole' },
    below: 1,
  },
  { what: 'memory of all processes, in MiB', metric: 'peakResidentMiB', where: { step: 'whole' }, below: 1536 },
];

export const swarmSuite: Suite = {
  name: 'swarm',
  summary: 'Scripted agents over several processes: what the runtime adds to a step, memory, losses',
  options: swarmOptions,
  run: (context) => runSwarmSuite({ ...swarmSizes[context.size], ...context.values }, context),
};

/** What the rounds gave, one value a round. */
interface Figures {
  readonly cpuMs: number[];
  readonly p50: number[];
  readonly p99: number[];
  readonly resident: number[];
  readonly lost: number[];
}

const noFigures = (): Figures => ({ cpuMs: [], p50: [], p99: [], resident: [], lost: [] });

export async function runSwarmSuite(
  parameters: SwarmParameters,
  { dir: parent, signal, progress }: Pick<SuiteContext, 'dir' | 'signal' | 'progress'>,
): Promise<SuiteOutcome> {
  const { agents, processes, steps, rounds, controlMs } = parameters;
  return withTempDir(parent, async (dir): Promise<SuiteOutcome> => {
    const figures = { whole: noFigures(), empty: noFigures(), slow: noFigures() };
    const bare: number[] = [];
    const take = (into: Figures, { cpuMs, stepMs, residentBytes, lost }: RunMeasured): void => {
      into.cpuMs.push(cpuMs);
      into.p50.push(percentileOf(stepMs, 0.5));
      into.p99.push(percentileOf(stepMs, 0.99));
      into.resident.push(residentBytes / 2 ** 20);
      into.lost.push(lost);
    };
    const arms: { readonly name: string; readonly run: (place: string, keep: boolean) => Promise<void> }[] = [
      ...(['whole', 'empty', 'slow'] as const).map((name) => ({
        name,
        run: async (place: string, keep: boolean) => {
          const kind = name === 'empty' ? 'empty' : 'step';
          const run = await runAgents(kind, parameters, place, signal, name === 'slow' ? controlMs : 0);
          if (keep) take(figures[name], run);
        },
      })),
      {
        name: 'bare',
        run: async (place, keep) => {
          const cpuMs = await runBare(parameters, place, signal);
          if (keep) bare.push(cpuMs);
        },
      },
    ];
    progress.begin(arms.length * (rounds + 1));
    try {
      let count = 0;
      await runRounds(arms, rounds, signal, async ({ name, run }, round) => {
        progress.step(`${name}, ${round < 0 ? 'warm-up' : `round ${round + 1} of ${rounds}`}`);
        const place = join(dir, `run-${++count}`);
        mkdirSync(place);
        await run(place, round >= 0);
        rmSync(place, { recursive: true, force: true });
      });
    } finally {
      progress.end();
    }
    const all = agents * steps;
    const overhead = (name: keyof typeof figures): number[] =>
      figures[name].cpuMs.map((cpuMs, round) => (cpuMs - (name === 'empty' ? 0 : (bare[round] ?? 0))) / all);
    const workload = { agents, processes, steps };
    const samplesFor = (subject: string, name: keyof typeof figures, fields: WorkloadFields): Sample[] => [
      sampleOf(subject, fields, 'stepOverheadMs', overhead(name)),
      sampleOf(subject, fields, 'latencyMsP50', figures[name].p50),
      sampleOf(subject, fields, 'latencyMsP99', figures[name].p99),
      sampleOf(subject, fields, 'peakResidentMiB', figures[name].resident),
      sampleOf(subject, fields, 'lostUpdates', figures[name].lost),
    ];
    const samples = [
      ...samplesFor(mound, 'whole', { ...workload, step: 'whole' }),
      ...samplesFor(mound, 'empty', { ...workload, step: 'empty' }),
      ...samplesFor(control, 'slow', { ...workload, step: 'whole' }),
      sampleOf(
        mound,
        { ...workload, step: 'tools' },
        'stepOverheadMs',
        bare.map((cpuMs) => cpuMs / all),
      ),
    ];
    const { notes, isRight } = judge(samples, controlMs);
    if (await isInMemory(dir)) notes.push('the directory lies in memory: a flush costs nothing there (--dir)');
    const result = await makeResult({ suite: swarmSuite.name, samples, notes });
    return { kind: 'result', result, exitCode: isRight ? 0 : 1 };
  });
}

/** What the figures come to: lost steps, and a control that does not show, fail the run. Targets never do. */
export function judge(
  samples: readonly Sample[],
  controlMs: number,
): { readonly notes: string[]; readonly isRight: boolean } {
  const of = (subject: string, metric: Sample['metric'], step: string): number[] =>
    samples
      .filter((one) => one.subject === subject && one.metric === metric && one.workload['step'] === step)
      .map(({ median }) => median);
  const lost = samples.filter(({ metric, max }) => metric === 'lostUpdates' && max > 0);
  const [own = Number.NaN] = of(mound, 'stepOverheadMs', 'whole');
  const [slow = Number.NaN] = of(control, 'stepOverheadMs', 'whole');
  const shown = slow - own;
  const isShown = shown >= controlMs * controlShare;
  return {
    isRight: lost.length === 0 && isShown,
    notes: [
      ...targetNotes(targets, samples, mound),
      `a whole step is a read, an edit kept in a record, and a landing with two records: ${medianOf([own]).toFixed(3)} ms of CPU time outside of model and tools`,
      `an empty step, whose one call has nothing to do, takes ${(of(mound, 'stepOverheadMs', 'empty')[0] ?? Number.NaN).toFixed(3)} ms`,
      `the store's part of a step, measured without the runtime, takes ${(of(mound, 'stepOverheadMs', 'tools')[0] ?? Number.NaN).toFixed(3)} ms (step: tools)`,
      lost.length === 0
        ? 'read back: every step stands'
        : lost.map(({ subject, max }) => `LOST: ${max} steps of ${subject}`).join('; '),
      isShown
        ? `control: ${controlMs} ms more a step show as ${shown.toFixed(2)} ms`
        : `control: ${controlMs} ms more a step DO NOT SHOW (${shown.toFixed(2)} ms); trust nothing here`,
      'resident memory is the sum of all processes, pages of the mapped store counted in each',
    ],
  };
}
