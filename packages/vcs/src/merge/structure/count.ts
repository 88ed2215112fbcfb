import { conditionMark, type Outline } from './outline.ts';

/** How often each declared and each imported name stands in a file, by its name with those around it. */
function countsOf(outline: Outline, within = '', counts = new Map<string, number>()): Map<string, number> {
  const add = (name: string): void => void counts.set(name, (counts.get(name) ?? 0) + 1);
  for (const { key, binds, inside } of outline.items) {
    for (const name of binds) add(`${within}${name}`);
    if (inside !== undefined) countsOf(inside, `${within}${key} > `, counts);
  }
  return counts;
}

/**
 * The first declaration that a merge has more or less often than both sides ask
 * for; undefined where there is none. A side that left the number as it was asks
 * for nothing; two sides that changed it alike ask for the same one.
 */
export function miscounted(base: Outline, current: Outline, incoming: Outline, merged: Outline): string | undefined {
  const [was, mine, other, found] = [base, current, incoming, merged].map((outline) => countsOf(outline)) as [
    Map<string, number>, Map<string, number>, Map<string, number>, Map<string, number>,
  ]; // prettier-ignore
  for (const name of new Set([was, mine, other, found].flatMap((counts) => [...counts.keys()]))) {
    const [b, c, i, m] = [was, mine, other, found].map((counts) => counts.get(name) ?? 0) as [
      number, number, number, number,
    ]; // prettier-ignore
    const wanted = c === i || i === b ? c : c === b ? i : c + i - b;
    if (m !== wanted) return name;
  }
  return [...found.keys()].find(
    (name) => isTwice(name, found) && ![mine, other].some((counts) => isTwice(name, counts)),
  );
}

/** Whether a name stands both under a condition and without one: where the condition holds, it is there twice. */
function isTwice(name: string, counts: ReadonlyMap<string, number>): boolean {
  const at = name.indexOf(conditionMark);
  return at >= 0 && counts.has(name) && counts.has(name.slice(0, at));
}
