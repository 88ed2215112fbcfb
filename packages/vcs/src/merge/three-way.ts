import { align } from './align.ts';
import { combine } from './combine.ts';
import type { Region, Sequences } from './combine.ts';
import type { CutTexts } from './cut-text.ts';
import { withDoubt } from './second-opinion.ts';

/**
 * The three-way merge of lines, as regions in order that cover all three inputs.
 * Time is bounded by the lines times the square root of their number, memory by
 * the lines.
 */
export function mergeLines(
  base: readonly string[],
  current: readonly string[],
  incoming: readonly string[],
): readonly Region[] {
  const ids = new Map<string, number>();
  const lines = { base: intern(ids, base), current: intern(ids, current), incoming: intern(ids, incoming) };
  return mergeIds(lines, ids.size);
}

/** {@link mergeLines} of texts that are cut already. */
export function mergeCut({ base, current, incoming, distinctCount }: CutTexts): readonly Region[] {
  return mergeIds({ base: base.ids, current: current.ids, incoming: incoming.ids }, distinctCount);
}

function mergeIds(lines: Sequences, distinctCount: number): readonly Region[] {
  const currentChanges = align(lines.base, lines.current, distinctCount);
  const incomingChanges = align(lines.base, lines.incoming, distinctCount);
  return withDoubt(lines, combine(lines, currentChanges, incomingChanges), distinctCount);
}

/** Equal lines get equal numbers, so that each is compared byte for byte only once. */
export function intern(ids: Map<string, number>, lines: readonly string[]): Int32Array {
  const interned = new Int32Array(lines.length);
  for (let index = 0; index < lines.length; index++) {
    const line = lines[index] as string;
    let id = ids.get(line);
    if (id === undefined) {
      id = ids.size;
      ids.set(line, id);
    }
    interned[index] = id;
  }
  return interned;
}
