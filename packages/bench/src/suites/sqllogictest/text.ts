import { formatNumber } from '../../harness/format-number.ts';
import type { CategoryScore, SqlScore } from '../../sqllogictest/summary.ts';

const failuresShownMax = 20;

const percent = (part: number, whole: number): string => (whole === 0 ? '-' : `${((part / whole) * 100).toFixed(3)} %`);
const share = (value: number): string => `${(value * 100).toFixed(1)} %`;

const columns = ['category', 'files', 'attempted', 'right', 'skipped', 'records/s', 'engine', 'comparing', 'reading'];

function row({ category, files, attempted, right, skipped, recordsPerThreadSecond, shareOf }: CategoryScore): string[] {
  const { engine, judge, read } = shareOf;
  const counts = [files, attempted, right, skipped, recordsPerThreadSecond].map(formatNumber);
  return [category, ...counts, share(engine), share(judge), share(read)];
}

/** The score, its categories and the first failures, for a person. */
export function scoreText(score: SqlScore): string {
  const rows = [columns, ...score.categories.map(row)];
  const widths = columns.map((_, at) => Math.max(...rows.map((cells) => cells[at]?.length ?? 0)));
  const lines = rows.map((cells) =>
    cells.map((cell, at) => (at === 0 ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0))).join('  '),
  );
  const failures = score.files.flatMap(({ path, failures: found }) =>
    found.map(({ line, outcome, reason }) => `${path}:${line}: ${outcome}: ${reason}`),
  );
  const { attempted, right, wrong, errors, crashed, timedOut, skipped, seconds, recordsPerSecond } = score;
  return [
    `${score.engineVersion}: ${percent(right, attempted)} of ${formatNumber(attempted)} records right`,
    `right ${right}, wrong ${wrong}, errors ${errors}, crashed ${crashed}, timed out ${timedOut}; skipped ${skipped}`,
    `${formatNumber(seconds)} s, ${formatNumber(recordsPerSecond)} records/s, ${score.workers} files at a time`,
    '',
    ...lines,
    ...(failures.length === 0 ? [] : ['', ...failures.slice(0, failuresShownMax)]),
    ...(failures.length > failuresShownMax ? [`… and ${failures.length - failuresShownMax} more in --json`] : []),
  ].join('\n');
}
