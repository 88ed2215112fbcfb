import { formatNumber } from '../harness/format-number.ts';
import type { Metric } from '../harness/metric.ts';
import type { Sample, WorkloadFields } from '../harness/result-file.ts';

/** A figure of Mound that was set as a target, always a ratio within one run where one is possible. */
export interface Target {
  readonly what: string;
  readonly metric: Metric;
  /** Fields that the sample's workload must have; `files` and the like as W1 has them. */
  readonly where: WorkloadFields;
  readonly atLeast?: number;
  readonly below?: number;
  /** Judged only where the run is long enough: a metric of the same workload, and what it must come to. */
  readonly given?: { readonly metric: Metric; readonly atLeast: number };
}

/** Who has made none of so many commits does starve. */
const longEnough = { metric: 'commitsPerAgentMax', atLeast: 4 } as const;

const w1: WorkloadFields = { workload: 'w1', filesPerCommit: 1, processes: 1 };
const at1000: WorkloadFields = { ...w1, inFlight: 1000 };
const toPeer = (peer: string, atLeast: number): Target => ({
  what: `W1 at 1,000 in flight, times as fast as ${peer}`,
  metric: 'ratioToPeer',
  where: { ...at1000, peer },
  atLeast,
});

export const commitTargets: readonly Target[] = [
  { what: 'W1 at 1,000 in flight, of the floor program', metric: 'ratioToFloor', where: at1000, atLeast: 0.55 },
  toPeer('sqlite-wal', 2.5),
  toPeer('git-fast-import', 4),
  toPeer('git-libgit2', 100),
  toPeer('git-plumbing', 400),
  {
    what: 'W1 at 100 in flight, of the floor program',
    metric: 'ratioToFloor',
    where: { ...w1, inFlight: 100 },
    atLeast: 0.35,
  },
  { what: 'W1 at 100 in flight, p99 in ms', metric: 'latencyMsP99', where: { ...w1, inFlight: 100 }, below: 25 },
  {
    what: 'W1 one at a time, of the floor program',
    metric: 'ratioToFloor',
    where: { ...w1, inFlight: 1 },
    atLeast: 0.4,
  },
  {
    what: 'four processes at 250 in flight each, of one process’s rate at 1,000',
    metric: 'ratioToW1',
    where: { ...w1, processes: 4, inFlight: 250 },
    atLeast: 0.7,
  },
  {
    what: 'four processes at 250 in flight each, fewest commits of an agent (nobody starves)',
    metric: 'commitsPerAgentMin',
    given: longEnough,
    where: { ...w1, processes: 4, inFlight: 250 },
    atLeast: 1,
  },
  {
    what: 'five-file intents at 1,000 in flight, of W1’s rate in intents',
    metric: 'ratioToW1',
    where: { ...at1000, filesPerCommit: 5 },
    atLeast: 0.3,
  },
  {
    what: 'hot files at 1,000 in flight, landed or merged, of W1’s rate',
    metric: 'ratioToW1',
    where: { workload: 'hot-edits', processes: 1, inFlight: 1000 },
    atLeast: 0.25,
  },
  {
    what: 'hot files at 1,000 in flight, fewest answers to an agent (nobody starves)',
    metric: 'commitsPerAgentMin',
    given: longEnough,
    where: { workload: 'hot-edits', processes: 1, inFlight: 1000 },
    atLeast: 1,
  },
];

const hasFields = (workload: WorkloadFields, wanted: WorkloadFields): boolean =>
  Object.entries(wanted).every(([name, value]) => workload[name] === value);

/** A line for each target of which there is a figure: reached or not, by the median. */
export function targetNotes(targets: readonly Target[], samples: readonly Sample[], subject: string): string[] {
  return targets.flatMap((target) => {
    const found = samples.filter(
      ({ subject: of, metric, workload }) =>
        of === subject && metric === target.metric && hasFields(workload, target.where),
    );
    const { given, what } = target;
    return found.map((sample) => {
      const condition = samples.find(
        (other) =>
          other.subject === subject && other.metric === given?.metric && hasFields(other.workload, sample.workload),
      );
      if (given === undefined || (condition?.median ?? 0) >= given.atLeast) return noteOf(target, sample);
      return `target not judged, the run is too short (--seconds): ${what}: ${formatNumber(sample.median)}`;
    });
  });
}

function noteOf({ what, atLeast, below }: Target, { median, min, max, n, workload }: Sample): string {
  const isReached = (atLeast === undefined || median >= atLeast) && (below === undefined || median < below);
  const bound = atLeast === undefined ? `< ${below}` : `>= ${atLeast}`;
  const files = workload['files'] === undefined ? '' : ` (${formatNumber(Number(workload['files']))} files)`;
  const range = n === 1 ? '' : `, ${formatNumber(min)} to ${formatNumber(max)}`;
  return `target ${isReached ? 'reached' : 'NOT reached'}: ${what} ${bound}: ${formatNumber(median)}${range}${files}`;
}
