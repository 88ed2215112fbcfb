import { parseTest } from './parse.ts';
import { isSkipped } from './record.ts';

/** Records of a file that are run for a dialect, whatever an engine makes of them; for where none has run. */
export function attemptedIn(text: string, dialect: string): number {
  let count = 0;
  for (const { kind, conditions } of parseTest(text)) {
    if (isSkipped(conditions, dialect)) continue;
    if (kind === 'halt') break;
    if (kind !== 'hash-threshold') count++;
  }
  return count;
}
