import { formatNumber, percentText } from '../../harness/format-number.ts';
import type { EvidenceTable } from '../../harness/result-file.ts';
import type { CategoryScore, SqlScore } from '../../sqllogictest/summary.ts';

const failuresShownMax = 20;
const tableRowsMax = 200;

const percent = (part: number, whole: number): string => (whole === 0 ? '-' : percentText(part / whole, 3));
const share = (value: number): string => `${(value * 100).toFixed(1)} %`;

const columns = ['category', 'files', 'attempted', 'right', 'skipped', 'records/s', 'engine', 'comparing', 'reading'];

function row({ category, files, attempted, right, skipped, recordsPerThreadSecond, shareOf }: CategoryScore): string[] {
  const { engine, judge, read } = shareOf;
  const counts = [files, attempted, right, skipped, recordsPerThreadSecond].map(formatNumber);
  return [category, ...counts, share(engine), share(judge), share(read)];
}

const headLine = ({ engineVersion, right, attempted }: SqlScore): string =>
  `${engineVersion}: ${percent(right, attempted)} of ${formatNumber(attempted)} records right`;

/** What the score says of itself, a line each. */
export function scoreNotes(score: SqlScore): string[] {
  const { wrong, errors, crashed, timedOut, skipped, dialect, files, filesKept = 0 } = score;
  const told = files.reduce((count, { failures }) => count + failures.length, 0);
  const all = wrong + errors + crashed + timedOut;
  return [
    headLine(score),
    `wrong ${formatNumber(wrong)}, errors ${formatNumber(errors)}, crashed ${formatNumber(crashed)}, timed out ${formatNumber(timedOut)}; ${formatNumber(skipped)} skipped, which are not for ${dialect}`,
    ...(filesKept === 0
      ? []
      : [`${formatNumber(filesKept)} of ${formatNumber(files.length)} files were taken from the journal, with the times of then; seconds and records/s of the whole are of the others`]), // prettier-ignore
    ...(all > told ? [`${formatNumber(all - told)} more failures are counted and not listed`] : []),
  ];
}

/** The first failures, with what the engine did. */
export function failureTables({ files }: SqlScore): EvidenceTable[] {
  const rows = files.flatMap(({ path, failures }) =>
    failures.map(({ line, outcome, reason }) => [`${path}:${line}`, outcome, reason]),
  );
  if (rows.length === 0) return [];
  const caption =
    rows.length <= tableRowsMax ? 'By file and line' : `The first ${tableRowsMax} of ${formatNumber(rows.length)}`;
  return [{ title: 'What did not come out right', caption, headers: ['record', 'outcome', 'why'], rows: rows.slice(0, tableRowsMax) }]; // prettier-ignore
}

/** The score, its categories and the first failures, for a person. */
export function scoreText(score: SqlScore, notes: readonly string[]): string {
  const rows = [columns, ...score.categories.map(row)];
  const widths = columns.map((_, at) => Math.max(...rows.map((cells) => cells[at]?.length ?? 0)));
  const lines = rows.map((cells) =>
    cells.map((cell, at) => (at === 0 ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0))).join('  '),
  );
  const failures = score.files.flatMap(({ path, failures: found }) =>
    found.map(({ line, outcome, reason }) => `${path}:${line}: ${outcome}: ${reason}`),
  );
  const { right, wrong, errors, crashed, timedOut, skipped, seconds, recordsPerSecond } = score;
  return [
    headLine(score),
    `right ${right}, wrong ${wrong}, errors ${errors}, crashed ${crashed}, timed out ${timedOut}; skipped ${skipped}`,
    score.filesKept === score.files.length
      ? 'nothing was run now: the journal held all files'
      : `${formatNumber(seconds)} s, ${formatNumber(recordsPerSecond)} records/s, ${score.workers} files at a time`,
    '',
    ...lines,
    ...(failures.length === 0 ? [] : ['', ...failures.slice(0, failuresShownMax)]),
    ...(failures.length > failuresShownMax ? [`… and ${failures.length - failuresShownMax} more in --json`] : []),
    '',
    ...notes.map((note) => `- ${note}`),
  ].join('\n');
}
