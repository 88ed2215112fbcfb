import { isInScope } from './task.ts';

/**
 * What a reviewer is shown beside the task's words: all that its author said and was told; the change alone; the
 * change, and the repository to read in.
 */
export type Sight = 'transcript' | 'output' | 'codebase';

export const sights = ['transcript', 'output', 'codebase'] as const satisfies readonly Sight[];

/** One viewpoint of a review. */
export interface Lens {
  /** Unique in a run: small letters, digits and `-`. */
  readonly name: string;
  readonly sees: Sight;
  /** Key into the run's `models`. */
  readonly model: string;
  /** Stands below the reviewer's prompt: what this one looks for, and how. */
  readonly persona: string;
  /** Paths, or directories, of which it reviews changes; empty: all. */
  readonly appliesTo: readonly string[];
  /** Share of the landings without any risk that it reviews, from 0 to 1; risk raises it. */
  readonly rate: number;
}

/** Review lenses of a run, and what a blocking finding leads to. */
export interface ReviewPolicy {
  readonly lenses: readonly Lens[];
  readonly onBlocking: 'task' | 'revert';
}

export interface Finding {
  /** `blocking`: what landed is wrong and must not stay as it is. */
  readonly severity: 'blocking' | 'minor';
  readonly path: string;
  /** Lines of the new file, from 1. */
  readonly from?: number;
  readonly to?: number;
  readonly claim: string;
  /** What shows it: a line quoted, an input and what comes of it, a command and its output. */
  readonly evidence: string;
}

/** What one lens made of one landing. */
export interface Verdict {
  readonly findings: readonly Finding[];
}

export const appliesTo = ({ appliesTo: scope }: Lens, paths: readonly string[]): boolean =>
  paths.some((path) => isInScope(scope, path));

/** One line saying what is wrong with lenses, or undefined. */
export function faultOfLenses(lenses: readonly Lens[]): string | undefined {
  const seen = new Set<string>();
  for (const { name, sees, rate } of lenses) {
    if (!/^[a-z0-9][a-z0-9-]{0,39}$/.test(name)) return `lens '${name}': small letters, digits and - only, at most 40`;
    if (seen.has(name)) return `lens '${name}' is there twice`;
    if (!sights.includes(sees)) return `lens '${name}' sees '${sees as string}', which is none of ${sights.join(', ')}`;
    if (!(rate >= 0 && rate <= 1)) return `lens '${name}': rate ${rate} is not from 0 to 1`;
    seen.add(name);
  }
  return undefined;
}

/** Lines that lie closer than this are the same place. */
const nearLines = 3;

/** Two lenses that say this have found the same: one file, and lines that touch. */
export function isSameFinding(left: Finding, right: Finding): boolean {
  if (left.path !== right.path) return false;
  if (left.from === undefined || right.from === undefined) return true;
  const [leftTo, rightTo] = [left.to ?? left.from, right.to ?? right.from];
  return left.from <= rightTo + nearLines && right.from <= leftTo + nearLines;
}
