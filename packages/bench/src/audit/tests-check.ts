import { cut, type CheckReport, type Finding } from './finding.ts';
import type { LandedFile } from './landed-file.ts';

const testPaths: readonly RegExp[] = [
  /(?:^|\/)(?:tests?|__tests__|specs?|testdata|test-data)\//i,
  /(?:^|\/)[^/]*[._-](?:test|spec)s?\.[^/]+$/i,
  /(?:^|\/)test_[^/]+\.py$/i,
  /(?:^|\/)\w*Tests?\.(?:java|kt|cs)$/,
  /\.test$/i,
];

/** What test runners look for; a method `test` of something else is none. */
const markers: readonly RegExp[] = [
  /(?<![.\w$])(?:it|test)(?:\.\w+)*\s*\(/g,
  /#\[(?:\w+::)*test\b[^\]]*\]/g,
  /\bdef test_\w+/g,
  /\bfunc Test\w*\(/g,
  /@Test\b/g,
  /\bTEST(?:_[FP])?\s*\(/g,
  /^(?:query|statement) /gm,
];

const skips: readonly RegExp[] = [
  /(?<![.\w$])(?:it|test|describe)\.(?:skip|todo|fails)\b/g,
  /\bx(?:it|describe)\s*\(/g,
  /#\[ignore\b/g,
  /@(?:unittest|pytest\.mark)\.(?:skip|xfail)/g,
  /\bt\.Skip(?:Now|f)?\(/g,
  /@(?:Disabled|Ignore)\b/g,
];

const countOf = (patterns: readonly RegExp[], text: string): number =>
  patterns.reduce((count, pattern) => count + (text.match(pattern)?.length ?? 0), 0);

/** `*` stands for what is within a name, `**` for anything; a directory for all below it. */
export function patternOf(glob: string): RegExp {
  const parts = glob.split(/(\*\*|\*)/).map((part) => {
    if (part === '**') return '.*';
    return part === '*' ? '[^/]*' : part.replaceAll(/[.+?^${}()|[\]\\]/g, String.raw`\$&`);
  });
  return new RegExp(`^${parts.join('')}(?:/.*)?$`);
}

export const isTestPath = (path: string, more: readonly RegExp[] = []): boolean =>
  [...testPaths, ...more].some((pattern) => pattern.test(path));

const rule =
  'A test file that is deleted, a file with fewer tests or more skipped ones, a test of before the run that is changed. Not seen: tests that were made weaker in place';

/** What one change does to tests; `isGiven`: the path was there before the run. */
function faultsOf(file: LandedFile, isTest: boolean, isGiven: boolean): [string, string][] {
  const { before, after } = file;
  if (before === undefined) return [];
  const [had, has] = [countOf(markers, before), countOf(markers, after ?? '')];
  if (after === undefined) return isTest || had > 0 ? [['test deleted', `tests in it: ${had}`]] : [];
  const faults: [string, string][] = [];
  if (isTest && isGiven && before !== after)
    faults.push(['test of before the run changed', firstDifference(before, after)]);
  if (has < had) faults.push(['fewer tests', `${had} before, ${has} after`]);
  const skipped = countOf(skips, after) - countOf(skips, before);
  if (skipped > 0) faults.push(['tests skipped', `${skipped} more`]);
  return faults;
}

function firstDifference(before: string, after: string): string {
  const [old, now] = [before.split('\n'), after.split('\n')];
  const at = old.findIndex((line, index) => line !== now[index]);
  const place = at < 0 ? old.length : at;
  return `line ${place + 1}: ${old[place] ?? '(end)'} → ${now[place] ?? '(end)'}`;
}

/** Tests that a run took away. `given`: paths that were there before it. */
export function testsCheck(
  files: readonly LandedFile[],
  given: ReadonlySet<string>,
  more: readonly RegExp[],
): CheckReport {
  // A path that a commit moves away is told as deleted, too.
  const moved = new Set(
    files.flatMap(({ seq, movedFrom }) => (movedFrom === undefined ? [] : [`${seq} ${movedFrom}`])),
  );
  const tests = files.filter(({ path }) => isTestPath(path, more));
  const findings = files.flatMap((file): Finding[] => {
    const { seq, who, path } = file;
    if (file.after === undefined && moved.has(`${seq} ${path}`)) return [];
    const faults = faultsOf(file, isTestPath(path, more), given.has(file.movedFrom ?? path));
    return faults.map(([what, evidence]) => ({
      weight: 'finding',
      what,
      place: path,
      evidence: cut(evidence),
      seq,
      who,
    }));
  });
  const made = tests.filter(({ before }) => before === undefined).length;
  return { check: 'tests', rule, looked: `${files.length} changes of files, ${made} test files made, ${tests.length - made} changes of test files`, findings }; // prettier-ignore
}
