import type { Replacement } from './operations.ts';

/** The text after all replacements, or what stands in the way of the first that cannot be made. */
export type EditAnswer =
  { readonly kind: 'text'; readonly text: string } | { readonly kind: 'refused'; readonly says: string };

/**
 * Replaces each `search` by its `replace`, in order, each in the result of the
 * one before. A search text has to stand there exactly once: nothing is ever
 * applied by similarity.
 */
export function replaceExact(text: string, edits: readonly Replacement[]): EditAnswer {
  let result = text;
  for (const [at, { search, replace }] of edits.entries()) {
    const which = edits.length === 1 ? 'the search text' : `the search text of edit ${at + 1}`;
    if (search === '') return { kind: 'refused', says: `${which} is empty; use write for a whole file` };
    const first = result.indexOf(search);
    if (first < 0) return { kind: 'refused', says: `${which} does not stand there. ${nearest(result, search)}` };
    const second = result.indexOf(search, first + 1);
    if (second >= 0) {
      const lines = [first, second].map((offset) => lineAt(result, offset)).join(' and ');
      return { kind: 'refused', says: `${which} stands at lines ${lines}; give more of the text around it` };
    }
    result = result.slice(0, first) + replace + result.slice(first + search.length);
  }
  return { kind: 'text', text: result };
}

const lineAt = (text: string, offset: number): number => text.slice(0, offset).split('\n').length;

/** Lines looked at, and lines shown. */
const candidatesMax = 20_000;
const shownMax = 12;

/** The region most like the search text, by equal lines, and its first line that differs. */
function nearest(text: string, search: string): string {
  const lines = text.split('\n');
  const wanted = search.replace(/\n$/, '').split('\n');
  let best = { at: 0, score: -1 };
  for (let at = 0; at < Math.min(lines.length, candidatesMax); at++) {
    const score = scoreAt(lines, wanted, at);
    if (score > best.score) best = { at, score };
  }
  if (best.score <= 0) return 'No line of it is in the file: read it again.';
  const region = lines.slice(best.at, best.at + Math.min(wanted.length, shownMax));
  const differs = wanted.findIndex((line, at) => lines[best.at + at] !== line);
  const where = best.at + Math.max(0, differs) + 1;
  const found = lines[where - 1];
  const says = `The nearest region begins at line ${best.at + 1}; it differs first at line ${where}`;
  const pair = `there ${JSON.stringify(found ?? '(end of file)')}, searched ${JSON.stringify(wanted[Math.max(0, differs)])}`;
  return `${says}: ${pair}. It reads:\n${region.join('\n')}`;
}

/** Two for each equal line, one for each that is equal but for its blanks. */
function scoreAt(lines: readonly string[], wanted: readonly string[], at: number): number {
  let score = 0;
  for (const [offset, line] of wanted.entries()) {
    const found = lines[at + offset];
    if (found === undefined) break;
    if (found === line && line.trim() !== '') score += 2;
    else if (found.trim() === line.trim() && line.trim() !== '') score += 1;
  }
  return score;
}
