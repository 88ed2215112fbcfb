import type { CheckReport } from './finding.ts';
import { dependencyNames, isListed } from './dependency-names.ts';
import type { LandedFile } from './landed-file.ts';
import { findingsOf, lineAt, type Hit, type TextRule } from './new-hits.ts';

const rule =
  'Names in manifests of npm, Cargo, Python and Go and in imports of JavaScript, TypeScript and extern crate that are not on the list; parts of the project itself are left out. Not seen: imports of other languages, code that was copied in';

export interface Allowed {
  /** undefined: none is judged. */
  readonly list: readonly string[] | undefined;
  /** Packages of the tree itself. */
  readonly own: ReadonlySet<string>;
}

export const dependencyRule =
  ({ list, own }: Allowed): TextRule =>
  (path, text) =>
    dependencyNames(path, text)
      .filter((name) => !own.has(name) && !isListed(name, list ?? []))
      .map((words): Hit => {
        const line = lineAt(text, Math.max(0, text.indexOf(words)));
        if (list === undefined) return { weight: 'note', what: 'dependency', words, line };
        return { weight: 'finding', what: 'dependency that is not on the list', words, line };
      });

/** Dependencies beyond what was allowed. */
export function dependenciesCheck(
  files: readonly LandedFile[],
  allowed: Allowed,
  now: (path: string) => string | undefined,
): CheckReport {
  const { list } = allowed;
  return {
    check: 'dependencies',
    rule,
    looked: `${files.length} changes of files, ${list === undefined ? 'no list' : `${list.length} names allowed`}`,
    skipped: list === undefined ? 'no list was given (--allow): dependencies are notes' : undefined,
    findings: findingsOf(dependencyRule(allowed), files, now),
  };
}
