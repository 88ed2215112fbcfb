/** When conflicts are said to outgrow the work. */
export interface ThrashingPolicy {
  /** Intents in one window. */
  readonly window: number;
  /** Windows in a row in which conflicts per accepted line have to grow, each by a tenth or more. */
  readonly growing: number;
  /** Conflicts per 100 accepted lines, below which nothing is said. */
  readonly conflictsPer100Lines: number;
}

export const defaultThrashing: ThrashingPolicy = { window: 50, growing: 3, conflictsPer100Lines: 20 };

/** What so many intents came to. */
export interface Window {
  readonly conflicts: number;
  /** Lines that landed. */
  readonly lines: number;
}

/** Conflicts per 100 accepted lines. Where nothing landed, one line is taken for it. */
export const rateOf = ({ conflicts, lines }: Window): number => (conflicts * 100) / Math.max(1, lines);

/** Growth below this is noise. */
const growthMin = 1.1;

/** Why a run thrashes, by its windows, oldest first; undefined where it does not. */
export function thrashing(windows: readonly Window[], policy: ThrashingPolicy): string | undefined {
  const rates = windows.slice(-policy.growing - 1).map(rateOf);
  const last = rates.at(-1);
  if (last === undefined || rates.length <= policy.growing || last < policy.conflictsPer100Lines) return undefined;
  const grows = rates.every((rate, at) => at === 0 || (rate > 0 && rate >= (rates[at - 1] ?? 0) * growthMin));
  if (!grows) return undefined;
  const told = rates.map((rate) => rate.toFixed(1)).join(', ');
  return `conflicts per 100 accepted lines keep growing: ${told}, in windows of ${policy.window} intents`;
}
