import {
  matricesOf,
  moneyText,
  rolesTold,
  spendingsOf,
  totalOf,
  type Matrix,
  type Spending,
} from '../experiment/costs.ts';
import { formatNumber, percentText } from '../harness/format-number.ts';
import { unitOf, type Metric } from '../harness/metric.ts';
import type { Sample } from '../harness/result-file.ts';
import type { Bar, Chart } from './chart.ts';
import { betterText, isFarApart, logText } from './general-chart.ts';
import { groupBy } from './table.ts';

/** What is told of arms as a whole, by role, or was published by others. */
export const isOfExperiment = ({ workload }: Sample): boolean =>
  workload['workload'] === 'experiment' || workload['workload'] === 'published';

const nameOf = ({ arm, mix, isPublished }: Spending): string => (isPublished ? `published: ${mix}` : `${arm}, ${mix}`);

/** Arms with mixes whose contexts are told as bars. */
const armsMax = 3;

/** Bars of arms beside one another, where there are two or more. */
const compared: readonly (readonly [Metric, string, string])[] = [
  ['score', 'Score in the end, by arm', '↑ more is better: share of the tests that are passed'],
  ['conflictsPerAcceptedLine', 'Conflicts for each line that stands in the end', '↓ less is better'],
  ['conflictsPerCommit', 'Conflicts for each commit', '↓ less is better'],
  ['linesTotal', 'Lines of the result', '↓ fewer are better where the score is the same; published figures are of another task'],
  ['duplicateShare', 'Lines of code that stand more than once', '↓ less is better: share of the lines of code, in windows of six'],
]; // prettier-ignore

/** The pictures of an experiment. */
export function experimentCharts(samples: readonly Sample[]): Chart[] {
  const all = spendingsOf(samples);
  const own = all.filter(({ isPublished }) => !isPublished);
  return [
    ...compared.flatMap(([metric, title, caption]) => armsChart(samples, metric, title, caption)),
    ...costChart(all),
    ...tokensChart(own),
    ...contextChart(samples),
    ...matricesOf(own).flatMap(matrixCharts),
    ...(matricesOf(own).length === 0 ? [] : publishedMatrix(all)),
  ];
}

function armsChart(samples: readonly Sample[], metric: Metric, title: string, caption: string): Chart[] {
  const found = samples.filter((one) => one.metric === metric);
  if (!found.some(({ workload }) => workload['workload'] === 'experiment')) return [];
  const isShare = unitOf(metric) === 'share';
  const bars = found.map(({ subject, workload, median, min, max }): Bar => ({ subject, label: `${subject}, ${String(workload['mix'])}`, median, min, max, ...(isShare && { says: percentText(median) }) })); // prettier-ignore
  return bars.length < 2 ? [] : [{ kind: 'bars', title, caption, isLog: false, groups: [{ heading: '', bars }], mark: undefined }]; // prettier-ignore
}

/** A cost of which a part is unknown has no shares that one could draw. */
function costChart(all: readonly Spending[]): Chart[] {
  const known = all.filter((one) => (totalOf(one).usd ?? 0) > 0 && totalOf(one).unknownRequests === 0);
  if (known.every(({ isPublished }) => isPublished)) return [];
  const totals = known.map((one): Bar => {
    const usd = totalOf(one).usd ?? 0;
    return { subject: one.isPublished ? 'published' : one.arm, label: nameOf(one), says: moneyText(totalOf(one)), median: usd, min: usd, max: usd }; // prettier-ignore
  });
  const isLog = isFarApart(totals.map(({ median }) => median));
  const unknown = all.filter((one) => !one.isPublished && !known.includes(one)).map(nameOf);
  return [
    {
      kind: 'bars',
      title: 'What a run cost, in US dollars',
      caption: `${betterText('less')} at the same score; published figures are of another task and other models${isLog ? `; ${logText}` : ''}`,
      isLog,
      groups: [{ heading: '', bars: totals.toSorted((a, b) => a.median - b.median) }],
      mark: undefined,
    },
    {
      kind: 'parts',
      title: 'Whose work the money goes to',
      caption: `Each bar is the whole of what a run cost, told behind it. Published figures are of another task and other models${unknown.length === 0 ? '' : `. Unknown, and not drawn: ${unknown.join('; ')}`}`,
      isLog: false,
      parts: [...rolesTold],
      bars: known.map((one) => ({ label: nameOf(one), shares: rolesTold.map((role) => one.money[role]?.usd ?? 0), says: moneyText(totalOf(one)) })),
    },
  ]; // prettier-ignore
}

function tokensChart(own: readonly Spending[]): Chart[] {
  const some = own.filter(({ tokens }) => Object.values(tokens).some((count) => count > 0));
  if (some.length === 0) return [];
  return [
    {
      kind: 'parts',
      title: 'Whose work the tokens go to',
      caption: 'Each bar is all tokens of a run, in and out, told behind it; published: workers have at least 69 %, over 90 % in most runs', // prettier-ignore
      isLog: false,
      parts: [...rolesTold],
      bars: some.map((one) => {
        const shares = rolesTold.map((role) => one.tokens[role]);
        return { label: nameOf(one), shares, says: countText(shares.reduce((sum, count) => sum + count, 0)) };
      }),
    },
  ];
}

/** 812, 14.2 k, 2.4 M. */
function countText(count: number): string {
  if (count < 10_000) return formatNumber(count);
  return count < 1e6 ? `${(count / 1e3).toFixed(1)} k` : `${(count / 1e6).toFixed(1)} M`;
}

/** How much a request of each role holds: half of them at most the first bar, 99 of 100 the second. */
function contextChart(samples: readonly Sample[]): Chart[] {
  const found = samples.filter(({ metric }) => metric === 'contextTokensP50' || metric === 'contextTokensP99');
  if (found.length === 0) return [];
  const byArm = groupBy(found, ({ subject, workload }) => `${subject}, ${String(workload['mix'])}`);
  if (byArm.size > armsMax) return [contextGrid(byArm)];
  const groups = [...byArm].map(([heading, some]) => ({
    heading: byArm.size > 1 ? heading : '',
    bars: some.map(({ subject, workload, metric, median, min, max }): Bar => {
      const of = metric === 'contextTokensP50' ? 'half of them' : '99 of 100';
      return { subject, label: `${String(workload['role'])}, ${of}`, median, min, max };
    }),
  }));
  const caption = `${betterText('less')}: tokens that a request to a model holds, at most: of half of them and of 99 in 100`;
  return [{ kind: 'bars', title: 'Context of a request, by role', caption, isLog: false, groups, mark: undefined }];
}

/** Of many arms a square says it in less room. */
function contextGrid(byArm: ReadonlyMap<string, readonly Sample[]>): Chart {
  const roles = [...new Set([...byArm.values()].flatMap((some) => some.map(({ workload }) => String(workload['role']))))]; // prettier-ignore
  const columns = roles.flatMap((role) => [
    { role, metric: 'contextTokensP50', title: `${role} p50` },
    { role, metric: 'contextTokensP99', title: `${role} p99` },
  ]);
  return {
    kind: 'grid',
    title: 'Context of a request, by role',
    caption: `${betterText('less')}: tokens that a request to a model holds, at most: half of them (p50), 99 in 100 (p99)`,
    isLog: false,
    rowTitle: 'arm',
    columnTitle: 'role',
    columns: columns.map(({ title }) => title),
    rows: [...byArm].map(([label, some]) => ({
      label,
      cells: columns.map(({ role, metric }) => {
        const value = some.find((one) => one.metric === metric && one.workload['role'] === role)?.median;
        return { value, says: value === undefined ? '-' : countText(value) };
      }),
    })),
  };
}

function matrixCharts({ arm, planners, workers, at }: Matrix): Chart[] {
  const grid = (title: string, caption: string, cell: (found: Spending | undefined) => { value: number | undefined; says: string }): Chart => ({
    kind: 'grid',
    title,
    caption,
    isLog: false,
    rowTitle: 'planner',
    columnTitle: 'worker',
    columns: workers,
    rows: planners.map((planner) => ({ label: planner, cells: workers.map((worker) => cell(at(planner, worker))) })),
  }); // prettier-ignore
  return [
    grid(`What every planner costs with every worker, ${arm}`, 'US dollars of the whole run; the darker, the dearer', (found) =>
      found === undefined ? { value: undefined, says: '-' } : { value: totalOf(found).usd, says: moneyText(totalOf(found)) },
    ),
    grid(`What every planner reaches with every worker, ${arm}`, 'Share of the tests that are passed in the end; the darker, the more', (found) => ({
      value: found?.score,
      says: found?.score === undefined ? 'not measured' : percentText(found.score),
    })),
  ]; // prettier-ignore
}

/** What was published of the same question has two cells only: one planner, with workers of two kinds. */
function publishedMatrix(all: readonly Spending[]): Chart[] {
  const published = all.filter(({ isPublished, money }) => isPublished && money.planner !== undefined);
  if (published.length === 0) return [];
  const cells = published.map((one) => ({ value: totalOf(one).usd, says: moneyText(totalOf(one)) }));
  return [
    {
      kind: 'grid',
      title: 'Published by others: what one planner cost with two kinds of workers',
      caption: 'US dollars of the whole run; another task and other models, so to be compared by their ratio only',
      isLog: false,
      rowTitle: 'planner',
      columnTitle: 'worker',
      columns: published.map(({ mix }) =>
        mix.includes('both roles') ? 'the same frontier model' : 'cheap, fast models',
      ),
      rows: [{ label: 'a frontier model', cells }],
    },
  ];
}
