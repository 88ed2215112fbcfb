import type { Metric } from '../../harness/metric.ts';
import { sampleOf, type Sample, type WorkloadFields } from '../../harness/result-file.ts';
import { targetNotes } from '../targets.ts';
import { gitTargets } from './parameters.ts';
import type { Cost } from './work.ts';

export const importer = 'mound';
export const control = 'mound-twice';
export const fastImport = 'git-fast-import';
export const catFile = 'git-cat-file';
export const spoiltExport = 'mound-spoilt';

/** Half of Mound's speed is what the control has; it must not seem to have much more. */
const controlMax = 0.75;

/** What each arm took, by round; undefined where it failed. */
export interface Round {
  readonly imports: ReadonlyMap<string, Cost>;
  readonly exported: Cost | undefined;
}

const subjectsOfImport = [importer, control, fastImport, catFile];

export function roundSamples(rounds: readonly Round[], common: WorkloadFields): Sample[] {
  const importing = { workload: 'git-import', ...common };
  const exporting = { workload: 'git-export', ...common };
  const imports = (subject: string): (Cost | undefined)[] => rounds.map((round) => round.imports.get(subject));
  const exports = rounds.map(({ exported }) => exported);
  return [
    ...subjectsOfImport.flatMap((subject) => costSamples(subject, importing, imports(subject))),
    ...costSamples(importer, exporting, exports),
    ...[fastImport, catFile].flatMap((peer) =>
      ratioSamples(importer, importing, imports(importer), peer, imports(peer)),
    ),
    ...ratioSamples(control, importing, imports(control), importer, imports(importer)),
    ...ratioSamples(importer, exporting, exports, fastImport, imports(fastImport)),
  ];
}

function costSamples(subject: string, workload: WorkloadFields, costs: readonly (Cost | undefined)[]): Sample[] {
  const tell = (metric: Metric, valueOf: (cost: Cost) => number | undefined): Sample[] => {
    const values = costs.map((cost) => cost && valueOf(cost)).filter((value) => value !== undefined);
    return values.length === 0 ? [] : [sampleOf(subject, workload, metric, values)];
  };
  return [
    ...tell('wallSeconds', ({ seconds }) => seconds),
    ...tell('cpuSeconds', ({ cpuSeconds }) => cpuSeconds),
    ...tell('peakResidentMiB', ({ peakResidentMiB }) => peakResidentMiB),
  ];
}

function ratioSamples(
  subject: string,
  workload: WorkloadFields,
  own: readonly (Cost | undefined)[],
  peer: string,
  others: readonly (Cost | undefined)[],
): Sample[] {
  const tell = (by: string, valueOf: (cost: Cost) => number | undefined): Sample[] => {
    const ratios = own.flatMap((cost, round) => {
      const [mine, theirs] = [cost, others[round]].map((one) => one && valueOf(one));
      return mine === undefined || theirs === undefined || mine === 0 ? [] : [theirs / mine];
    });
    return ratios.length === 0 ? [] : [sampleOf(subject, { ...workload, peer, by }, 'ratioToPeer', ratios)];
  };
  return [...tell('wall', ({ seconds }) => seconds), ...tell('cpu', ({ cpuSeconds }) => cpuSeconds)];
}

const faultMetrics: readonly Metric[] = ['wrongTrees', 'wrongRefs', 'missingObjects', 'wrongReads'];

/** What the figures come to; anything wrong, and a control that does not show, fail the run. Targets never do. */
export function judge(samples: readonly Sample[]): { readonly notes: string[]; readonly isRight: boolean } {
  const faults = samples.filter(
    ({ metric, subject, max }) => faultMetrics.includes(metric) && subject === importer && max > 0,
  );
  const told = new Set(samples.filter(({ subject }) => subject === importer).map(({ metric }) => metric));
  const untold = faultMetrics.filter((metric) => !told.has(metric));
  const twice = samples.filter(({ subject, metric }) => subject === control && metric === 'ratioToPeer');
  // By processor time where that is known: other programs on the machine do not show there.
  const byCpu = twice.filter(({ workload }) => workload['by'] === 'cpu');
  const shown = Math.max(...(byCpu.length > 0 ? byCpu : twice).map(({ median }) => median));
  const isShown = twice.length > 0 && shown <= controlMax;
  const spoilt = samples.filter(
    ({ subject, metric }) => subject === spoiltExport && (metric === 'wrongTrees' || metric === 'wrongRefs'),
  );
  const isFound = spoilt.length === 2 && spoilt.every(({ min }) => min > 0);
  const right =
    'compared by plain git: every commit has its tree, every branch and tag its id, every object is there; every version that was read has its bytes';
  return {
    isRight: faults.length === 0 && untold.length === 0 && isShown && isFound,
    notes: [
      ...targetNotes(gitTargets, samples, importer),
      ...(faults.length === 0
        ? untold.length === 0
          ? [right]
          : []
        : faults.map(({ metric, max }) => `compared by plain git: ${max} ${metric}: WRONG`)),
      ...untold.map((metric) => `not compared: ${metric}`),
      isShown
        ? `control: a Mound that imports twice shows as ${shown.toPrecision(3)} times as fast`
        : 'control: a Mound that imports twice DOES NOT SHOW: trust no time here',
      isFound
        ? 'control: an export with an empty tree and without a branch shows as wrong'
        : 'control: an export with an empty tree and without a branch DOES NOT SHOW: trust no comparison here',
    ],
  };
}
