import { formatNumber } from '../harness/format-number.ts';
import type { Chart, CurveMark } from './chart.ts';
import {
  charsIn,
  escapedHtml,
  fitted,
  line,
  linesOf,
  number,
  scaleOf,
  svg,
  text,
  tickText,
  type Frame,
} from './svg-parts.ts';

const plotHeight = 260;
const fallsShownMax = 12;
const numberWidth = 18;
const numberHeight = 15;

const shares = [0, 0.2, 0.4, 0.6, 0.8, 1];
const isUnbuilt = (state: string): boolean => state.startsWith('build');
const isFaulty = (state: string): boolean => state === 'crashed' || state === 'timed-out';

/** Rows above the plot, so that no number lies on another: the row of each. */
function rowsOf(xs: readonly number[]): number[] {
  const ends: number[] = [];
  return xs.map((x) => {
    const free = ends.findIndex((end) => x - end >= numberWidth);
    const row = free < 0 ? ends.length : free;
    ends[row] = x;
    return row;
  });
}

/** A curve of scores: what does not build is a cross, and the line goes on over it. */
export function curveSvg(chart: Chart & { kind: 'curve' }, frame: Frame): string {
  const { series, xTitle } = chart;
  const { width, isNarrow } = frame;
  const [left, right] = isNarrow ? [46, 12] : [60, 30];
  const falls = chart.falls.toSorted((a, b) => a.x - b.x);
  const scale = scaleOf(series.flatMap(({ points }) => points.map(({ x }) => x)), false, true); // prettier-ignore
  const x = (value: number): number => left + scale.at(value) * (width - left - right);
  const rows = rowsOf(falls.map((fall) => x(fall.x)));
  const top = 10 + numberHeight * (Math.max(-1, ...rows) + 1);
  const bottom = top + plotHeight;
  const y = (score: number): number => bottom - score * plotHeight;
  const grid = [
    ...shares.flatMap((share) => [
      line(left, y(share), width - right, y(share), 'grid'),
      text(left - 8, y(share) + 4, `${Math.round(share * 100)} %`, ' class="tick" text-anchor="end"'),
    ]),
    ...scale.ticks
      .filter((_, at) => !isNarrow || at % 2 === 0)
      .map((tick) => tickText(frame, x(tick), bottom + 18, formatNumber(tick))),
    text((left + width) / 2, bottom + 36, xTitle, ' class="tick" text-anchor="middle"'),
  ];
  const thresholds = chart.thresholds.flatMap(({ share, x: at, says }) => [
    line(left, y(share), width - right, y(share), 'mark'),
    `<path class="reached" d="M${number(x(at))} ${number(y(share) - 6)}l6 6l-6 6l-6 -6z"><title>${escapedHtml(says)}</title></path>`,
  ]);
  const fallMarks = falls.flatMap((fall, at) => {
    const rowTop = top - 4 - numberHeight * (rows[at] ?? 0);
    return [
      // From below the numbers, some of which may be another's.
      line(x(fall.x), top - 4, x(fall.x), bottom, 'fault fall'),
      text(x(fall.x), rowTop - 2, String(at + 1), ' class="fault" text-anchor="middle"'),
    ];
  });
  const curves = series.flatMap(({ points }, at) => {
    const hue = series.length === 1 ? 'ours' : `hue${at % 12}`;
    const built = points.filter(({ state }) => !isUnbuilt(state));
    const path = built.map(
      (point, index) => `${index === 0 ? 'M' : 'L'}${number(x(point.x))} ${number(y(point.score))}`,
    );
    return [`<path class="line ${hue}" d="${path.join('')}"/>`, ...points.map((point) => markSvg(point, x, y, hue))];
  });
  const legendTop = bottom + 62;
  const names = series.length === 1 ? [] : series.map(({ label }, at) => ({ at, label }));
  const legend = names.flatMap(({ at, label }) => [
    `<rect class="hue${at % 12}" x="${left}" y="${legendTop + 20 * at - 9}" width="18" height="4"/>`,
    text(left + 26, legendTop + 20 * at - 3, fitted(label, charsIn(width - left - 26))),
  ]);
  const told = falls
    .slice(0, fallsShownMax)
    .flatMap(({ says, about }, at) => [`${at + 1}  ${says}`, ...(about === '' ? [] : [`\u2003 ${about}`])]);
  const more = falls.length - fallsShownMax;
  const reached = chart.thresholds.map(({ says }) => `◆ ${says}`).join('; ');
  const all = [
    ...(reached === '' ? [] : [reached]),
    ...told,
    ...(more > 0 ? [`… and ${more} more among the figures`] : []),
  ];
  const lines = all.flatMap((says) => linesOf(says, charsIn(width)));
  const fallsTop = legendTop + 20 * names.length;
  const words = lines.map((says, at) => text(0, fallsTop + 18 * at, says));
  const height = fallsTop + 18 * lines.length - 8;
  return svg(frame, height, chart.title, [...grid, ...thresholds, ...fallMarks, ...curves, ...legend, ...words]);
}

function markSvg(point: CurveMark, x: (value: number) => number, y: (score: number) => number, hue: string): string {
  const [at, up] = [x(point.x), y(point.score)];
  const title = `<title>${escapedHtml(point.says)}</title>`;
  if (isUnbuilt(point.state)) {
    const [low, high] = [at - 5, at + 5].map(number);
    return `<path class="fault" d="M${low} ${number(up - 5)}L${high} ${number(up + 5)}M${low} ${number(up + 5)}L${high} ${number(up - 5)}">${title}</path>`;
  }
  const name = isFaulty(point.state) ? 'fault' : hue;
  return `<circle class="${name}" cx="${number(at)}" cy="${number(up)}" r="${isFaulty(point.state) ? 5 : 3}">${title}</circle>`;
}
