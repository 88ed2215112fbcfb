import type { Metric } from '../../harness/metric.ts';
import { sampleOf, type Sample, type WorkloadFields } from '../../harness/result-file.ts';
import { percentileOf } from '../../harness/statistics.ts';
import type { Answer } from './agents.ts';
import type { ProcessRun } from './agents-process.ts';
import type { ArmRun } from './arm.ts';
import type { SwarmLoadRun } from './parameters.ts';

const windowMs = 10_000;

export const answersOf = (processes: readonly ProcessRun[]): readonly Answer[] =>
  processes.flatMap(({ answers }) => answers);

const isCommit = ({ kind }: Answer): boolean => kind === 'landed' || kind === 'merged';

/** Answered steps a second, over the whole run. */
export const sustainedOf = (answers: readonly Answer[], { seconds }: SwarmLoadRun): number => answers.length / seconds;

/** By windows of ten seconds, or one where the run is shorter; commits a second of each whole one. */
function ratesOf(answers: readonly Answer[], { seconds }: SwarmLoadRun): number[] {
  const lengthMs = Math.min(windowMs, seconds * 1000);
  const counts = Array.from({ length: Math.floor((seconds * 1000) / lengthMs) }, () => 0);
  for (const answer of answers) {
    const at = Math.floor(answer.atMs / lengthMs);
    const count = counts[at];
    if (count !== undefined && isCommit(answer)) counts[at] = count + 1;
  }
  return counts.map((count) => count / (lengthMs / 1000));
}

const windowsMax = 20;

/** How the load went: shorter windows, so that there is something to be seen. */
function windowSamples(subject: string, answers: readonly Answer[], { seconds }: SwarmLoadRun): Sample[] {
  const lengthMs = Math.max(500, Math.min(windowMs, (seconds * 1000) / windowsMax));
  const count = Math.floor((seconds * 1000) / lengthMs);
  return Array.from({ length: count }, (_, at) => {
    const some = answers.filter(({ atMs }) => Math.floor(atMs / lengthMs) === at);
    const workload = { workload: 'window', fromSecond: (at * lengthMs) / 1000, windowSeconds: lengthMs / 1000 };
    const perSecond = (total: number): number => total / (lengthMs / 1000);
    const conflicts = some.filter(({ kind }) => kind === 'kept').length;
    const latencies = Float64Array.from(some, ({ latencyMs }) => latencyMs);
    return [
      sampleOf(subject, workload, 'commitsPerSecond', [perSecond(some.filter(isCommit).length)]),
      sampleOf(subject, workload, 'conflictsPerSecond', [perSecond(conflicts)]),
      ...(some.length === 0
        ? []
        : ([['latencyMsP50', 0.5], ['latencyMsP99', 0.99]] as const).map(([metric, share]) => sampleOf(subject, workload, metric, [percentileOf(latencies, share)]))), // prettier-ignore
    ];
  }).flat();
}

export function samplesOf(subject: string, run: SwarmLoadRun, { processes, bytes, found }: ArmRun): Sample[] {
  const answers = answersOf(processes);
  const latencies = Float64Array.from(answers, ({ latencyMs }) => latencyMs);
  const commits = Math.max(1, answers.filter(isCommit).length);
  const perAgent = new Map<number, number>();
  for (const { agent } of answers) perAgent.set(agent, (perAgent.get(agent) ?? 0) + 1);
  const counts = Array.from({ length: run.agents }, (_, agent) => perAgent.get(agent) ?? 0);
  const count = (kind: Answer['kind']): number => answers.filter((answer) => answer.kind === kind).length;
  const workload: WorkloadFields = { workload: 'swarm-load', durability: 'flushed', ...run };
  const figures: readonly (readonly [Metric, readonly number[]])[] = [
    ['commitsPerSecond', ratesOf(answers, run)],
    ['latencyMsP50', [percentileOf(latencies, 0.5)]],
    ['latencyMsP99', [percentileOf(latencies, 0.99)]],
    ['latencyMsP999', [percentileOf(latencies, 0.999)]],
    ['conflictsPerCommit', [count('kept') / commits]],
    ['mergesPerCommit', [count('merged') / commits]],
    ['lostUpdates', [found.lost.length]],
    ['bytesPerCommit', [bytes / commits]],
    ['commitsPerAgentMin', [Math.min(...counts)]],
    ['commitsPerAgentMax', [Math.max(...counts)]],
    ['cpuSeconds', [processes.reduce((sum, one) => sum + one.cpuSeconds, 0)]],
    ['peakResidentMiB', [processes.reduce((sum, one) => sum + one.residentMiB, 0)]],
  ];
  return [
    ...figures.map(([metric, values]) => sampleOf(subject, workload, metric, values)),
    ...windowSamples(subject, answers, run),
  ];
}
