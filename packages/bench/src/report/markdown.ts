import type { ResultFile } from '../harness/result-file.ts';
import { commonWorkload, evidenceTables, figuresTables, machineLine, ratiosTable, type Table } from './table.ts';

/** What stands in a result file is somebody's text: it must not become markup. */
const escaped = (text: string): string => text.replace(/[\\`*_{}[\]<>|#!]/g, '\\$&').replaceAll(/\s+/g, ' ');

const line = (cells: readonly string[]): string => `| ${cells.map(escaped).join(' | ')} |`;

function renderTable({ caption, headers, isNumber, rows }: Table): string {
  const rule = `|${headers.map((_, at) => (isNumber[at] === true ? ' ---: ' : ' --- ')).join('|')}|`;
  return [...(caption === '' ? [] : [escaped(caption), '']), line(headers), rule, ...rows.map(line)].join('\n');
}

/** A result as a section of a page. */
export function markdownReport(result: ResultFile): string {
  const ratios = ratiosTable(result);
  return [
    `## ${escaped(result.suite)}`,
    '',
    escaped(commonWorkload(result)),
    '',
    escaped(machineLine(result)),
    '',
    ...[...figuresTables(result), ...(ratios === undefined ? [] : [ratios])].flatMap((table) => [
      renderTable(table),
      '',
    ]),
    ...evidenceTables(result).flatMap(({ title, ...table }) => [`### ${escaped(title)}`, '', renderTable(table), '']),
    ...result.notes.map((note) => `- ${escaped(note)}`),
    '',
  ].join('\n');
}
