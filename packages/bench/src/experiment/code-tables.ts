import type { EvidenceTable } from '../harness/result-file.ts';
import type { Finished } from './figures.ts';

const shownMax = 200;

/** Where the lines stand, and what is used that must not be. Of scripts nothing is said: they are given what to write. */
export function codeTables(finished: readonly Finished[]): EvidenceTable[] {
  const judged = finished.filter(({ cell }) => cell.minds !== 'scripted').map(({ result }) => result);
  const files = judged.flatMap(({ cell, size }) => size.largest.map(({ path, lines }) => [cell, path, String(lines)]));
  const uses = judged.flatMap(({ cell, violations }) => violations.map(({ path, dependency }) => [cell, path, dependency])); // prettier-ignore
  return [
    ...(files.length === 0 ? [] : [{ title: 'The longest files', caption: 'Of the tree in the end; ↓ less is better for whoever has to read them', headers: ['run', 'file', 'lines'], rows: files.slice(0, shownMax) }]),
    ...(uses.length === 0 ? [] : [{ title: 'Dependencies that are not on the list', caption: 'By the file that uses them', headers: ['run', 'file', 'dependency'], rows: uses.slice(0, shownMax) }]),
  ]; // prettier-ignore
}
