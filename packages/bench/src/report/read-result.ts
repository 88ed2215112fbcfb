import { parseResultFile, type ResultFile } from '../harness/result-file.ts';
import { sqlSamples } from '../suites/sqllogictest/samples.ts';
import { failureTables, scoreNotes } from '../suites/sqllogictest/text.ts';
import type { SqlScore } from '../sqllogictest/summary.ts';

/** What the first form of a score did not hold. */
const untold = { cpu: 'machine not told', cores: 0, memoryMiB: 0, platform: '-', node: '-', git: '-' };

/** Reads what any suite printed, older forms too; a string says why it cannot be told of. */
export function readResult(text: string): ResultFile | string {
  const score = firstScoreOf(text);
  if (score === undefined) return parseResultFile(text);
  const samples = sqlSamples(score);
  const { engine, engineVersion } = score;
  const versions = { [engine]: engineVersion };
  const more = { versions, samples, notes: scoreNotes(score), tables: failureTables(score) };
  return { suite: 'sqllogictest', formatVersion: 1, machine: untold, ...more };
}

/** Until result format 4 a score had a form of its own, version 1, without samples. */
function firstScoreOf(text: string): SqlScore | undefined {
  try {
    const value = JSON.parse(text) as Partial<SqlScore & ResultFile>;
    const isFirst = value.suite === 'sqllogictest' && value.formatVersion === 1;
    return isFirst && Array.isArray(value.categories) && Array.isArray(value.files) ? (value as SqlScore) : undefined;
  } catch {
    return undefined;
  }
}
