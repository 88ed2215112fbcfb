import { replaceExact } from './edit-text.ts';

/** One file of a patch. */
export type PatchPart =
  | { readonly kind: 'add'; readonly path: string; readonly text: string }
  | { readonly kind: 'delete'; readonly path: string }
  | {
      readonly kind: 'update';
      readonly path: string;
      readonly moveTo: string | undefined;
      readonly chunks: readonly PatchChunk[];
    };

/** Lines to find, and what stands there afterwards. */
export interface PatchChunk {
  /** A line that has to come before, where the patch names one. */
  readonly anchor: string | undefined;
  readonly before: readonly string[];
  readonly after: readonly string[];
}

type Parsed =
  | { readonly kind: 'patch'; readonly parts: readonly PatchPart[] }
  | { readonly kind: 'refused'; readonly says: string };

const refuse = (line: number, says: string): Parsed => ({
  kind: 'refused',
  says: `line ${line} of the patch: ${says}`,
});

/**
 * Reads the patch format that models write: `*** Begin Patch`, then for each
 * file `*** Add File: P` with `+` lines, `*** Delete File: P`, or `*** Update
 * File: P` (and `*** Move to: P`) with chunks of ` `, `-` and `+` lines, each
 * behind an `@@` line that may name a line before it, then `*** End Patch`.
 */
export function parsePatch(text: string): Parsed {
  const lines = text.replace(/\r\n/g, '\n').split('\n');
  let at = lines.findIndex((line) => line.trim() === '*** Begin Patch') + 1;
  if (at === 0) return { kind: 'refused', says: 'the patch does not begin with *** Begin Patch' };
  const parts: PatchPart[] = [];
  for (;;) {
    const line = lines[at];
    if (line === undefined) return { kind: 'refused', says: 'the patch ends without *** End Patch' };
    if (line.trim() === '*** End Patch') break;
    const head = /^\*\*\* (Add|Delete|Update) File: (.+)$/.exec(line.trimEnd());
    if (head === null) {
      if (line.trim() === '') {
        at += 1;
        continue;
      }
      return refuse(at + 1, 'expected *** Add File, *** Delete File, *** Update File or *** End Patch');
    }
    const [, verb, path = ''] = head;
    at += 1;
    const body: string[] = [];
    for (; at < lines.length && !/^\*\*\* (Add|Delete|Update|End)\b/.test(lines[at] ?? ''); at++)
      body.push(lines[at] ?? '');
    if (verb === 'Delete') parts.push({ kind: 'delete', path });
    else if (verb === 'Add') {
      const stray = body.findIndex((added) => !added.startsWith('+') && added !== '');
      if (stray >= 0) return refuse(at - body.length + stray + 1, 'a line of a new file begins with +');
      const added = body.filter((row) => row.startsWith('+')).map((row) => row.slice(1));
      parts.push({ kind: 'add', path, text: added.map((row) => `${row}\n`).join('') });
    } else {
      const update = parseUpdate(path, body, at - body.length);
      if (update.kind === 'refused') return update;
      parts.push(update);
    }
  }
  if (parts.length === 0) return { kind: 'refused', says: 'the patch changes no file' };
  return { kind: 'patch', parts };
}

function parseUpdate(
  path: string,
  body: readonly string[],
  firstLine: number,
): PatchPart | Extract<Parsed, { kind: 'refused' }> {
  let moveTo: string | undefined;
  const chunks: PatchChunk[] = [];
  let open: { anchor: string | undefined; before: string[]; after: string[] } | undefined;
  for (const [at, line] of body.entries()) {
    const move = /^\*\*\* Move to: (.+)$/.exec(line.trimEnd());
    if (move !== null) {
      moveTo = move[1];
      continue;
    }
    if (line.trim() === '*** End of File') continue;
    if (line.startsWith('@@')) {
      const anchor = line
        .slice(2)
        .replace(/@@\s*$/, '')
        .trim();
      open = { anchor: anchor === '' || /^-\d+/.test(anchor) ? undefined : anchor, before: [], after: [] };
      chunks.push(open);
      continue;
    }
    // What is between chunks is only spacing.
    if (line === '' && (open === undefined || at === body.length - 1)) continue;
    if (open === undefined) {
      open = { anchor: undefined, before: [], after: [] };
      chunks.push(open);
    }
    const [sign, rest] = [line[0] ?? ' ', line.slice(1)];
    if (sign === ' ' || line === '') {
      open.before.push(rest);
      open.after.push(rest);
    } else if (sign === '-') open.before.push(rest);
    else if (sign === '+') open.after.push(rest);
    else {
      const says = `line ${firstLine + at + 1} of the patch: a line of a chunk begins with a blank, - or +`;
      return { kind: 'refused', says };
    }
  }
  if (chunks.length === 0 && moveTo === undefined)
    return { kind: 'refused', says: `the patch updates ${path} with nothing` };
  return { kind: 'update', path, moveTo, chunks };
}

/** The text after all chunks; each has to be found exactly once behind its anchor. */
export function applyChunks(text: string, chunks: readonly PatchChunk[]): ReturnType<typeof replaceExact> {
  let result = text;
  const endsOpen = text !== '' && !text.endsWith('\n');
  if (endsOpen) result += '\n';
  for (const [at, { anchor, before, after }] of chunks.entries()) {
    const from = anchor === undefined ? 0 : anchorEnd(result, anchor);
    if (from < 0)
      return { kind: 'refused', says: `chunk ${at + 1}: the line ${JSON.stringify(anchor)} does not stand there` };
    const [old, fresh] = [before, after].map((lines) => lines.map((line) => `${line}\n`).join('')) as [string, string];
    if (old === '') {
      const place = anchor === undefined ? result.length : from;
      result = result.slice(0, place) + fresh + result.slice(place);
      continue;
    }
    const answer = replaceLines(result, from, old, fresh);
    if (answer.kind === 'refused') return { kind: 'refused', says: `chunk ${at + 1}: ${answer.says}` };
    result = answer.text;
  }
  return { kind: 'text', text: endsOpen ? result.replace(/\n$/, '') : result };
}

/** Whole lines only: a chunk never begins inside a line. */
function replaceLines(text: string, from: number, old: string, fresh: string): ReturnType<typeof replaceExact> {
  const [head, tail] = [text.slice(0, from), text.slice(from)];
  const answer = replaceExact(`\n${tail}`, [{ search: `\n${old}`, replace: `\n${fresh}` }]);
  if (answer.kind === 'text') return { kind: 'text', text: head + answer.text.slice(1) };
  // Once more, for line numbers without the line break in front.
  const told = replaceExact(tail, [{ search: old, replace: fresh }]);
  const where = from === 0 ? '' : ' (lines counted from behind the @@ line)';
  return { kind: 'refused', says: `${told.kind === 'refused' ? told.says : 'it does not begin at a line'}${where}` };
}

/** Behind the first line that is, or contains, the anchor; -1 where none does. */
function anchorEnd(text: string, anchor: string): number {
  let offset = 0;
  for (const line of text.split('\n')) {
    offset += line.length + 1;
    if (line.trim() === anchor || line.includes(anchor)) return Math.min(offset, text.length);
  }
  return -1;
}
