import { describe, expect, test } from 'vitest';

import { formatVersion, sampleOf, type ResultFile, type Sample } from '../harness/result-file.ts';
import { hasBrowser, show } from './browser.test.kit.ts';
import { chartsOf } from './charts.ts';
import { htmlReport } from './html.ts';

const load = (inFlight: number) => ({ workload: 'w1', files: 10_000, inFlight, durability: 'flushed' });
const machine = { cpu: 'A <b>', cores: 2, memoryMiB: 4096, platform: 'linux-x64', node: '20.20.2', git: '2.39.5' };
const resultOf = (samples: readonly Sample[], notes: readonly string[] = []): ResultFile => ({
  suite: 'commit',
  formatVersion,
  machine,
  samples,
  notes,
});

const bars = resultOf(
  [
    sampleOf('mound', load(1000), 'commitsPerSecond', [20_000, 18_000.4]),
    sampleOf('mound', load(1), 'commitsPerSecond', [1000, 1200, 900]),
    sampleOf('git-plumbing', load(1), 'commitsPerSecond', [29.96]),
    sampleOf('mound', { ...load(1000), peer: 'git-plumbing', peerInFlight: 1 }, 'ratioToPeer', [640]),
    sampleOf('mound', { ...load(1), peer: 'git-plumbing' }, 'ratioToPeer', [33]),
    sampleOf('mound', { ...load(1), phase: 'flush' }, 'share', [0.25]),
    sampleOf('mound', { ...load(1), phase: 'hashing <i>' }, 'share', [0.5]),
    sampleOf('a-subject-with-a-name-that-is-far-too-long-for-a-label', load(1), 'lostUpdates', [0]),
    sampleOf('mound', load(1), 'lostUpdates', [0]),
  ],
  [
    'target reached: one',
    'target NOT reached: <script>alert(1)</script>',
    'control: it DOES NOT SHOW: trust nothing here',
  ],
);

const stretches = [0, 100_000, 200_000, 300_000, 400_000, 500_000];
const lines = resultOf(
  stretches.flatMap((fromCommit) => [
    sampleOf('mound', { workload: 'growth', fromCommit }, 'commitsPerSecond', [10_000 - fromCommit / 100, 11_000]),
    sampleOf('floor', { workload: 'growth', fromCommit }, 'commitsPerSecond', [40_000]),
  ]),
);

describe('pictures', () => {
  test('bars by load, small loads first, logarithmic where values lie far apart', () => {
    const [rates, ratios, lost, parts] = ['Commits', 'Times as fast', 'Updates lost', 'Where'].map((title) =>
      chartsOf(bars).find((chart) => chart.title.startsWith(title)),
    );
    if (rates?.kind !== 'bars' || ratios?.kind !== 'bars' || lost?.kind !== 'said' || parts?.kind !== 'parts') {
      throw new Error('a picture is missing');
    }
    expect(rates.groups.map(({ heading, bars: some }) => [heading, some.map(({ subject }) => subject)])).toEqual([
      ['in flight 1', ['mound', 'git-plumbing']],
      ['in flight 1,000', ['mound']],
    ]);
    expect(rates.isLog).toBe(true);
    expect(lost.says).toBe('0 everywhere: a-subject-with-a-name-that-is-far-too-long-for-a-label, mound');
    expect(rates.groups[0]?.bars[0]).toMatchObject({ median: 1000, min: 900, max: 1200 });
    expect(ratios.groups.flatMap((group) => group.bars.map(({ label }) => label))).toEqual([
      'mound : git-plumbing, in flight 1',
      'mound : git-plumbing (1), in flight 1,000',
    ]);
    expect(parts).toMatchObject({ parts: ['flush', 'hashing <i>'], bars: [{ shares: [0.25, 0.5] }] });
  });

  test('a field with many numbers becomes an axis', () => {
    const [chart] = chartsOf(lines);
    if (chart?.kind !== 'lines') throw new Error('no lines');
    expect(chart.caption).toBe('↑ more is better');
    expect(chart.xTitle).toBe('from commit');
    expect(chart.series.map(({ label, points }) => [label, points.map(({ x }) => x)])).toEqual([
      ['mound', stretches],
      ['floor', stretches],
    ]);
  });

  test('what tells nothing has none: one sample alone, a metric for tables', () => {
    expect(chartsOf(resultOf([sampleOf('mound', load(1), 'commitsPerSecond', [5])]))).toEqual([]);
    const counts = [sampleOf('a', load(1), 'racesLost', [5]), sampleOf('b', load(1), 'racesLost', [6])];
    expect(chartsOf(resultOf(counts))).toEqual([]);
  });
});

test('nothing in a file becomes markup, and the page asks for nothing from elsewhere', () => {
  const page = htmlReport([bars, lines]);
  for (const markup of ['<script', '<b>', '<i>', 'http:', 'https:', '<link', '@import', 'url(']) {
    expect(page).not.toContain(markup);
  }
  expect(page).toContain('<li class="reached">target reached: one</li>');
  expect(page).toContain('<li class="missed">target NOT reached: &#60;script&#62;');
  expect(page).toContain('<li class="missed">control: it DOES NOT SHOW');
});

test.skipIf(!hasBrowser)(
  'in Chromium (skipped where there is none): every text is in its picture and lies on no other, at any width',
  async () => {
    expect(await show(htmlReport([bars, lines]))).toEqual({ pictures: 4, faults: [], requests: 1, said: [] });
  },
  60_000,
);
