import { formatNumber } from '../harness/format-number.ts';
import type { Chart } from './chart.ts';
import { curveSvg } from './curve-svg.ts';
import { gridSvg } from './grid-svg.ts';
import { classOf, escapedHtml, fitted, line, number, rangeOf, scaleOf, svg, text, width } from './svg-parts.ts';

const labelWidth = 230;
const valueWidth = 90;
const barHeight = 16;
const rowHeight = 24;
const headingHeight = 26;
const axisHeight = 26;
const plotHeight = 220;
const labelCharsMax = 34;

function barsSvg(chart: Chart & { kind: 'bars' }): string {
  const bars = chart.groups.flatMap((group) => group.bars);
  const scale = scaleOf([...bars.flatMap(({ median, min, max }) => [median, min, max]), ...(chart.mark === undefined ? [] : [chart.mark])], chart.isLog, true); // prettier-ignore
  const plotWidth = width - labelWidth - valueWidth;
  const x = (value: number): number => labelWidth + scale.at(value) * plotWidth;
  const marks: string[] = [];
  let y = 4;
  for (const { heading, bars: some } of chart.groups) {
    if (heading !== '') {
      marks.push(text(0, y + 16, fitted(heading, 110), ' class="heading"'));
      y += headingHeight;
    }
    for (const bar of some) {
      const middle = y + rowHeight / 2;
      const title = `<title>${escapedHtml(`${bar.label}: ${rangeOf(bar)}`)}</title>`;
      marks.push(
        text(labelWidth - 8, middle + 4, fitted(bar.label, labelCharsMax), ' text-anchor="end"'),
        `<rect class="${classOf(bar.subject)}" x="${labelWidth}" y="${number(middle - barHeight / 2)}" width="${number(Math.max(1, x(bar.median) - labelWidth))}" height="${barHeight}" rx="2">${title}</rect>`,
        ...(bar.min < bar.max ? [line(x(bar.min), middle, x(bar.max), middle, 'range')] : []),
        text(Math.max(x(bar.median), x(bar.max)) + 6, middle + 4, formatNumber(bar.median), ' class="value"'),
      );
      y += rowHeight;
    }
  }
  const grid = scale.ticks.flatMap((tick) => [
    line(x(tick), 0, x(tick), y, 'grid'),
    text(x(tick), y + 16, formatNumber(tick), ' class="tick" text-anchor="middle"'),
  ]);
  const mark = chart.mark === undefined ? [] : [line(x(chart.mark), 0, x(chart.mark), y, 'mark')];
  return svg(y + axisHeight, chart.title, [...grid, ...marks, ...mark]);
}

/** Of one subject's series, by their number. */
const dashes = ['', '6 3', '2 3', '8 3 2 3'];

function linesSvg(chart: Chart & { kind: 'lines' }): string {
  const points = chart.series.flatMap((series) => series.points);
  const left = 70;
  const legendTop = plotHeight + 52;
  const yScale = scaleOf(points.flatMap(({ median, min, max }) => [median, min, max]), chart.isLog, true); // prettier-ignore
  const xScale = scaleOf(points.map((point) => point.x), chart.isLogX, false); // prettier-ignore
  const x = (value: number): number => left + xScale.at(value) * (width - left - 30);
  const y = (value: number): number => 10 + (1 - yScale.at(value)) * plotHeight;
  const grid = [
    ...yScale.ticks.flatMap((tick) => [
      line(left, y(tick), width - 30, y(tick), 'grid'),
      text(left - 8, y(tick) + 4, formatNumber(tick), ' class="tick" text-anchor="end"'),
    ]),
    ...xScale.ticks.map((tick) =>
      text(x(tick), plotHeight + 28, formatNumber(tick), ' class="tick" text-anchor="middle"'),
    ),
    text((left + width) / 2, plotHeight + 44, chart.xTitle, ' class="tick" text-anchor="middle"'),
  ];
  const curves = chart.series.flatMap(({ subject, label, points: some }, at) => {
    const name = `${classOf(subject)} hue${at % 6}`;
    const path = some.map(
      (point, index) => `${index === 0 ? 'M' : 'L'}${number(x(point.x))} ${number(y(point.median))}`,
    );
    const before = chart.series.slice(0, at).filter((series) => series.subject === subject).length;
    const dash = dashes[before % dashes.length] ?? '';
    const entry = legendTop + 20 * at;
    return [
      `<path class="line ${name}" d="${path.join('')}"${dash === '' ? '' : ` stroke-dasharray="${dash}"`}/>`,
      ...some.flatMap((point) => [
        ...(point.min < point.max ? [line(x(point.x), y(point.min), x(point.x), y(point.max), 'range')] : []),
        `<circle class="${name}" cx="${number(x(point.x))}" cy="${number(y(point.median))}" r="3"><title>${escapedHtml(`${label}, ${formatNumber(point.x)}: ${rangeOf(point)}`)}</title></circle>`,
      ]),
      `<rect class="${name}" x="${left}" y="${entry - 9}" width="18" height="4"/>`,
      text(left + 26, entry - 3, fitted(label, 100)),
    ];
  });
  return svg(legendTop + 20 * chart.series.length, chart.title, [...grid, ...curves]);
}

function partsSvg({ title, parts, bars }: Chart & { kind: 'parts' }): string {
  const plotWidth = width - labelWidth - 10;
  const marks: string[] = [];
  for (const [row, { label, shares }] of bars.entries()) {
    const y = 4 + row * (rowHeight + 4);
    const sum = shares.reduce((total, share) => total + share, 0);
    let x = labelWidth;
    marks.push(text(labelWidth - 8, y + 15, fitted(label, labelCharsMax), ' text-anchor="end"'));
    for (const [at, share] of shares.entries()) {
      const wide = sum === 0 ? 0 : (share / sum) * plotWidth;
      const told = `${parts[at] ?? ''}: ${formatNumber((share / Math.max(sum, Number.MIN_VALUE)) * 100)} %`;
      marks.push(
        `<rect class="hue${at % 12}" x="${number(x)}" y="${y}" width="${number(wide)}" height="20"><title>${escapedHtml(told)}</title></rect>`,
      );
      x += wide;
    }
  }
  const top = 4 + bars.length * (rowHeight + 4) + 14;
  const perRow = 5;
  const legend = parts.flatMap((part, at) => {
    const [x, y] = [(at % perRow) * 150 + 4, top + Math.floor(at / perRow) * 20];
    return [
      `<rect class="hue${at % 12}" x="${x}" y="${y - 9}" width="12" height="12"/>`,
      text(x + 18, y + 1, fitted(part, 18)),
    ];
  });
  return svg(top + Math.ceil(parts.length / perRow) * 20, title, [...marks, ...legend]);
}

export function drawn(chart: Chart): string {
  switch (chart.kind) {
    case 'bars':
      return barsSvg(chart);
    case 'lines':
      return linesSvg(chart);
    case 'parts':
      return partsSvg(chart);
    case 'grid':
      return gridSvg(chart);
    case 'curve':
      return curveSvg(chart);
  }
}
