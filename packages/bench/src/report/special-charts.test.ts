import { expect, test } from 'vitest';

import { formatVersion, sampleOf, type ResultFile, type Sample, type WorkloadFields } from '../harness/result-file.ts';
import { sqlSamples } from '../suites/sqllogictest/samples.ts';
import { hasBrowser, show } from './browser.test.kit.ts';
import type { Chart } from './chart.ts';
import { chartsOf } from './charts.ts';
import { htmlReport } from './html.ts';

const machine = { cpu: 'A', cores: 2, memoryMiB: 4096, platform: 'linux-x64', node: '20.20.2', git: '2.39.5' };
const resultOf = (suite: string, samples: readonly Sample[]): ResultFile => ({ suite, formatVersion, machine, samples, notes: ['a note'] }); // prettier-ignore

const counts = (right: number, wrong: number, timedOut: number, skipped: number) => ({ attempted: right + wrong + timedOut, right, wrong, errors: 0, crashed: 0, timedOut, skipped }); // prettier-ignore
const kind = (category: string, right: number, wrong: number, timedOut: number, rate: number) => ({
  category,
  files: 3,
  ...counts(right, wrong, timedOut, 100),
  threadSeconds: 2,
  shareOf: { read: 0.1, engine: right > 5000 ? 0.4 : 0.8, judge: 0.05 },
  recordsPerThreadSecond: rate,
});
const sql = resultOf(
  'sqllogictest',
  sqlSamples({
    engine: 'duckdb',
    engineVersion: 'duckdb 1',
    dialect: 'duckdb',
    workers: 2,
    recordSecondsMax: 30,
    ...counts(100_100, 1, 5, 300),
    seconds: 9,
    recordsPerSecond: 11_000,
    categories: [kind('index/between', 100_000, 1, 0, 50_000), kind('.', 50, 0, 0, 900), kind('a/very_long_kind_of_test', 50, 0, 5, 9)], // prettier-ignore
    files: [],
  }),
);

const seconds = [0, 3, 6, 9];
const load = resultOf('swarm-load', [
  ...['mound', 'mound-overwriting'].flatMap((subject) =>
    seconds.flatMap((fromSecond) => {
      const workload = { workload: 'window', fromSecond, windowSeconds: 3 };
      return [
        sampleOf(subject, workload, 'commitsPerSecond', [900 - fromSecond]),
        sampleOf(subject, workload, 'conflictsPerSecond', [fromSecond]),
        sampleOf(subject, workload, 'latencyMsP50', [10]),
        sampleOf(subject, workload, 'latencyMsP99', [4000]),
      ];
    }),
  ),
  sampleOf('mound', { workload: 'swarm-load', seconds: 30 }, 'lostUpdates', [0]),
  sampleOf('mound-overwriting', { workload: 'swarm-load', seconds: 5 }, 'lostUpdates', [3518]),
]);

const arms = ['all-on', 'all-off', 'no-field-guide', 'old-style'];
const ofArm = (arm: string, at: number, workload: WorkloadFields): Sample[] => [
  sampleOf(arm, workload, 'conflictsPerAcceptedLine', [at / 10, at / 9]),
  sampleOf(arm, workload, 'wallSeconds', [40 - at]),
  sampleOf(arm, workload, 'tokensTotal', [1_500_000]),
  ...(['refusedTries', 'duplicateWork', 'brokenBuilds', 'oscillations'] as const).map((metric) => sampleOf(arm, workload, metric, [1])), // prettier-ignore
  sampleOf(arm, workload, 'acceptedLines', [275 - at]),
  sampleOf(arm, workload, 'lostUpdates', [0]),
];
const coordination = resultOf('coordination', [
  ...arms.flatMap((arm, at) => ofArm(arm, at, { workload: 'coordination', agents: 16, skew: 1 })),
  ...arms.slice(0, 2).flatMap((arm, at) => ofArm(arm, at + 5, { workload: 'coordination', agents: 32, skew: 1 })),
]);

function mustBe<Kind extends Chart['kind']>(chart: Chart | undefined, wanted: Kind): Chart & { kind: Kind } {
  if (chart?.kind !== wanted) throw new Error(`not ${wanted} but ${chart?.kind ?? 'nothing'}`);
  return chart as Chart & { kind: Kind };
}

test('SQL engines: outcomes with the worst kind first, speed with the fastest first, who takes the time', () => {
  const [outcomes, speed, time, ...more] = chartsOf(sql);
  expect(mustBe(outcomes, 'parts').bars.map(({ label, says }) => [label, says])).toEqual([
    ['all (100,106)', '99.994 %, 6 not'],
    ['a/very_long_kind_of_test (55)', '90.9 %, 5 not'],
    // Rounded it were 100 %, and it is not.
    ['index/between (100,001)', '99.999 %, 1 not'],
    ['no directory (50)', '100 %'],
  ]);
  expect(mustBe(outcomes, 'parts').bars[1]?.shares).toEqual([50, 0, 0, 0, 5, 100]);
  expect(mustBe(speed, 'bars').groups[0]?.bars.map(({ label }) => label)).toEqual(['index/between', 'no directory', 'a/very_long_kind_of_test']); // prettier-ignore
  expect(speed?.isLog).toBe(true);
  expect(mustBe(time, 'parts').bars.at(-1)?.shares).toEqual([0.4, 0.05, 0.1, expect.closeTo(0.45)]);
  expect(more).toEqual([]);
});

test('a load along its time, and arms that differ in one thing without a heading each', () => {
  const [rates, latencies, lost] = chartsOf(load);
  expect(mustBe(rates, 'lines').series.map(({ label }) => label)).toEqual([
    'mound: commits',
    'mound: conflicts',
    'mound-overwriting (control): commits',
    'mound-overwriting (control): conflicts',
  ]);
  expect(mustBe(rates, 'lines').series[0]?.points.map(({ x, median }) => [x, median])).toEqual(seconds.map((x) => [x, 900 - x])); // prettier-ignore
  expect(mustBe(latencies, 'lines').isLog).toBe(true);
  expect(mustBe(lost, 'bars').groups.map(({ heading, bars }) => [heading, bars.map(({ label }) => label)])).toEqual([
    ['', ['mound-overwriting (control), seconds 5', 'mound, seconds 30']],
  ]);
});

test('arms of coordination at a glance: the run’s own load, each figure shaded by itself', () => {
  const grid = mustBe(chartsOf(coordination)[0], 'grid');
  expect(grid.columns).toEqual([
    'accepted lines',
    'conflicts/line',
    'wall s',
    'refused tries',
    'done twice',
    'broken builds',
    'oscillations',
    'tokens',
  ]);
  expect(grid.rows.map(({ label }) => label)).toEqual(arms);
  const cells = (row: number) => grid.rows[row]?.cells.map(({ value, says }) => [value, says]).filter((_, at) => at < 3 || at > 6); // prettier-ignore
  expect(cells(0)).toEqual([[0, '275'], [0, '0'], [1, '40'], [0, '1.50 M']]); // prettier-ignore
  expect(cells(3)).toEqual([[1, '272'], [1, '0.317'], [0, '37'], [0, '1.50 M']]); // prettier-ignore
});

test.skipIf(!hasBrowser)(
  'in Chromium (skipped where there is none): results of several suites on one page',
  async () => {
    const growth = [0, 4000, 8000, 12_000, 16_000].map((fromCommit) => sampleOf('mound', { workload: 'growth', fromCommit }, 'commitsPerSecond', [9000])); // prettier-ignore
    const bad = resultOf('sqllogictest', sql.samples.map((one) => (one.metric === 'testsPassed' ? { ...one, median: one.median - 45 } : one))); // prettier-ignore
    const links = Array.from({ length: 12 }, () => resultOf('a-suite-with-a-long-name', []));
    const page = htmlReport([sql, bad, load, coordination, resultOf('scale', growth), ...links]);
    expect(await show(page)).toEqual({ pictures: 16, faults: [], requests: 1, said: [] });
    expect(page).toContain('<dt>no-field-guide</dt><dd>all mechanisms but the one that is named</dd>');
  },
  60_000,
);
