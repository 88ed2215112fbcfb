import { expect, test } from 'vitest';

import { formatNumber, percentText } from '../harness/format-number.ts';
import { formatVersion, sampleOf, type ResultFile } from '../harness/result-file.ts';
import { markdownReport } from './markdown.ts';
import { textReport } from './text.ts';

const load = (inFlight: number) => ({ workload: 'w1', files: 10_000, inFlight });

const result: ResultFile = {
  suite: 'commit',
  formatVersion,
  machine: { cpu: 'A|B *', cores: 2, memoryMiB: 4096, platform: 'linux-x64', node: '20.20.2', git: '2.39.5' },
  samples: [
    sampleOf('mound', load(1), 'commitsPerSecond', [1000, 1200, 900]),
    sampleOf('mound', load(1000), 'commitsPerSecond', [20_000, 18_000.4]),
    sampleOf('mound', load(1000), 'latencyMsP99', [12.3456, 14, 11]),
    sampleOf('mound', load(1), 'latencyMsP99', [3]),
    sampleOf('git-plumbing', load(1), 'commitsPerSecond', [29.96]),
    sampleOf('mound', { ...load(1000), peer: 'git-plumbing', peerInFlight: 1 }, 'ratioToPeer', [640]),
  ],
  notes: ['read back: <all>'],
};

test('text: a row for each subject and load, aligned', () => {
  expect(textReport(result).split('\n')).toEqual([
    'commit: workload w1, files 10,000',
    'A|B *, 2 cores, 4,096 MiB, linux-x64, Node 20.20.2, git 2.39.5',
    '',
    'subject       in flight  commits/s     min     max        p99 ms',
    'mound                 1      1,000     900   1,200             3',
    'mound             1,000     19,000  18,000  20,000  12.3 (11–14)',
    'git-plumbing          1         30      30      30             -',
    '',
    'subject  in flight  beside        its in flight  times as fast  min  max',
    'mound        1,000  git-plumbing              1            640  640  640',
    '',
    '- read back: <all>',
    '',
  ]);
});

test('Markdown: the same, and nothing in a file becomes markup', () => {
  const lines = markdownReport(result).split('\n');
  expect(lines).toContain('| subject | in flight | commits/s | min | max | p99 ms |');
  expect(lines).toContain('| mound | 1,000 | 19,000 | 18,000 | 20,000 | 12.3 (11–14) |');
  expect(lines).toContain('A\\|B \\*, 2 cores, 4,096 MiB, linux-x64, Node 20.20.2, git 2.39.5');
  expect(lines).toContain('- read back: \\<all\\>');
});

test('numbers are as precise as they are worth', () => {
  expect([0, 0.012345, 7.8912, 99.96, 100.4, 20_000].map(formatNumber)).toEqual([
    '0',
    '0.0123',
    '7.89',
    '100',
    '100',
    '20,000',
  ]);
});

test('what is less than all is never rounded to it', () => {
  expect([0.99951, 0.999996, 1, 0.99949].map(formatNumber)).toEqual(['0.99951', '0.999996', '1', '0.999']);
  const share = 5_746_333 / 5_746_335;
  expect([1, 2, 3].map((digits) => percentText(share, digits))).toEqual(['99.9 %', '99.99 %', '99.999 %']);
  expect([0, 0.5, 0.6667, 1].map((one) => percentText(one))).toEqual(['0 %', '50 %', '66.7 %', '100 %']);
  const [score, total] = [sampleOf('a', {}, 'score', [share]), sampleOf('a', {}, 'testsTotal', [5_746_335])];
  expect([score.median < 1, total.median]).toEqual([true, 5_746_335]);
});

test('what was measured once is told as that', () => {
  const once = { ...result, samples: result.samples.filter(({ n }) => n === 1) };
  expect(markdownReport(once)).toContain('each figure once, so that no spread is known');
  expect(markdownReport(result)).not.toContain('no spread');
  expect(markdownReport({ ...once, suite: 'audit' })).not.toContain('no spread');
});
