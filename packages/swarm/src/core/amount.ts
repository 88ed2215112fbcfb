/** What work costs, in whole units: billionths of a US dollar, tokens (input and output together), milliseconds of an agent's time. */
export interface Amount {
  readonly nanoUsd: number;
  readonly tokens: number;
  readonly ms: number;
}

export type Dimension = keyof Amount;

export const dimensions: readonly Dimension[] = ['nanoUsd', 'tokens', 'ms'];

/** 0 means none; without a bound only by name. */
export type Bound = number | 'unlimited';

/** A bound for each dimension. */
export type Cap = Readonly<Record<Dimension, Bound>>;

export const noAmount: Amount = { nanoUsd: 0, tokens: 0, ms: 0 };
export const unlimited: Cap = { nanoUsd: 'unlimited', tokens: 'unlimited', ms: 'unlimited' };

/** Of each dimension what `of` says. */
export const eachDimension = <T>(of: (dimension: Dimension) => T): Readonly<Record<Dimension, T>> => ({
  nanoUsd: of('nanoUsd'),
  tokens: of('tokens'),
  ms: of('ms'),
});

export const addAmounts = (left: Amount, right: Amount): Amount =>
  eachDimension((dimension) => left[dimension] + right[dimension]);

export const isUnlimited = (cap: Cap): boolean => dimensions.every((dimension) => cap[dimension] === 'unlimited');

/** A bound is a whole number from 0, or `unlimited`. */
export const isBound = (value: unknown): value is Bound =>
  value === 'unlimited' || (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0);
