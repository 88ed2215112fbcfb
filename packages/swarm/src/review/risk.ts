import { createHash } from 'node:crypto';
import { appliesTo, type Lens } from '../core/lens.ts';

/** What is known of a landing before anybody has looked at it. */
export interface LandingFacts {
  readonly seq: number;
  readonly paths: readonly string[];
  /** Lines that it added or wrote anew. */
  readonly lines: number;
  /** It states a breakage: it reaches out of its scope. */
  readonly breaks: boolean;
  /** Of its paths, those that are marked, or were contended for. */
  readonly hotPaths: number;
  /** Of its author's (its model's) reviewed landings. */
  readonly record: { readonly reviewed: number; readonly faulty: number };
}

/** Lines from which on a change counts as large. */
const linesLarge = 200;

/**
 * From 0 (nothing speaks for a look) up: a quarter for each of size and hot
 * files, a half for a scope break, and the share of the author's landings that
 * were faulty, which counts fully once some have been seen.
 */
export function riskOf({ lines, breaks, hotPaths, record }: Omit<LandingFacts, 'seq' | 'paths'>): number {
  const size = 0.25 * Math.min(1, lines / linesLarge);
  const hot = hotPaths > 0 ? 0.25 : 0;
  // Two unseen good landings stand beside what was seen: one fault is no record yet.
  const faults = record.faulty / (record.reviewed + 2);
  return size + hot + (breaks ? 0.5 : 0) + faults;
}

/** A number from 0 to 1 that is the same for the same run, landing and lens: a resume draws as the first process did. */
function drawOf(run: string, seq: number, lens: string): number {
  const digest = createHash('sha256').update(`${run}\0${seq}\0${lens}`).digest();
  return digest.readUInt32BE(0) / 2 ** 32;
}

/** The lenses that look at a landing: each by its rate, raised towards 1 as the risk grows; from a risk of 1 on all. */
export function lensesFor(run: string, lenses: readonly Lens[], facts: LandingFacts): Lens[] {
  const risk = Math.min(1, riskOf(facts));
  return lenses.filter((lens) => {
    if (lens.rate === 0 || !appliesTo(lens, facts.paths)) return false;
    const rate = lens.rate + (1 - lens.rate) * risk;
    return drawOf(run, facts.seq, lens.name) < rate;
  });
}
