import type { SqlScore } from './summary.ts';

/** Records that stock SQLite does not get right, though nothing is wrong with it: the version decides. */
interface Exception {
  readonly version: string;
  /** End of the file's path. */
  readonly file: string;
  readonly lines: readonly number[];
  readonly why: string;
}

/** The guide on the bench tells of them; what is wrong beyond them is the runner's fault, or a find. */
export const sqliteExceptions: readonly Exception[] = [
  {
    version: '3.40.1',
    file: 'evidence/slt_lang_aggfunc.test',
    lines: [487, 499],
    why: 'a rule of rounding, as the suite’s own runner found',
  },
];

const isException = (version: string, path: string, line: number): boolean =>
  sqliteExceptions.some((one) => version.endsWith(one.version) && path.endsWith(one.file) && one.lines.includes(line));

/** Stock SQLite is the control row: nothing but the listed records may fail. undefined for other engines. */
export function exceptionsNote(score: SqlScore): string | undefined {
  if (score.engine !== 'sqlite' || score.dialect !== 'sqlite') return undefined;
  const { attempted, wrong, errors, crashed, timedOut, files, engineVersion } = score;
  if (attempted === 0) return 'control row: SQLite was asked nothing, so that nothing is shown';
  const listed = files.flatMap(({ path, failures }) => failures.filter(({ line }) => isException(engineVersion, path, line))); // prettier-ignore
  const more = wrong + errors + crashed + timedOut - listed.length;
  if (more === 0) return `control row: SQLite fails nothing but the ${listed.length} records that are listed for its version`; // prettier-ignore
  const places = files.flatMap(({ path, failures }) => failures.flatMap(({ line }) => (isException(engineVersion, path, line) ? [] : [`${path}:${line}`]))); // prettier-ignore
  return `FAULT: SQLite fails ${more} records that are on no list, ${places.slice(0, 3).join(', ')}: the tests, the runner or SQLite is wrong`;
}
