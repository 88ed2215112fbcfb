import { createHash } from 'node:crypto';
import { basename, resolve } from 'node:path';

import type { TextFiles } from './corpus-files.ts';

/** A string by which a corpus is known. */
export interface Needle {
  readonly kind: 'line' | 'path' | 'word';
  /** As it is looked for: {@link plain}. */
  readonly text: string;
  /** File of the corpus. */
  readonly from: string;
}

const lineCharsMin = 32;
const needlesMax = 2000;
const nameCharsMin = 8;
/** Lines of a file that are drawn for each that is wanted: some stand elsewhere, too. */
const spares = 4;

/** Without what differs between a line and its quotation: case, white space, escapes. */
export const plain = (text: string): string =>
  text
    .toLowerCase()
    .replaceAll(/\\[nrt]/g, ' ')
    .replaceAll(/\\(['"`\\])/g, '$1')
    .replaceAll(/\s+/g, ' ');

const rankOf = (text: string): string => createHash('sha256').update(text).digest('hex');

const plainLines = (text: string): string[] =>
  text.split('\n').flatMap((line) => {
    const found = plain(line).trim();
    return found.length >= lineCharsMin ? [found] : [];
  });

/** Long lines, some of each file, by their hash. */
function drawn(files: TextFiles, perFile: number): Map<string, string> {
  const from = new Map<string, string>();
  for (const [path, text] of files) {
    const ranked = [...new Set(plainLines(text))].map((line) => ({ line, rank: rankOf(line) }));
    const first = ranked.toSorted((a, b) => (a.rank < b.rank ? -1 : 1)).slice(0, perFile * spares);
    for (const { line } of first) from.set(line, path);
  }
  return from;
}

function countsIn(files: TextFiles, lines: ReadonlyMap<string, string>): Map<string, number> {
  const counts = new Map<string, number>();
  for (const [, text] of files)
    for (const line of plainLines(text)) if (lines.has(line)) counts.set(line, (counts.get(line) ?? 0) + 1);
  return counts;
}

/**
 * What a corpus is known by: long lines that stand in it once, as many from each file, drawn by their hash so that
 * nobody chooses; its paths and names; words that tell of it.
 */
export function needlesOf(corpus: string, files: TextFiles, words: readonly string[]): Needle[] {
  const paths = [...files].map(([path]) => path);
  const perFile = Math.max(1, Math.floor(needlesMax / Math.max(1, paths.length)));
  const candidates = drawn(files, perFile);
  const counts = countsIn(files, candidates);
  const left = new Map(paths.map((path) => [path, perFile]));
  const lines = [...candidates].flatMap(([text, from]): Needle[] => {
    const room = left.get(from) ?? 0;
    if (counts.get(text) !== 1 || room === 0) return [];
    left.set(from, room - 1);
    return [{ kind: 'line', text, from }];
  });
  const names = paths.flatMap((path) =>
    [...new Set([path, basename(path)])].map((text): Needle => ({ kind: 'path', text: plain(text), from: path })),
  );
  const directory: Needle = { kind: 'path', text: plain(resolve(corpus)), from: '.' };
  return [
    ...lines,
    ...[...names, directory].filter(({ text }) => text.length >= nameCharsMin),
    ...words.map((word): Needle => ({ kind: 'word', text: plain(word), from: '.' })),
  ];
}
