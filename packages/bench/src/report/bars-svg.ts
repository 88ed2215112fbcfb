import { formatNumber } from '../harness/format-number.ts';
import type { Bar, Chart } from './chart.ts';
import { charsIn, classOf, escapedHtml, fitted, line, number, rangeOf, scaleOf, svg, text, tickText, whisker, type Frame } from './svg-parts.ts'; // prettier-ignore

const barHeight = 16;
const headingHeight = 26;
const axisHeight = 26;

/** Where labels and values stand: beside the bars, or where there is no room over them. */
const layouts = {
  wide: { left: 230, right: 165, rightOfOne: 80, rowHeight: 25, barTop: 4 },
  narrow: { left: 0, right: 16, rightOfOne: 16, rowHeight: 42, barTop: 20 },
} as const;

/** What a bar says of itself: its value, and the range of its rounds. */
function valueOf(bar: Bar): string {
  const value = escapedHtml(bar.says ?? formatNumber(bar.median));
  if (bar.min === bar.max) return value;
  return `${value}<tspan class="tick"> (${formatNumber(bar.min)}–${formatNumber(bar.max)})</tspan>`;
}

export function barsSvg(chart: Chart & { kind: 'bars' }, frame: Frame): string {
  const bars = chart.groups.flatMap((group) => group.bars);
  const { left, rowHeight, barTop, ...layout } = layouts[frame.isNarrow ? 'narrow' : 'wide'];
  const right = bars.some(({ min, max }) => min < max) ? layout.right : layout.rightOfOne;
  const marked = chart.mark === undefined ? [] : [chart.mark];
  const scale = scaleOf([...bars.flatMap(({ median, min, max }) => [median, min, max]), ...marked], chart.isLog, true);
  const x = (value: number): number => left + scale.at(value) * (frame.width - left - right);
  const marks: string[] = [];
  let y = 4;
  for (const { heading, bars: some } of chart.groups) {
    if (heading !== '') {
      marks.push(text(0, y + 16, fitted(heading, charsIn(frame.width)), ' class="heading"'));
      y += headingHeight;
    }
    for (const bar of some) {
      marks.push(barSvg(bar, frame, y, x));
      y += rowHeight;
    }
  }
  const ticks = frame.isNarrow ? scale.ticks.filter((_, at) => scale.ticks.length < 5 || at % 2 === 0) : scale.ticks;
  const grid = ticks.flatMap((tick) => [
    line(x(tick), 0, x(tick), y, 'grid'),
    tickText(frame, x(tick), y + 16, formatNumber(tick)),
  ]);
  const mark = marked.map((value) => line(x(value), 0, x(value), y, 'mark'));
  return svg(frame, y + axisHeight, chart.title, [...grid, ...mark, ...marks]);

  function barSvg(bar: Bar, { width, isNarrow }: Frame, top: number, at: (value: number) => number): string {
    const middle = top + barTop + barHeight / 2;
    const title = `<title>${escapedHtml(`${bar.label}: ${rangeOf(bar)}`)}</title>`;
    const end = at(bar.median);
    const box = `<rect class="${classOf(bar.subject)}" x="${left}" y="${number(top + barTop)}" width="${number(Math.max(1, end - left))}" height="${barHeight}" rx="2">${title}</rect>`;
    const range = bar.min < bar.max ? whisker(at(bar.min), middle, at(bar.max), middle) : '';
    const value = valueOf(bar);
    const labels = isNarrow
      ? [
          text(0, top + 14, fitted(bar.label, charsIn(width * 0.55))),
          `<text x="${width}" y="${number(top + 14)}" class="value" text-anchor="end">${value}</text>`,
        ]
      : [
          text(left - 8, middle + 4, fitted(bar.label, charsIn(left)), ' text-anchor="end"'),
          `<text x="${number(Math.max(end, at(bar.max)) + 8)}" y="${number(middle + 4)}" class="value">${value}</text>`,
        ];
    return [box, range, ...labels].join('');
  }
}
