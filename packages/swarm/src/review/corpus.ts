import type { Random } from '@mound/vcs';
import type { Finding } from '../core/lens.ts';

/** One real change of a file. */
export interface RealDiff {
  readonly path: string;
  readonly before: string;
  readonly after: string;
  readonly message: string;
}

/** A change to be reviewed, and what is known to be wrong with it. */
export interface ReviewCase extends RealDiff {
  /** undefined: it is as people wrote it. */
  readonly defect: Defect | undefined;
}

export interface Defect {
  readonly kind: DefectKind;
  /** Of the new file, from 1. */
  readonly line: number;
  readonly was: string;
  readonly is: string;
}

/** Each is a mistake that compiles more often than not, and that tests may miss. */
const seeds = {
  'boundary-shifted': [
    [/ < /, ' <= '],
    [/ <= /, ' < '],
    [/ > /, ' >= '],
    [/ >= /, ' > '],
  ],
  'condition-turned': [
    [/ === /, ' !== '],
    [/ !== /, ' === '],
    [/\bif \(!/, 'if ('],
  ],
  'logic-swapped': [
    [/ && /, ' || '],
    [/ \|\| /, ' && '],
  ],
  'await-dropped': [[/\bawait /, '']],
  'sign-turned': [
    [/ \+ 1\b/, ' - 1'],
    [/ - 1\b/, ' + 1'],
    [/ \+= /, ' -= '],
  ],
  'default-changed': [
    [/ \?\? 0\b/, ' ?? 1'],
    [/\btrue\b/, 'false'],
    [/\bfalse\b/, 'true'],
  ],
} as const satisfies Readonly<Record<string, readonly (readonly [RegExp, string])[]>>;

export type DefectKind = keyof typeof seeds;
export const defectKinds = Object.keys(seeds) as readonly DefectKind[];

/** Lines of the new file that the change wrote, from 1. */
function writtenLines({ before, after }: RealDiff): { readonly line: number; readonly text: string }[] {
  const old = new Set(before.split('\n'));
  return after
    .split('\n')
    .map((text, at) => ({ line: at + 1, text }))
    .filter(({ text }) => text.trim() !== '' && !old.has(text));
}

const isComment = (text: string): boolean => /^\s*(?:\/\/|\/?\*|#)/.test(text);

/** The same change with one defect in a line that it wrote; undefined where none of them takes one. */
function seed(diff: RealDiff, random: Random): ReviewCase | undefined {
  const chances = writtenLines(diff).flatMap(({ line, text }) =>
    isComment(text)
      ? []
      : defectKinds.flatMap((kind) =>
          seeds[kind].flatMap(([pattern, instead]) =>
            pattern.test(text) ? [{ kind, line, was: text, is: text.replace(pattern, instead) }] : [],
          ),
        ),
  );
  const defect = chances[Math.floor(fraction(random) * chances.length)];
  if (defect === undefined) return undefined;
  const lines = diff.after.split('\n');
  lines[defect.line - 1] = defect.is;
  return { ...diff, after: lines.join('\n'), defect };
}

/**
 * Cases out of real changes: every second gets one defect, as far as it takes
 * one; the others stay as people wrote them. The same random gives the same.
 */
export function corpusOf(diffs: readonly RealDiff[], random: Random): ReviewCase[] {
  return diffs.map((diff, at) => (at % 2 === 0 ? seed(diff, random) : undefined) ?? { ...diff, defect: undefined });
}

/** From 0 up to, not with, 1. */
const fraction = (random: Random): number => Buffer.from(random.bytes(4)).readUInt32BE(0) / 2 ** 32;

/** Lines around a defect that still point at it. */
const nearLines = 3;

/** Whether a finding is about the defect of its case. */
export function pointsAt({ path, defect }: ReviewCase, finding: Finding): boolean {
  if (defect === undefined || finding.path !== path) return false;
  const from = finding.from ?? defect.line;
  const to = finding.to ?? from;
  return from - nearLines <= defect.line && defect.line <= to + nearLines;
}
