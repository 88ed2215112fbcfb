import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { isCode, type TreeText } from './tree-text.ts';

/** Tokens (words, numbers, signs) that have to follow one another in the same way. */
export const shingleTokens = 8;

const shinglesOf = (text: string): string[] => {
  const tokens = text.match(/[\p{L}\p{N}_]+|[^\s\p{L}\p{N}_]/gu) ?? [];
  const all: string[] = [];
  for (let at = 0; at + shingleTokens <= tokens.length; at++) all.push(tokens.slice(at, at + shingleTokens).join(' '));
  return all;
};

export interface Likeness {
  /** Of all shingles of the code, those that stand in the references as well. */
  readonly share: number;
  /** The file that is most alike, among those of at least 20 shingles. */
  readonly most: { readonly path: string; readonly share: number } | undefined;
}

const shinglesMin = 20;

/** How much of the code stands in the references word for word. */
export function likenessOf(code: TreeText, references: readonly string[]): Likeness {
  const known = new Set(references.flatMap((dir) => textsBelow(dir)).flatMap(shinglesOf));
  let [all, same] = [0, 0];
  let most: Likeness['most'];
  for (const [path, text] of code) {
    const shingles = shinglesOf(text);
    const found = shingles.filter((shingle) => known.has(shingle)).length;
    all += shingles.length;
    same += found;
    const share = found / Math.max(1, shingles.length);
    if (shingles.length >= shinglesMin && share > (most?.share ?? 0)) most = { path, share };
  }
  return { share: all === 0 ? 0 : same / all, most };
}

function textsBelow(dir: string): string[] {
  return readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && isCode(entry.name))
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'utf8'));
}
