import {
  matricesOf,
  moneyText,
  rolesTold,
  spendingsOf,
  totalOf,
  type Matrix,
  type Spending,
} from '../experiment/costs.ts';
import { formatNumber } from '../harness/format-number.ts';
import type { Metric } from '../harness/metric.ts';
import type { Sample } from '../harness/result-file.ts';
import type { Bar, Chart } from './chart.ts';
import { percent } from './curve-chart.ts';
import { groupBy } from './table.ts';

/** What is told of arms as a whole, by role, or was published by others. */
export const isOfExperiment = ({ workload }: Sample): boolean =>
  workload['workload'] === 'experiment' || workload['workload'] === 'published';

const nameOf = ({ arm, mix, isPublished }: Spending): string => (isPublished ? `published: ${mix}` : `${arm}, ${mix}`);

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
  const bars = found.map(({ subject, workload, median, min, max }): Bar => ({ subject, label: `${subject}, ${String(workload['mix'])}`, median, min, max })); // prettier-ignore
  return bars.length < 2 ? [] : [{ kind: 'bars', title, caption, isLog: false, groups: [{ heading: '', bars }], mark: undefined }]; // prettier-ignore
}

/** A cost of which a part is unknown has no shares that one could draw. */
function costChart(all: readonly Spending[]): Chart[] {
  const known = all.filter((one) => (totalOf(one).usd ?? 0) > 0 && totalOf(one).unknownRequests === 0);
  if (known.every(({ isPublished }) => isPublished)) return [];
  const unknown = all.filter((one) => !one.isPublished && !known.includes(one)).map(nameOf);
  return [
    {
      kind: 'parts',
      title: 'Whose work the money goes to',
      caption: `The whole bar is what a run cost, told behind its name. Published figures are of another task and other models${unknown.length === 0 ? '' : `. Unknown, and not drawn: ${unknown.join('; ')}`}`,
      isLog: false,
      parts: [...rolesTold],
      bars: known.map((one) => ({ label: labelled(nameOf(one), moneyText(totalOf(one))), shares: rolesTold.map((role) => one.money[role]?.usd ?? 0) })),
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
      caption: 'The whole bar is all tokens of a run, in and out, told behind its name; published: workers have at least 69 %, over 90 % in most runs', // prettier-ignore
      isLog: false,
      parts: [...rolesTold],
      bars: some.map((one) => {
        const shares = rolesTold.map((role) => one.tokens[role]);
        return { label: labelled(nameOf(one), countText(shares.reduce((sum, count) => sum + count, 0))), shares };
      }),
    },
  ];
}

/** 812, 14.2 k, 2.4 M. */
function countText(count: number): string {
  if (count < 10_000) return formatNumber(count);
  return count < 1e6 ? `${(count / 1e3).toFixed(1)} k` : `${(count / 1e6).toFixed(1)} M`;
}

/** The end says most: the name gives way. */
function labelled(name: string, amount: string): string {
  const charsMax = 28 - amount.length;
  return `${name.length <= charsMax ? name : `${name.slice(0, charsMax - 1)}…`} (${amount})`;
}

/** How much a request of each role holds: half of them at most the first bar, 99 of 100 the second. */
function contextChart(samples: readonly Sample[]): Chart[] {
  const found = samples.filter(({ metric }) => metric === 'contextTokensP50' || metric === 'contextTokensP99');
  if (found.length === 0) return [];
  const byArm = groupBy(found, ({ subject, workload }) => `${subject}, ${String(workload['mix'])}`);
  const groups = [...byArm].map(([heading, some]) => ({
    heading: byArm.size > 1 ? heading : '',
    bars: some.map(({ subject, workload, metric, median, min, max }): Bar => {
      const of = metric === 'contextTokensP50' ? 'half of them' : '99 of 100';
      return { subject, label: `${String(workload['role'])}, ${of}`, median, min, max };
    }),
  }));
  const caption = 'Tokens that a request to a model holds, at most: of half of them and of 99 in 100; less is cheaper';
  return [{ kind: 'bars', title: 'Context of a request, by role', caption, isLog: false, groups, mark: undefined }];
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
      says: found?.score === undefined ? 'not measured' : percent(found.score),
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
