import type { SwarmState } from './state.ts';

/** What the keeper of green knows and does. */
export interface GreenState {
  /** Landings that make a check due. */
  readonly everyCommits: number;
  /** Landings since the last check began. */
  readonly unchecked: number;
  /** Newest landing that was seen. */
  readonly newest: number;
  /** One has waited for long enough. */
  readonly isDue: boolean;
  readonly isChecking: boolean;
}

export const newGreen = (everyCommits: number): GreenState => ({
  everyCommits,
  unchecked: 0,
  newest: 0,
  isDue: false,
  isChecking: false,
});

const change = (state: SwarmState, next: (green: GreenState) => GreenState): SwarmState =>
  state.green === undefined ? state : { ...state, green: next(state.green) };

/** An older one than was seen is looked at with that. */
export const sawLanding = (state: SwarmState, seq: number): SwarmState =>
  change(state, (green) => (seq <= green.newest ? green : { ...green, unchecked: green.unchecked + 1, newest: seq }));

export const greenDue = (state: SwarmState): SwarmState =>
  change(state, (green) => (green.unchecked === 0 ? green : { ...green, isDue: true }));

export const beginGreen = (state: SwarmState): SwarmState =>
  change(state, (green) => ({ ...green, unchecked: 0, isDue: false, isChecking: true }));

/** `head`: the landing that was checked last; what landed before it was looked at with it. */
export const endGreen = (state: SwarmState, head: number): SwarmState =>
  change(state, (green) => ({ ...green, isChecking: false, unchecked: green.newest <= head ? 0 : green.unchecked }));

/** `isIdle`: nobody works any more, so that what is unchecked waits for nothing. */
export function wantsCheck({ green }: SwarmState, isIdle: boolean): boolean {
  if (green === undefined || green.isChecking || green.unchecked === 0) return false;
  return isIdle || green.isDue || green.unchecked >= green.everyCommits;
}
