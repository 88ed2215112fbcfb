import { formatNumber, percentText } from '../harness/format-number.ts';
import type { Sample } from '../harness/result-file.ts';
import type { Bar, Chart, CurveMark } from './chart.ts';
import { groupBy } from './table.ts';

const kinds: readonly unknown[] = ['curve', 'regression', 'category', 'threshold'];

/** What is drawn as a curve along commits, or beside one. */
export const isOfCurve = ({ workload }: Sample): boolean => kinds.includes(workload['workload']);

const states: Readonly<Record<string, string>> = {
  scored: '',
  empty: 'nothing there yet',
  'build-failed': 'does not build',
  'build-timed-out': 'the build takes too long',
  crashed: 'crashes',
  'timed-out': 'takes too long',
};

const ofKind = (samples: readonly Sample[], kind: string, metric: Sample['metric']): Sample[] =>
  samples.filter(({ workload, metric: of }) => workload['workload'] === kind && of === metric);

/** Minutes are told in the unit that fits. */
function unitOf(minutesMax: number): { readonly name: string; readonly perMinute: number } {
  if (minutesMax < 3) return { name: 'seconds', perMinute: 60 };
  return minutesMax > 180 ? { name: 'hours', perMinute: 1 / 60 } : { name: 'minutes', perMinute: 1 };
}

function fallOf(
  { subject, workload }: Sample,
  withSubject: boolean,
): { readonly says: string; readonly about: string } {
  const { seq, agent, role, model, task, from, to, recovered, varies, message } = workload;
  const who = [agent, role, model, task].filter((part) => part !== '-').join(', ');
  const by = who === '' ? `one of the commits of seq ${String(seq)}` : `${who}, seq ${String(seq)}`;
  const since = recovered === 'no' ? 'not made good' : `made good by ${String(recovered)}`;
  const says = `${withSubject ? `${subject}: ` : ''}${String(from)} → ${String(to)}, ${by} (${since}${varies === true ? ', varies' : ''})`;
  return { says, about: String(message) };
}

/** Shares that were reached, the highest first, each with where. */
function thresholdsOf(samples: readonly Sample[], metric: 'commitsToShare' | 'minutesToShare', withSubject: boolean) {
  return ofKind(samples, 'threshold', metric)
    .map(({ subject, workload, median }) => {
      const reached = String(workload['reached']);
      const when = metric === 'commitsToShare' ? `commit ${median}` : `${formatNumber(median)} minutes`;
      const says = `${withSubject ? `${subject}: ` : ''}${reached} by ${when}`;
      return { share: Number.parseFloat(reached) / 100, at: median, says };
    })
    .toSorted((a, b) => b.share - a.share);
}

function scoreCurveOf(samples: readonly Sample[], x: 'commits' | 'minutes'): Chart {
  const points = ofKind(samples, 'curve', 'score');
  const falls = ofKind(samples, 'regression', 'scoreLost');
  const unit = unitOf(Math.max(...points.map(({ workload }) => Number(workload['minutes']))));
  const at = ({ workload }: Sample): number => Number(workload[x]) * (x === 'minutes' ? unit.perMinute : 1);
  const markOf = (sample: Sample): CurveMark => {
    const { commits, seq, state } = sample.workload;
    const words = states[String(state)] ?? String(state);
    const says = `commit ${String(commits)}, seq ${String(seq)}: ${percentText(sample.median)}`;
    return {
      x: at(sample),
      score: sample.median,
      state: String(state),
      says: words === '' ? says : `${says}, ${words}`,
    };
  };
  const bySubject = [...groupBy(points, ({ subject }) => subject)];
  const reached = thresholdsOf(samples, x === 'commits' ? 'commitsToShare' : 'minutesToShare', bySubject.length > 1);
  return {
    kind: 'curve',
    title: x === 'commits' ? 'Score along the commits' : 'Score along the time',
    caption:
      '↑ more is better: share of the tests that are passed. A diamond is where a share was first reached, a cross at the bottom is a commit that does not build, a ring one that crashes or takes too long; numbered lines are commits that made it worse',
    isLog: false,
    xTitle: x === 'commits' ? 'commits' : `${unit.name} since the start`,
    series: bySubject.map(([label, some]) => ({ label, points: some.map(markOf).toSorted((a, b) => a.x - b.x) })),
    thresholds: reached.map(({ share, at: place, says }) => ({
      share,
      says,
      x: x === 'commits' ? place : place * unit.perMinute,
    })),
    falls: falls.map((sample) => ({ x: at(sample), ...fallOf(sample, bySubject.length > 1) })),
  };
}

function speedOf(samples: readonly Sample[]): Chart[] {
  const lines = (['scoreSeconds', 'buildSeconds'] as const).flatMap((metric) =>
    [...groupBy(ofKind(samples, 'curve', metric), ({ subject }) => subject)].map(([subject, some]) => ({
      subject,
      label: `${subject}: ${metric === 'scoreSeconds' ? 'the tests' : 'the build'}`,
      points: some
        .filter(({ workload, median }) => workload['state'] === 'scored' && median > 0)
        .map(({ workload, median, min, max }) => ({ x: Number(workload['commits']), median, min, max })),
    })),
  );
  const series = lines.filter(({ points }) => points.length > 1);
  if (series.length === 0) return [];
  const caption = '↓ less is better; but a fast answer to few tests is no merit';
  return [
    {
      kind: 'lines',
      title: 'Seconds for the tests, and to build',
      caption,
      isLog: false,
      isLogX: false,
      xTitle: 'commits',
      series,
    },
  ];
}

function categoriesOf(samples: readonly Sample[]): Chart[] {
  const scores = ofKind(samples, 'category', 'score');
  if (scores.length < 2) return [];
  const totals = ofKind(samples, 'category', 'testsTotal');
  const totalOf = ({ subject, workload }: Sample): number =>
    totals.find((one) => one.subject === subject && one.workload['category'] === workload['category'])?.median ?? 0;
  const bySubject = [...groupBy(scores, ({ subject }) => subject)];
  const groups = bySubject.map(([subject, some]) => ({
    heading: bySubject.length > 1 ? subject : '',
    bars: some
      .map((sample): Bar => {
        const { workload, median, min, max } = sample;
        return {
          subject,
          label: `${String(workload['category'])} (${totalOf(sample)})`,
          says: percentText(median),
          median,
          min,
          max,
        };
      })
      .toSorted((a, b) => b.median - a.median),
  }));
  const caption = '↑ more is better: share of each kind of test that is passed in the end; in brackets how many there are'; // prettier-ignore
  return [{ kind: 'bars', title: 'Score by kind of test', caption, isLog: false, groups, mark: undefined }];
}

/** The pictures of curves: several subjects in one. */
export function curveCharts(samples: readonly Sample[]): Chart[] {
  const scores = ofKind(samples, 'curve', 'score');
  // Of a replay nobody tells when a commit landed.
  const isTimed = scores.every(({ workload }) => workload['minutes'] !== undefined);
  const axes = isTimed ? (['commits', 'minutes'] as const) : (['commits'] as const);
  const curves = scores.length < 2 ? [] : axes.map((x) => scoreCurveOf(samples, x));
  return [...curves, ...speedOf(samples), ...categoriesOf(samples)];
}
