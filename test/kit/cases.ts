import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectDir } from './process.ts';

/** Inputs made after real users' reports; they stand beside the checkout and may be absent. */
export const casesDir = join(projectDir, '..', 'shared', 'cases');
export const hasCases = existsSync(casesDir);
if (!hasCases) console.warn(`tests of recorded cases are skipped: ${casesDir} is not there`);

export const caseText = (...path: string[]): string => readFileSync(join(casesDir, ...path), 'utf8');
// oxlint-disable-next-line no-unnecessary-type-parameters -- the caller says what the file holds
export const caseJson = <T>(...path: string[]): T => JSON.parse(caseText(...path)) as T;
