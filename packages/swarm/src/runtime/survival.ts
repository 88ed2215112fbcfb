/** Lines that a side of a conflict added to its base, and how many of them the resolution has. */
export interface Survival {
  readonly lines: number;
  readonly survived: number;
}

export const noSurvival: Survival = { lines: 0, survived: 0 };

export const addSurvival = (left: Survival, right: Survival): Survival => ({
  lines: left.lines + right.lines,
  survived: left.survived + right.survived,
});

function countLines(text: string): Map<string, number> {
  const counts = new Map<string, number>();
  for (const line of text.split('\n')) {
    const trimmed = line.trimEnd();
    if (trimmed !== '') counts.set(trimmed, (counts.get(trimmed) ?? 0) + 1);
  }
  return counts;
}

/** Of each line how often it stands there beyond the base. */
function added(text: string, base: ReadonlyMap<string, number>): Map<string, number> {
  const more = new Map<string, number>();
  for (const [line, count] of countLines(text)) {
    const beyond = count - (base.get(line) ?? 0);
    if (beyond > 0) more.set(line, beyond);
  }
  return more;
}

/** Blank lines do not count; where a line moved within the file does not matter. */
export function survivalOf(base: string, side: string, result: string): Survival {
  const before = countLines(base);
  const pool = added(result, before);
  let lines = 0;
  let survived = 0;
  for (const [line, count] of added(side, before)) {
    lines += count;
    survived += Math.min(count, pool.get(line) ?? 0);
  }
  return { lines, survived };
}
