import type { Chart } from './chart.ts';
import { escapedHtml, fitted, number, svg, text, width } from './svg-parts.ts';

const labelWidth = 170;
const headHeight = 46;
const cellHeight = 40;
const gap = 3;
const charWidth = 7;

/** A square of cells; the more, the darker. */
export function gridSvg({ title, rowTitle, columnTitle, columns, rows }: Chart & { kind: 'grid' }): string {
  const cellWidth = (width - labelWidth) / Math.max(1, columns.length);
  const charsMax = Math.max(3, Math.floor((cellWidth - gap) / charWidth));
  const values = rows.flatMap(({ cells }) => cells.flatMap(({ value }) => value ?? []));
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const shadeOf = (value: number): number => (high === low ? 0.4 : 0.1 + (0.6 * (value - low)) / (high - low));
  const heads = [
    text(0, 38, `${rowTitle} ↓`, ' class="tick"'),
    text(labelWidth, 12, `${columnTitle} →`, ' class="tick"'),
    ...columns.map((column, at) =>
      text(labelWidth + (at + 0.5) * cellWidth, 38, fitted(column, charsMax), ' text-anchor="middle" class="heading"'),
    ),
  ];
  const cells = rows.flatMap(({ label, cells: some }, row) => {
    const y = headHeight + row * cellHeight;
    return [
      text(labelWidth - 10, y + cellHeight / 2 + 4, fitted(label, 22), ' text-anchor="end" class="heading"'),
      ...some.flatMap(({ value, says }, column) => {
        const x = labelWidth + column * cellWidth;
        const hint = `<title>${escapedHtml(`${rowTitle} ${label}, ${columnTitle} ${columns[column] ?? ''}: ${says}`)}</title>`;
        const shade =
          value === undefined ? 'class="blank"' : `class="shade" fill-opacity="${shadeOf(value).toFixed(2)}"`;
        return [
          `<rect ${shade} x="${number(x)}" y="${number(y)}" width="${number(cellWidth - gap)}" height="${cellHeight - gap}" rx="3">${hint}</rect>`,
          text(x + (cellWidth - gap) / 2, y + cellHeight / 2 + 3, fitted(says, charsMax), ' text-anchor="middle"'),
        ];
      }),
    ];
  });
  return svg(headHeight + rows.length * cellHeight + 4, title, [...heads, ...cells]);
}
