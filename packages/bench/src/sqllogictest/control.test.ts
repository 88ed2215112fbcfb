import { expect, test } from 'vitest';

import { controlOfScoring } from './control.ts';
import { exceptionsNote } from './exceptions.ts';
import type { SqlScore } from './summary.ts';

test('an engine that lies, refuses and stands still comes out as that', async () => {
  expect(await controlOfScoring()).toEqual({
    shows: true,
    says: 'control: an engine that lies in 2 of 12 answers, refuses 2 and stands still for 40 ms shows as that',
  });
});

const scoreOf = (engineVersion: string, lines: readonly number[], more: Partial<SqlScore> = {}): SqlScore => {
  const counts = { attempted: 100, right: 100 - lines.length, wrong: lines.length, errors: 0, crashed: 0, timedOut: 0, skipped: 0 }; // prettier-ignore
  const failures = lines.map((line) => ({ line, outcome: 'wrong' as const, reason: '' }));
  const file = { path: 'test/evidence/slt_lang_aggfunc.test', ...counts, seconds: 1, secondsOf: { read: 0, engine: 0, judge: 0 }, failures }; // prettier-ignore
  return { engine: 'sqlite', engineVersion, dialect: 'sqlite', workers: 1, recordSecondsMax: 30, ...counts, seconds: 1, recordsPerSecond: 100, categories: [], files: [file], ...more }; // prettier-ignore
};

test('stock SQLite may fail what is listed for its version, and nothing else', () => {
  expect(exceptionsNote(scoreOf('sqlite 3.53.4', []))).toMatch(/nothing but the 0 records/);
  expect(exceptionsNote(scoreOf('sqlite 3.40.1', [487, 499]))).toMatch(/nothing but the 2 records/);
  expect(exceptionsNote(scoreOf('sqlite 3.40.1', [487, 500]))).toMatch(
    /^FAULT: SQLite fails 1 records .*aggfunc.test:500/,
  );
  expect(exceptionsNote(scoreOf('sqlite 3.53.4', [487]))).toMatch(/^FAULT: SQLite fails 1 records/);
  expect(exceptionsNote(scoreOf('sqlite 3.53.4', [], { attempted: 0, right: 0 }))).toMatch(/asked nothing/);
  // Of others nothing is known.
  expect(exceptionsNote(scoreOf('duckdb v1', [487], { engine: 'duckdb' }))).toBe(undefined);
  expect(exceptionsNote(scoreOf('sqlite 3.53.4', [487], { dialect: 'mysql' }))).toBe(undefined);
});
