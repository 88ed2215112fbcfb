import type { ResultFile } from '../harness/result-file.ts';
import { commonWorkload, evidenceTables, figuresTables, machineLine, ratiosTable, type Table } from './table.ts';

function renderTable({ caption, headers, isNumber, rows }: Table): string {
  const widths = headers.map((header, at) => Math.max(header.length, ...rows.map((row) => (row[at] ?? '').length)));
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, at) => (isNumber[at] === true ? cell.padStart(widths[at] ?? 0) : cell.padEnd(widths[at] ?? 0)))
      .join('  ')
      .trimEnd();
  return [...(caption === '' ? [] : [caption]), line(headers), ...rows.map(line)].join('\n');
}

/** A result for a person at a terminal. */
export function textReport(result: ResultFile): string {
  const ratios = ratiosTable(result);
  return [
    `${result.suite}: ${commonWorkload(result)}`,
    machineLine(result),
    '',
    ...[...figuresTables(result), ...(ratios === undefined ? [] : [ratios])].flatMap((table) => [
      renderTable(table),
      '',
    ]),
    ...evidenceTables(result).flatMap(({ title, ...table }) => [title, renderTable(table), '']),
    ...result.notes.map((note) => `- ${note}`),
    '',
  ].join('\n');
}
