import { percentText } from '../../harness/format-number.ts';
import type { CurvePoint, CurveResult, Regression } from '../../curve/index.ts';
import { sampleOf, type Sample, type WorkloadFields } from '../../harness/result-file.ts';

const minutesOf = (ms: number): number => Number((ms / 60_000).toPrecision(6));
/** In the unit that fits. */
function spanOf(ms: number): string {
  if (ms < 180_000) return `${Number((ms / 1000).toPrecision(3))} s`;
  return ms < 180 * 60_000 ? `${Math.round(ms / 6000) / 10} minutes` : `${Math.round(ms / 360_000) / 10} hours`;
}
const percent = (share: number): string => percentText(share, 2);

function pointSamples(subject: string, point: CurvePoint): Sample[] {
  const { seq, commits, ms, state } = point;
  const workload: WorkloadFields = { workload: 'curve', commits, minutes: minutesOf(ms), seq, state };
  return [
    sampleOf(subject, workload, 'score', [point.score]),
    sampleOf(subject, workload, 'testsPassed', [point.passed]),
    sampleOf(subject, workload, 'testsTotal', [point.total]),
    sampleOf(subject, workload, 'buildSeconds', [point.buildSeconds]),
    sampleOf(subject, workload, 'scoreSeconds', [point.scoreSeconds]),
  ];
}

/** What is not known has a sign of its own: an empty cell would look forgotten. */
const toldOf = (text: string | undefined): string => (text === undefined || text === '' ? '-' : text);

function regressionSample(subject: string, regression: Regression, points: readonly CurvePoint[]): Sample {
  const { kind, candidates, culprit, before, after, varies, recoveredAt } = regression;
  const [seq = 0] = candidates;
  const last = candidates.at(-1) ?? seq;
  const at = culprit ?? points.find((point) => point.seq >= last);
  const workload: WorkloadFields = {
    workload: 'regression',
    kind,
    seq: seq === last ? String(seq) : `${seq} to ${last}`,
    commits: at?.commits ?? 0,
    minutes: minutesOf(at?.ms ?? 0),
    agent: toldOf(culprit?.agent),
    role: toldOf(culprit?.role),
    model: toldOf(culprit?.model),
    task: toldOf(culprit?.task),
    message: culprit?.message ?? '',
    from: percent(before),
    to: kind === 'build' ? 'no build' : percent(after),
    recovered: recoveredAt === undefined ? 'no' : `seq ${recoveredAt}`,
    varies,
  };
  return sampleOf(subject, workload, 'scoreLost', [Math.max(0, before - after)]);
}

/** A curve as samples of a result file, under the name of a subject. */
export function curveSamples(subject: string, { points, regressions, reached }: CurveResult): Sample[] {
  const last = points.findLast(({ categories }) => categories.length > 0);
  return [
    ...points.flatMap((point) => pointSamples(subject, point)),
    ...regressions.map((regression) => regressionSample(subject, regression, points)),
    ...reached.flatMap(({ share, at }) => {
      if (at === undefined) return [];
      const workload = { workload: 'threshold', reached: percent(share) };
      return [
        sampleOf(subject, workload, 'minutesToShare', [minutesOf(at.ms)]),
        sampleOf(subject, workload, 'commitsToShare', [at.commits]),
      ];
    }),
    ...(last?.categories ?? []).flatMap(({ category, passed, total }) => {
      const workload = { workload: 'category', category };
      return [
        sampleOf(subject, workload, 'score', [total === 0 ? 0 : passed / total]),
        sampleOf(subject, workload, 'testsPassed', [passed]),
        sampleOf(subject, workload, 'testsTotal', [total]),
      ];
    }),
  ];
}

/** Where an error is told, else the last words. */
const tellingLine = (reason: string): string => {
  const lines = reason.split('\n').map((line) => line.trim());
  return lines.find((line) => /error/i.test(line)) ?? lines.at(-1) ?? '';
};

/** What a curve says of itself, a line each. */
export function curveNotes(result: CurveResult): string[] {
  const { points, regressions, reached, commits, every, sandbox } = result;
  const count = (is: (point: CurvePoint) => boolean): number => points.filter(is).length;
  const last = points.at(-1);
  const broken = count(({ state }) => state === 'build-failed' || state === 'build-timed-out');
  const faulty = count(({ state }) => state === 'crashed' || state === 'timed-out');
  const failures = points.filter(({ reason }) => reason !== '');
  return [
    `${points.length} points of ${commits} commits, every ${every}; in the end ${percent(last?.score ?? 0)} (${last?.passed ?? 0} of ${last?.total ?? 0})`,
    `${broken} points do not build, ${faulty} crashed or took too long`,
    `sandbox: ${sandbox}${sandbox === 'none' ? ' (with a network and all files in reach)' : ', without a network'}`,
    ...reached.map(({ share, at }) =>
      at === undefined
        ? `${percent(share)}: never reached`
        : `${percent(share)}: reached by commit ${at.commits}, after ${spanOf(at.ms)}`,
    ),
    ...regressions.map((regression, at) => `regression ${at + 1}: ${regressionLine(regression)}`),
    ...controlNote(result),
    ...failures.slice(0, 10).map(({ seq, state, reason }) => `seq ${seq} ${state}: ${tellingLine(reason)}`),
  ];
}

/** A score that does not look at the tree says nothing. */
export function controlNote({ control }: CurveResult): string[] {
  if (control === undefined) return [];
  const { state, score, shows } = control;
  const tree = 'a tree in which nothing was built';
  if (!shows) return [`FAULT: control: ${tree} has ${percent(score)}, as much as the best point: trust no score here`];
  return [`control: ${tree} has ${percent(score)} (${state})`];
}

function regressionLine({ kind, candidates, culprit, before, after, varies, recoveredAt }: Regression): string {
  const what = kind === 'build' ? 'does not build' : `${percent(before)} to ${percent(after)}`;
  const since = recoveredAt === undefined ? 'not made good' : `made good by seq ${recoveredAt}`;
  if (culprit === undefined) {
    const range = `${candidates[0] ?? 0} to ${candidates.at(-1) ?? 0}`;
    return `${what}, by one of the ${candidates.length} commits of seq ${range}; ${since}`;
  }
  const who = [culprit.agent, culprit.role, culprit.model, culprit.task].filter((part) => part !== '').join(', ');
  const doubt = varies ? '; a second try came out otherwise' : '';
  return `${what}, by seq ${culprit.seq} (${who}): ${culprit.message}; ${since}${doubt}`;
}
