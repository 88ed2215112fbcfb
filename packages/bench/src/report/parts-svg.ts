import { formatNumber } from '../harness/format-number.ts';
import type { Chart } from './chart.ts';
import { charsIn, escapedHtml, fitted, number, svg, text, type Frame } from './svg-parts.ts';

const barHeight = 20;
const legendRow = 20;

/** Bars of which each is one whole, cut into its parts. */
export function partsSvg({ title, parts, bars, hues }: Chart & { kind: 'parts' }, frame: Frame): string {
  const { width, isNarrow } = frame;
  const saysWidth = isNarrow ? 0 : 10 + Math.max(...bars.map(({ says = '' }) => says.length), 0) * 7.2;
  const left = isNarrow ? 0 : 230;
  const plotWidth = width - left - (isNarrow ? 0 : saysWidth);
  const rowHeight = isNarrow ? 44 : 28;
  const hueOf = (at: number): string => hues?.[at] ?? `hue${at % 12}`;
  const marks: string[] = [];
  for (const [row, { label, shares, says }] of bars.entries()) {
    const top = 4 + row * rowHeight;
    const y = isNarrow ? top + 18 : top;
    const sum = shares.reduce((total, share) => total + share, 0);
    let x = left;
    if (isNarrow) marks.push(text(0, top + 13, fitted(label, charsIn(width * (says === undefined ? 1 : 0.6)))));
    else marks.push(text(left - 8, y + 15, fitted(label, charsIn(left)), ' text-anchor="end"'));
    if (says !== undefined) {
      const place = isNarrow ? [width, top + 13] : [width - saysWidth + 8, y + 15];
      const anchor = isNarrow ? ' class="value" text-anchor="end"' : ' class="value"';
      marks.push(text(place[0] ?? 0, place[1] ?? 0, says, anchor));
    }
    for (const [at, share] of shares.entries()) {
      const wide = sum === 0 ? 0 : (share / sum) * plotWidth;
      if (share === 0) continue;
      const told = `${parts[at] ?? ''}: ${formatNumber((share / Math.max(sum, Number.MIN_VALUE)) * 100)} %`;
      // A part that is there is seen, however small.
      marks.push(
        `<rect class="${hueOf(at)}" x="${number(x)}" y="${y}" width="${number(Math.max(1.5, wide))}" height="${barHeight}"><title>${escapedHtml(told)}</title></rect>`,
      );
      x += wide;
    }
  }
  const top = 4 + bars.length * rowHeight + 14;
  // What nowhere has a share needs no colour to be known by.
  const named = parts.flatMap((part, at) => (bars.some(({ shares }) => (shares[at] ?? 0) > 0) ? [{ part, at }] : []));
  const perRow = isNarrow ? 2 : 5;
  const legend = named.flatMap(({ part, at }, place) => {
    const [x, y] = [(place % perRow) * (width / perRow) + 4, top + Math.floor(place / perRow) * legendRow];
    return [
      `<rect class="${hueOf(at)}" x="${number(x)}" y="${y - 9}" width="12" height="12"/>`,
      text(x + 18, y + 1, fitted(part, charsIn(width / perRow - 22))),
    ];
  });
  return svg(frame, top + Math.ceil(named.length / perRow) * legendRow, title, [...marks, ...legend]);
}
