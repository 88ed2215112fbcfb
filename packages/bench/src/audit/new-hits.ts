import { cut, type Finding, type Weight } from './finding.ts';
import type { LandedFile } from './landed-file.ts';

/** What a rule found in a text. */
export interface Hit {
  readonly weight: Weight;
  readonly what: string;
  /** The same words elsewhere in the text are the same hit, come again. */
  readonly words: string;
  /** From 1. */
  readonly line: number;
}

export type TextRule = (path: string, text: string) => readonly Hit[];

const keyOf = ({ what, words }: Hit): string => `${what}\0${words}`;

/** Hits that a change brought into a file: those that were there before are somebody else's. */
export function newHits(rule: TextRule, { path, movedFrom, before = '', after = '' }: LandedFile): Hit[] {
  const known = new Map<string, number>();
  for (const hit of rule(movedFrom ?? path, before)) known.set(keyOf(hit), (known.get(keyOf(hit)) ?? 0) + 1);
  return rule(path, after).filter((hit) => {
    const left = known.get(keyOf(hit)) ?? 0;
    known.set(keyOf(hit), left - 1);
    return left <= 0;
  });
}

/** As findings, with whether they are still there: `now` reads the newest snapshot. */
export function findingsOf(
  rule: TextRule,
  files: Iterable<LandedFile>,
  now: (path: string) => string | undefined,
): Finding[] {
  const left = new Map<string, Set<string>>();
  const isThere = (path: string, hit: Hit): boolean => {
    const keys = left.get(path) ?? new Set(rule(path, now(path) ?? '').map(keyOf));
    left.set(path, keys);
    return keys.has(keyOf(hit));
  };
  return [...files].flatMap((file) =>
    newHits(rule, file).map((hit) => ({
      weight: hit.weight,
      what: hit.what,
      place: `${file.path}:${hit.line}`,
      evidence: cut(hit.words),
      seq: file.seq,
      who: file.who,
      isThere: isThere(file.path, hit),
    })),
  );
}

/** Line of a place in a text, from 1. */
export function lineAt(text: string, index: number): number {
  let line = 1;
  for (let at = text.indexOf('\n'); at >= 0 && at < index; at = text.indexOf('\n', at + 1)) line++;
  return line;
}
