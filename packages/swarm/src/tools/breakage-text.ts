import type { FoundBreakage } from './operations.ts';

/** One line for each, on what explains a failure. */
export const sayBreakages = (found: readonly FoundBreakage[]): string[] =>
  found.map(({ id, by, rationale, paths, symbols }) => {
    const names = symbols.length > 0 ? ` (${symbols.join(', ')})` : '';
    return `this may come from breakage ${id} by ${by}, who changed ${paths.join(', ')}${names} and says why: ${rationale}`;
  });
