import { randomBytes } from 'node:crypto';

/** Time comes in through here, so that tests and replicas decide it. */
export interface Clock {
  /** Milliseconds since 1970-01-01T00:00:00Z. */
  now(): number;
}

/** Randomness comes in through here. */
export interface Random {
  bytes(count: number): Uint8Array;
}

export const systemClock: Clock = { now: () => Date.now() };
export const systemRandom: Random = { bytes: (count) => randomBytes(count) };

/** A clock that moves `stepMs` at each reading, for tests. */
export function steppingClock(startMs: number, stepMs = 1): Clock {
  let current = startMs - stepMs;
  return { now: () => (current += stepMs) };
}

/** The same bytes for the same seed (mulberry32, public domain), for tests and generators. */
export function seededRandom(seed: number): Random & { next(): number; below(bound: number): number } {
  let state = seed >>> 0;
  /** Uniform in [0, 1). */
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
  const below = (bound: number): number => Math.floor(next() * bound);
  return { next, below, bytes: (count) => Uint8Array.from({ length: count }, () => below(256)) };
}
