import { formatNumber } from '../harness/format-number.ts';
import type { Chart } from './chart.ts';
import { charsIn, classOf, escapedHtml, fitted, line, number, rangeOf, scaleOf, svg, text, tickText, whisker, type Frame } from './svg-parts.ts'; // prettier-ignore

const plotHeight = 220;
/** Of one subject's series, by their number. */
const dashes = ['', '6 3', '2 3', '8 3 2 3'];

export function linesSvg(chart: Chart & { kind: 'lines' }, frame: Frame): string {
  const { width } = frame;
  const points = chart.series.flatMap((series) => series.points);
  const [left, right] = frame.isNarrow ? [52, 14] : [70, 30];
  const legendTop = plotHeight + 62;
  const yScale = scaleOf(points.flatMap(({ median, min, max }) => [median, min, max]), chart.isLog, true); // prettier-ignore
  const xScale = scaleOf(points.map((point) => point.x), chart.isLogX, false); // prettier-ignore
  const x = (value: number): number => left + xScale.at(value) * (width - left - right);
  const y = (value: number): number => 10 + (1 - yScale.at(value)) * plotHeight;
  const xTicks = frame.isNarrow ? xScale.ticks.filter((_, at) => at % 2 === 0) : xScale.ticks;
  const grid = [
    ...yScale.ticks.flatMap((tick) => [
      line(left, y(tick), width - right, y(tick), 'grid'),
      text(left - 8, y(tick) + 4, formatNumber(tick), ' class="tick" text-anchor="end"'),
    ]),
    ...xTicks.map((tick) => tickText(frame, x(tick), plotHeight + 28, formatNumber(tick))),
    text((left + width) / 2, plotHeight + 44, chart.xTitle, ' class="tick" text-anchor="middle"'),
  ];
  const curves = chart.series.flatMap(({ subject, label, points: some }, at) => {
    const kind = classOf(subject);
    const name = kind === 'control' ? kind : `${kind} hue${at % 6}`;
    const path = some.map(
      (point, index) => `${index === 0 ? 'M' : 'L'}${number(x(point.x))} ${number(y(point.median))}`,
    );
    const before = chart.series.slice(0, at).filter((series) => series.subject === subject).length;
    const dash = dashes[before % dashes.length] ?? '';
    const entry = legendTop + 20 * at;
    const style = dash === '' ? '' : ` stroke-dasharray="${dash}"`;
    return [
      `<path class="line ${name}" d="${path.join('')}"${style}/>`,
      ...some.flatMap((point) => [
        ...(point.min < point.max ? [whisker(x(point.x), y(point.min), x(point.x), y(point.max))] : []),
        `<circle class="${name}" cx="${number(x(point.x))}" cy="${number(y(point.median))}" r="3"><title>${escapedHtml(`${label}, ${formatNumber(point.x)}: ${rangeOf(point)}`)}</title></circle>`,
      ]),
      `<path class="line ${name}" d="M${left} ${entry - 7}L${left + 22} ${entry - 7}"${style}/>`,
      text(left + 30, entry - 3, fitted(label, charsIn(width - left - 30))),
    ];
  });
  return svg(frame, legendTop + 20 * chart.series.length, chart.title, [...grid, ...curves]);
}
