import type { Chart } from './chart.ts';
import { charsIn, escapedHtml, fitted, number, svg, text, type Frame } from './svg-parts.ts';

const lineHeight = 14;
const gap = 3;
/** Of a letter of a heading, on average. */
const boldWidth = 7.8;

/** Words over two lines, each as long as it may be. */
function wrapped(words: string, charsMax: number): [string, string] {
  if (words.length <= charsMax) return ['', words];
  const at = Math.max(words.lastIndexOf(' ', charsMax), words.lastIndexOf('/', charsMax));
  const cut = at > 0 ? at : charsMax;
  return [words.slice(0, cut).trim(), fitted(words.slice(cut).trim(), charsMax)];
}

/** Of a small heading's letters, on average. */
const smallWidth = 5.8;

/** Words that would be a little too wide are drawn narrower. */
const squeezed = (words: string, room: number): string =>
  words.length * smallWidth > room ? ` textLength="${number(room)}" lengthAdjust="spacingAndGlyphs"` : '';

/** A square of cells; the more, the darker. In a narrow window a row's name stands over its cells. */
export function gridSvg(
  { title, rowTitle, columnTitle, columns, rows }: Chart & { kind: 'grid' },
  frame: Frame,
): string {
  const { width, isNarrow } = frame;
  const longest = Math.max(rowTitle.length + 2, ...rows.map(({ label }) => label.length));
  const left = isNarrow ? 0 : Math.min(240, Math.max(90, longest * boldWidth + 14));
  const cellTop = isNarrow ? 18 : 0;
  const cellHeight = isNarrow ? 30 : 36;
  const rowHeight = cellTop + cellHeight;
  const headHeight = 20 + 2 * lineHeight + 8;
  const cellWidth = (width - left) / Math.max(1, columns.length);
  const charsMax = Math.max(3, charsIn(cellWidth - gap));
  const headCharsMax = isNarrow ? Math.max(3, Math.floor(cellWidth / 5.6)) : charsMax;
  const values = rows.flatMap(({ cells }) => cells.flatMap(({ value }) => value ?? []));
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const shadeOf = (value: number): number => (high === low ? 0.3 : 0.06 + (0.6 * (value - low)) / (high - low));
  const heads = [
    text(isNarrow ? width : 0, isNarrow ? 12 : headHeight - 8, `${rowTitle} ↓`, isNarrow ? ' class="tick" text-anchor="end"' : ' class="tick"'),
    text(left, 12, `${columnTitle} →`, ' class="tick"'),
    ...columns.flatMap((column, at) =>
      wrapped(column, headCharsMax).map((words, lineAt) =>
        text(left + at * cellWidth + (cellWidth - gap) / 2, 20 + lineHeight * (lineAt + 1), words, ` text-anchor="middle" class="heading${isNarrow ? ' small' : ''}"${isNarrow ? squeezed(words, cellWidth - 2) : ''}`),
      ),
    ),
  ]; // prettier-ignore
  const cells = rows.flatMap(({ label, cells: some }, row) => {
    const top = headHeight + row * rowHeight;
    const y = top + cellTop;
    const name = isNarrow
      ? text(0, top + 13, fitted(label, charsIn(width)), ' class="heading"')
      : text(
          left - 10,
          y + cellHeight / 2 + 4,
          fitted(label, Math.floor((left - 12) / boldWidth)),
          ' text-anchor="end" class="heading"',
        );
    return [
      name,
      ...some.flatMap(({ value, says }, column) => {
        const x = left + column * cellWidth;
        const hint = `<title>${escapedHtml(`${rowTitle} ${label}, ${columnTitle} ${columns[column] ?? ''}: ${says}`)}</title>`;
        const shade = value === undefined ? 'class="blank"' : `class="shade" fill-opacity="${shadeOf(value).toFixed(2)}"`; // prettier-ignore
        return [
          `<rect ${shade} x="${number(x)}" y="${number(y)}" width="${number(cellWidth - gap)}" height="${cellHeight - gap}" rx="3">${hint}</rect>`,
          text(x + (cellWidth - gap) / 2, y + cellHeight / 2 + 3, fitted(says, charsMax), ' text-anchor="middle"'),
        ];
      }),
    ];
  });
  return svg(frame, headHeight + rows.length * rowHeight + 4, title, [...heads, ...cells]);
}
