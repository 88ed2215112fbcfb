import type { ResultFile } from '../harness/result-file.ts';
import { commonWorkload, figuresTable, machineLine, ratiosTable, type Table } from './table.ts';

function renderTable({ headers, isNumber, rows }: Table): string {
  const widths = headers.map((header, at) => Math.max(header.length, ...rows.map((row) => (row[at] ?? '').length)));
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, at) => (isNumber[at] === true ? cell.padStart(widths[at] ?? 0) : cell.padEnd(widths[at] ?? 0)))
      .join('  ')
      .trimEnd();
  return [line(headers), ...rows.map(line)].join('\n');
}

/** A result for a person at a terminal. */
export function textReport(result: ResultFile): string {
  const ratios = ratiosTable(result);
  return [
    `${result.suite}: ${commonWorkload(result)}`,
    machineLine(result),
    '',
    renderTable(figuresTable(result)),
    ...(ratios === undefined ? [] : ['', renderTable(ratios)]),
    '',
    ...result.notes.map((note) => `- ${note}`),
    '',
  ].join('\n');
}
