import { parseTest } from './parse.ts';
import { endsFile, isSkipped } from './record.ts';

/** Records of a file that are run for a dialect, whatever an engine makes of them; for where none has run. */
export function attemptedIn(text: string, dialect: string): number {
  let count = 0;
  for (const record of parseTest(text)) {
    if (isSkipped(record.conditions, dialect)) continue;
    if (record.kind !== 'hash-threshold' && record.kind !== 'halt') count++;
    if (endsFile(record)) break;
  }
  return count;
}
