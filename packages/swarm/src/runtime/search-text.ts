import { createContext, Script, type Context } from 'node:vm';
import type { SearchAnswer, SearchHit, SearchRequest, Refusal } from '../tools/operations.ts';
import { refused } from '../tools/operations.ts';

/** A file as the search sees it: its bytes are read only when it is its turn. */
export interface Searched {
  readonly path: string;
  readonly size: number;
  bytes(): Buffer | undefined;
}

/** Larger files are not looked into. */
const fileBytesMax = 4 * 1024 * 1024;
/** Other agents get a turn in between. */
const sliceMs = 8;
const regexMsMax = 250;
const lineCharsMax = 300;

/**
 * Looks for text, or a regular expression within one line, in files as they
 * stand in a snapshot: nothing has to be written to disk first. An expression
 * that takes too long is stopped, and said to.
 */
export async function searchText(files: Iterable<Searched>, request: SearchRequest): Promise<SearchAnswer | Refusal> {
  const { pattern, regex, ignoreCase, hitsMax } = request;
  if (pattern === '') return refused('nothing was searched: the pattern is empty.');
  const source = regex ? pattern : pattern.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
  let expression: RegExp;
  try {
    expression = new RegExp(source, `gm${ignoreCase ? 'i' : ''}`);
  } catch (error) {
    return refused(`nothing was searched: ${error instanceof Error ? error.message : String(error)}.`);
  }
  const isPlain = !regex && !ignoreCase;
  const needle = Buffer.from(pattern);
  const room = createContext({ expression, text: '', max: 0, matchAll });
  const hits: SearchHit[] = [];
  let count = 0;
  let sliceStart = performance.now();
  for (const file of files) {
    if (performance.now() - sliceStart > sliceMs) {
      await new Promise((resolve) => setImmediate(resolve));
      sliceStart = performance.now();
    }
    if (file.size > fileBytesMax) continue;
    count += 1;
    const bytes = file.bytes();
    if (bytes === undefined || (isPlain && !bytes.includes(needle)) || bytes.includes(0)) continue;
    const text = bytes.toString('utf8');
    const max = hitsMax + 1 - hits.length;
    // A plain text cannot run away.
    const offsets = isPlain ? matchAll(expression, text, max) : boundedMatches(room, text, max);
    if (offsets === undefined) {
      return refused(`the search was stopped at ${file.path}: the expression takes too long there. Use a simpler one.`);
    }
    addHits(hits, file.path, text, offsets);
    if (hits.length > hitsMax) return { kind: 'found', hits: hits.slice(0, hitsMax), isCut: true, files: count };
  }
  return { kind: 'found', hits, isCut: false, files: count };
}

const matching = new Script('matchAll(expression, text, max)');

/** Where it matches; undefined where that takes too long. */
function boundedMatches(room: Context, text: string, max: number): number[] | undefined {
  Object.assign(room, { text, max });
  try {
    return [...(matching.runInContext(room, { timeout: regexMsMax }) as number[])];
  } catch {
    return undefined;
  }
}

function matchAll(expression: RegExp, text: string, max: number): number[] {
  const offsets: number[] = [];
  let lineEnd = -1;
  expression.lastIndex = 0;
  for (let match = expression.exec(text); match !== null && offsets.length < max; match = expression.exec(text)) {
    // One hit a line is enough.
    if (match.index > lineEnd) {
      offsets.push(match.index);
      const end = text.indexOf('\n', match.index);
      lineEnd = end < 0 ? text.length : end;
    }
    if (match[0] === '') expression.lastIndex += 1;
  }
  return offsets;
}

function addHits(hits: SearchHit[], path: string, text: string, offsets: readonly number[]): void {
  let line = 1;
  let counted = 0;
  for (const offset of offsets) {
    for (let at = text.indexOf('\n', counted); at >= 0 && at < offset; at = text.indexOf('\n', counted)) {
      line += 1;
      counted = at + 1;
    }
    const start = text.lastIndexOf('\n', offset - 1) + 1;
    const end = text.indexOf('\n', offset);
    const whole = text.slice(offset === 0 ? 0 : start, end < 0 ? undefined : end);
    hits.push({ path, line, text: whole.length > lineCharsMax ? `${whole.slice(0, lineCharsMax)}…` : whole });
  }
}
