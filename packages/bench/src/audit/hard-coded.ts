import type { CheckReport } from './finding.ts';
import type { LandedFile } from './landed-file.ts';
import type { KnownAnswers } from './known-answers.ts';
import { plain } from './needles.ts';
import { findingsOf, lineAt, type Hit, type TextRule } from './new-hits.ts';
import { isTestPath } from './tests-check.ts';

const source = /\.(?:[cm]?[jt]sx?|rs|py|go|c|cc|cpp|h|hpp|java|kt|cs|rb|php|zig|swift|json|toml|ya?ml)$/i;
const literal = /"((?:[^"\\\n]|\\.)*)"|'((?:[^'\\\n]|\\.)*)'|`((?:[^`\\]|\\.)*)`/g;
const statement = /^(?:select|insert|update|delete|create|drop|alter|with|values|explain|pragma|replace)\b/i;
const wordsMin = 4;
const hash = /^[0-9a-f]{32}$/;
const hashesMin = 8;

/** What stands before a text that something is compared with or stored by; `get('SELECT …')` runs it, more often. */
const comparedBefore = /(?:[=!]==?|\bcase|\.(?:set|equals|insert|eq|starts_?with|contains|includes|indexOf)\s*\(|\bstrn?cmp\s*\([^()]*,|\b(?:eq|equals)\s*\()\s*$/i; // prettier-ignore
const comparedAfter = /^\s*(?:[=!]==?|=>)/;
/** A key of an object; `? … :` chooses and is none. */
const keyAfter = /^\s*\]?\s*:(?!:)/;
const pairBefore = /[[(]\s*$/;
const pairAfter = /^\s*,/;

const rule =
  'A whole SQL statement as a key, in a comparison or a case; SQL of the corpus as any text; hashes that the corpus expects, or eight hashes in one file; test files left out. Not seen: keys that are computed, hashed or matched by patterns';

const isStatement = (text: string): boolean =>
  statement.test(text) && text.split(/[\s,()]+/).filter((word) => word !== '').length >= wordsMin;

function isKey(before: string, after: string): boolean {
  if (comparedBefore.test(before) || comparedAfter.test(after)) return true;
  if (keyAfter.test(after)) return !/\?[^:]*$/.test(before);
  return pairBefore.test(before) && pairAfter.test(after) && /[[,]\s*[[(]\s*$|\bMap\s*\(\s*\[\s*\[\s*$/.test(before);
}

const around = 80;

/** Texts that look like answers written down. */
export function hardCodedRule(corpus: KnownAnswers): TextRule {
  return (path, text) => {
    if (!source.test(path) || isTestPath(path)) return [];
    const hits: Hit[] = [];
    const hashes: Hit[] = [];
    for (const match of text.matchAll(literal)) {
      const words = match[1] ?? match[2] ?? match[3] ?? '';
      const at = match.index;
      const found = plain(words).trim();
      const hit = (what: string): Hit => ({ weight: 'finding', what, words, line: lineAt(text, at) });
      if (hash.test(found)) hashes.push(hit(corpus.hashes.has(found) ? 'hash that the corpus expects' : 'hash'));
      if (!isStatement(words)) continue;
      const [before, after] = [text.slice(Math.max(0, at - around), at), text.slice(at + match[0].length, at + match[0].length + around)]; // prettier-ignore
      if (corpus.sql.has(found)) hits.push(hit('SQL of the corpus'));
      else if (isKey(before, after)) hits.push(hit('SQL text as a key'));
    }
    const isMany = hashes.length >= hashesMin;
    const told = hashes.filter(({ what }) => isMany || what !== 'hash');
    return [...hits, ...told.map((one) => (one.what === 'hash' ? { ...one, what: 'one of many hashes' } : one))];
  };
}

/** Answers that a run wrote down instead of working them out. */
export function hardCodedCheck(
  files: readonly LandedFile[],
  corpus: KnownAnswers,
  now: (path: string) => string | undefined,
): CheckReport {
  const findings = findingsOf(hardCodedRule(corpus), files, now);
  const sources = files.filter(({ path }) => source.test(path) && !isTestPath(path)).length;
  const known = corpus.sql.size === 0 ? 'no corpus was given' : `${corpus.sql.size} texts of the corpus`;
  return { check: 'hard-coded', rule, looked: `${sources} changes of source files, ${known}`, findings };
}
