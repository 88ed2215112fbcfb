import { expect, test } from 'vitest';

import { costTables, moneyText } from '../experiment/costs.ts';
import { publishedNotes, publishedSamples } from '../experiment/published.ts';
import { formatVersion, parseResultFile, sampleOf, type ResultFile, type Sample } from '../harness/result-file.ts';
import { hasBrowser, show } from './browser.test.kit.ts';
import { chartsOf } from './charts.ts';
import { htmlReport } from './html.ts';
import { markdownReport } from './markdown.ts';

const models = ['large', 'middle-sized', 'small <b>'];
const price = (model: string): number => [12, 3, 0.4][models.indexOf(model)] ?? 0;

function samplesOfMix(arm: string, planner: string, worker: string, isPriced = true): Sample[] {
  const workload = { workload: 'experiment', experiment: 'e', mix: `${planner}+${worker}`, planner, worker, minds: 'live' }; // prettier-ignore
  const of = (role: string, usd: number, tokens: number): Sample[] => [
    ...(isPriced ? [sampleOf(arm, { ...workload, role }, 'costUsd', [usd, usd * 1.2])] : []),
    sampleOf(arm, { ...workload, role }, 'unknownCostRequests', [isPriced ? 0 : 7]),
    sampleOf(arm, { ...workload, role }, 'inputTokens', [tokens]),
    sampleOf(arm, { ...workload, role }, 'outputTokens', [tokens / 10]),
    sampleOf(arm, { ...workload, role }, 'contextTokensP50', [tokens / 100]),
    sampleOf(arm, { ...workload, role }, 'contextTokensP99', [tokens / 20]),
  ];
  return [
    sampleOf(arm, workload, 'score', [0.5 + price(worker) / 100]),
    sampleOf(arm, workload, 'linesTotal', [9000, 11_000]),
    ...of('planner', price(planner), 100_000),
    ...of('worker', 10 * price(worker), 2_000_000),
    ...of('merger', price(planner) / 4, 50_000),
    ...of('reviewer', price(planner) / 8, 25_000),
  ];
}

const pairs = models.flatMap((planner) => models.map((worker) => [planner, worker] as const));
const samples = [
  ...pairs.flatMap(([planner, worker], at) => samplesOfMix('all-on', planner, worker, at !== 4)),
  ...samplesOfMix('solo', 'large', 'large'),
  ...publishedSamples(),
];
const result: ResultFile = {
  suite: 'experiment',
  formatVersion,
  machine: { cpu: 'A', cores: 2, memoryMiB: 4096, platform: 'linux-x64', node: '20.20.2', git: '2.39.5' },
  samples,
  notes: publishedNotes,
  tables: costTables(samples),
};

test('money is told as it is known: unknown is never nothing', () => {
  expect([undefined, { usd: undefined, unknownRequests: 3 }, { usd: 0, unknownRequests: 0 }, { usd: 1192, unknownRequests: 0 }, { usd: 0.01234, unknownRequests: 2 }].map(moneyText)).toEqual(['-', 'unknown', '$0.0000', '$1,192', '$0.0123 and 2 unknown']); // prettier-ignore
});

test('cost by role, planner and workers apart, published figures marked, and the matrix', () => {
  expect(parseResultFile(JSON.stringify(result))).toEqual(result);
  const [byRole, costs, scores] = result.tables ?? [];
  expect(byRole?.headers).toEqual(['arm', 'mix', 'planner', 'workers', 'merge', 'review', 'total', 'planner’s part', 'workers’ tokens']); // prettier-ignore
  expect(byRole?.rows[0]).toEqual(['all-on', 'large+large', '$13.20', '$132', '$3.30', '$1.65', '$150', '8.8 %', '92 %']); // prettier-ignore
  expect(byRole?.rows[4]?.slice(2, 8)).toEqual(['unknown', 'unknown', 'unknown', 'unknown', 'unknown', 'unknown']);
  expect(byRole?.rows.slice(-2)).toEqual([
    ['published*', 'one frontier model in both roles', '$1,192', '$9,373', '-', '-', '$10,565', '11.3 %', 'at least 69 %'], // prettier-ignore
    ['published*', 'frontier planner, cheap fast workers', '$928', '$411', '-', '-', '$1,339', '69.3 %', 'at least 69 %'], // prettier-ignore
  ]);
  expect(costs?.headers).toEqual(['planner', ...models]);
  expect(costs?.rows[1]).toEqual(['middle-sized', '$137', 'unknown', '$8.94']);
  expect(scores?.rows[1]).toEqual(['middle-sized', '62 %', '53 %', '50.4 %']);
  expect(result.tables).toHaveLength(3);
  expect(markdownReport(result)).toContain('### Cost of every planner with every worker, all-on');
});

test('pictures: whose work the money and the tokens go to, contexts, and the matrix as a grid', () => {
  const charts = chartsOf(result);
  expect(charts.map(({ title }) => title)).toEqual([
    'All arms at a glance',
    'Score in the end, by arm',
    'Lines of the result',
    'What a run cost, in US dollars',
    'Whose work the money goes to',
    'Whose work the tokens go to',
    'Context of a request, by role',
    'What every planner costs with every worker, all-on',
    'What every planner reaches with every worker, all-on',
    'Published by others: what one planner cost with two kinds of workers',
  ]);
  const [glance, , , totals, money, , contexts, grid, , published] = charts;
  if (glance?.kind !== 'grid') throw new Error('no glance');
  expect(glance.columns).toEqual(['score', 'lines']);
  expect(glance.rows.at(-1)).toEqual({
    label: 'solo, large+large',
    cells: [
      { value: 0, says: '62 %' },
      { value: 0, says: '10 k' },
    ],
  });
  if (money?.kind !== 'parts' || grid?.kind !== 'grid') throw new Error('a picture is missing');
  expect(money.bars).toHaveLength(9 - 1 + 1 + 2);
  expect(money.bars.at(-1)).toEqual({
    label: 'published: frontier planner, cheap fast workers',
    shares: [928, 411, 0, 0],
    says: '$1,339',
  });
  if (totals?.kind !== 'bars' || contexts?.kind !== 'grid') throw new Error('a picture is missing');
  expect(totals.groups[0]?.bars.map(({ says }) => says)).toEqual(['$5.01', '$8.94', '$22.55', '$33.61', '$51.15', '$133', '$137', '$150', '$150', '$1,339', '$10,565']); // prettier-ignore
  expect(contexts.columns.slice(0, 3)).toEqual(['planner p50', 'planner p99', 'worker p50']);
  expect(contexts.rows[0]?.cells.map(({ says }) => says).slice(0, 4)).toEqual(['1,000', '5,000', '20.0 k', '100.0 k']);
  expect(money.caption).toContain('Unknown, and not drawn: all-on, middle-sized+middle-sized');
  if (published?.kind !== 'grid') throw new Error('no published figures');
  expect(published.rows[0]?.cells.map(({ says }) => says)).toEqual(['$10,565', '$1,339']);
  expect(grid.rows[1]?.cells[1]).toEqual({ value: undefined, says: 'unknown' });
});

test.skipIf(!hasBrowser)(
  'in Chromium (skipped where there is none): every text is in its picture and lies on no other',
  async () => {
    expect(await show(htmlReport([result]))).toEqual({ pictures: 10, faults: [], requests: 1, said: [] });
  },
  60_000,
);
