import { createHash } from 'node:crypto';
import { basename, resolve } from 'node:path';

import { parseTest } from '../sqllogictest/parse.ts';
import { expectedHash } from '../sqllogictest/judge.ts';

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

/** Without what differs between a line and its quotation: case, white space, escapes. */
export const plain = (text: string): string =>
  text
    .toLowerCase()
    .replaceAll(/\\[nrt]/g, ' ')
    .replaceAll(/\\(['"`\\])/g, '$1')
    .replaceAll(/\s+/g, ' ');

const rank = (text: string): string => createHash('sha256').update(text).digest('hex');

/**
 * What a corpus is known by: long lines that stand in it once, as many from each file, drawn by their hash so that
 * nobody chooses; its paths and names; words that tell of it.
 */
export function needlesOf(corpus: string, files: ReadonlyMap<string, string>, words: readonly string[]): Needle[] {
  const counts = new Map<string, number>();
  const linesOf = new Map<string, string[]>();
  for (const [path, text] of files) {
    const lines = text.split('\n').map((line) => plain(line).trim());
    linesOf.set(path, lines.filter((line) => line.length >= lineCharsMin)); // prettier-ignore
    for (const line of lines) counts.set(line, (counts.get(line) ?? 0) + 1);
  }
  const perFile = Math.max(1, Math.floor(needlesMax / Math.max(1, files.size)));
  const lines = [...linesOf].flatMap(([from, all]) =>
    all
      .filter((line) => counts.get(line) === 1)
      .toSorted((a, b) => (rank(a) < rank(b) ? -1 : 1))
      .slice(0, perFile)
      .map((text): Needle => ({ kind: 'line', text, from })),
  );
  const names = [...files.keys()].flatMap((path) =>
    [...new Set([path, basename(path)])].map((text): Needle => ({ kind: 'path', text: plain(text), from: path })),
  );
  const directory: Needle = { kind: 'path', text: plain(resolve(corpus)), from: '.' };
  return [
    ...lines,
    ...[...names, directory].filter(({ text }) => text.length >= nameCharsMin),
    ...words.map((word): Needle => ({ kind: 'word', text: plain(word), from: '.' })),
  ];
}

/** Queries and statements of a corpus, {@link plain}, and the hashes that it expects. */
export function answersOf(files: ReadonlyMap<string, string>): {
  sql: ReadonlySet<string>;
  hashes: ReadonlySet<string>;
} {
  const sql = new Set<string>();
  const hashes = new Set<string>();
  for (const text of files.values()) {
    for (const record of parseTest(text)) {
      if (record.kind !== 'query' && record.kind !== 'statement') continue;
      sql.add(plain(record.sql).trim());
      if (record.kind === 'query') hashes.add(expectedHash(record));
    }
  }
  return { sql, hashes };
}
