import { expect, test } from 'vitest';

import type { CurvePoint, CurveResult, PointState, Regression } from '../curve/index.ts';
import { formatVersion, parseResultFile, type ResultFile } from '../harness/result-file.ts';
import { curveNotes, curveSamples } from '../suites/curve/curve-samples.ts';
import { hasBrowser, show } from './browser.test.kit.ts';
import { chartsOf } from './charts.ts';
import { htmlReport } from './html.ts';
import { markdownReport } from './markdown.ts';

const point = (commits: number, passed: number, state: PointState = 'scored'): CurvePoint => ({
  seq: commits * 3,
  commits,
  ms: commits * 90_000,
  state,
  passed,
  total: 200,
  score: passed / 200,
  categories: [
    { category: 'joins', passed: Math.floor(passed / 4), total: 80 },
    { category: 'expressions <b>', passed: Math.floor(passed / 2), total: 120 },
  ],
  buildSeconds: 1.5,
  scoreSeconds: 12 + commits / 10,
  reason: state === 'scored' ? '' : 'error: <script>',
});

const regression = (commits: number, kind: Regression['kind'], found = true): Regression => ({
  kind,
  candidates: found ? [commits * 3] : [commits * 3 - 6, commits * 3 - 3, commits * 3],
  culprit: found
    ? { seq: commits * 3, commits, ms: commits * 90_000, agent: `worker-${commits}`, role: 'worker', model: 'a-model-with-a-long-name', task: `t${commits}`, message: 'Compare in one place <i>' } // prettier-ignore
    : undefined,
  before: 0.7,
  after: kind === 'build' ? 0 : 0.4,
  varies: commits === 30,
  recoveredAt: commits < 30 ? commits * 3 + 9 : undefined,
});

const curve: CurveResult = {
  run: 'small',
  startedAt: 0,
  commits: 40,
  every: 2,
  sandbox: 'bubblewrap',
  points: Array.from({ length: 21 }, (_, at) => {
    if (at === 0) return point(0, 0, 'empty');
    if (at === 8) return point(16, 0, 'build-failed');
    return at === 15 ? point(30, 0, 'crashed') : point(at * 2, at < 12 ? at * 12 : at * 9);
  }),
  regressions: [
    regression(15, 'build'),
    regression(23, 'score'),
    regression(24, 'score', false),
    regression(30, 'score'),
  ],
  reached: [
    { share: 2 / 3, at: { seq: 66, commits: 22, ms: 22 * 90_000 } },
    { share: 1, at: undefined },
  ],
};

const resultOf = (...names: readonly string[]): ResultFile => ({
  suite: 'curve',
  formatVersion,
  machine: { cpu: 'A', cores: 2, memoryMiB: 4096, platform: 'linux-x64', node: '20.20.2', git: '2.39.5' },
  samples: names.flatMap((name) => curveSamples(name, curve)),
  notes: curveNotes(curve),
});

test('a curve is drawn along commits and time, with what was wrong at each point and who did it', () => {
  const result = resultOf('small');
  expect(parseResultFile(JSON.stringify(result))).toEqual(result);
  const [commits, minutes, speed, kinds, ...more] = chartsOf(result);
  if (commits?.kind !== 'curve' || minutes?.kind !== 'curve') throw new Error('no curve');
  expect(commits.series.map(({ points }) => points.length)).toEqual([21]);
  expect(commits.series[0]?.points[8]).toMatchObject({ x: 16, score: 0, state: 'build-failed' });
  expect(commits.series[0]?.points[8]?.says).toBe('commit 16, seq 48: 0 %, does not build');
  expect(commits.falls.map(({ x, says, about }) => [x, says, about])).toEqual([
    [15, '70 % → no build, worker-15, worker, a-model-with-a-long-name, t15, seq 45 (made good by seq 54)', 'Compare in one place <i>'], // prettier-ignore
    [23, expect.stringContaining('70 % → 40 %, worker-23'), 'Compare in one place <i>'],
    [24, expect.stringContaining('one of the commits of seq 66 to 72'), ''],
    [30, expect.stringContaining('(not made good, varies)'), 'Compare in one place <i>'],
  ]);
  expect(commits.thresholds).toEqual([{ share: expect.closeTo(0.6667), x: 22, says: '66.67 % by commit 22' }]);
  expect(minutes.thresholds).toEqual([{ share: expect.closeTo(0.6667), x: 33, says: '66.67 % by 33 minutes' }]);
  expect([minutes.xTitle, minutes.series[0]?.points.at(-1)?.x]).toEqual(['minutes since the start', 60]);
  expect([speed?.kind, speed?.title]).toEqual(['lines', 'Seconds for the tests, and to build']);
  expect([kinds?.kind, kinds?.title, more]).toEqual(['bars', 'Score by kind of test', []]);
});

test('the notes name points, thresholds and regressions', () => {
  const notes = curveNotes(curve);
  expect(notes).toContain('1 points do not build, 1 crashed or took too long');
  expect(notes).toContain('66.67 %: reached by commit 22, after 33 minutes');
  expect(notes).toContain('100 %: never reached');
  expect(notes).toContain(
    'regression 2: 70 % to 40 %, by seq 69 (worker-23, worker, a-model-with-a-long-name, t23): Compare in one place <i>; made good by seq 78',
  );
});

test('tables of evidence stand in every form of a report', () => {
  const table = { title: 'Tests <b>', caption: 'by path', headers: ['seq', 'what'], rows: [['7', 'deleted <i>']] };
  const result = { ...resultOf('small'), tables: [table] };
  expect(parseResultFile(JSON.stringify({ ...result, tables: [{ ...table, rows: [['7']] }] }))).toMatch(/table/);
  const page = htmlReport([result]);
  expect(page).toContain('<h3>Tests &#60;b&#62;</h3>');
  expect(page).toContain('<td>deleted &#60;i&#62;</td>');
  for (const markup of ['<script', '<b>', '<i>']) expect(page).not.toContain(markup);
  expect(markdownReport(result)).toContain('| 7 | deleted \\<i\\> |');
});

test.skipIf(!hasBrowser)(
  'in Chromium (skipped where there is none): one curve and three of them, no text on another',
  async () => {
    const page = htmlReport([resultOf('small'), resultOf('solo', 'old-style', 'all-on')]);
    expect(await show(page)).toEqual({ pictures: 8, faults: [], requests: 1, said: [] });
  },
  60_000,
);
