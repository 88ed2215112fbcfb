import { mergeLines } from '../three-way.ts';
import type { Item, Outline } from './outline.ts';

interface Sides<T> {
  readonly base: T;
  readonly current: T;
  readonly incoming: T;
}

/**
 * Merges declaration by declaration: each as one piece, a class or the like from
 * within, its text by line. undefined where that is not clean: both sides changed
 * one thing differently, one changed what the other removed, or the order of
 * statements would be a guess. What both sides added at one place stands there in
 * the order current's, incoming's.
 */
export function mergeOutlines({ base, current, incoming }: Sides<Outline>): string | undefined {
  const items = mergeItems({ base: base.items, current: current.items, incoming: incoming.items });
  const tail = mergeTexts({ base: base.tail, current: current.tail, incoming: incoming.tail });
  if (items === undefined || tail === undefined) return undefined;
  const parts = [...items, tail].filter((part) => part !== '');
  // What was the last line of a side may be no last line here.
  const eol = parts.some((part) => part.includes('\r\n')) ? '\r\n' : '\n';
  return parts.map((part, at) => (at === parts.length - 1 || part.endsWith('\n') ? part : part + eol)).join('');
}

const splitText = (text: string): string[] => text.match(/[^\n]*\n|[^\n]+$/g) ?? [];

function mergeTexts({ base, current, incoming }: Sides<string>): string | undefined {
  if (current === incoming || incoming === base) return current;
  if (current === base) return incoming;
  const lines = { base: splitText(base), current: splitText(current), incoming: splitText(incoming) };
  const merged: string[] = [];
  for (const { kind, ...ranges } of mergeLines(lines.base, lines.current, lines.incoming)) {
    if (kind === 'conflict') return undefined;
    const side = kind === 'incoming' ? 'incoming' : 'current';
    const { start, count } = ranges[side];
    merged.push(...lines[side].slice(start, start + count));
  }
  return merged.join('');
}

type Items = ReadonlyMap<string, Item>;

function byKey(items: readonly Item[]): Items | undefined {
  const map = new Map(items.map((item) => [item.key, item]));
  return map.size === items.length ? map : undefined;
}

function mergeItems(lists: Sides<readonly Item[]>): string[] | undefined {
  const [base, current, incoming] = [byKey(lists.base), byKey(lists.current), byKey(lists.incoming)];
  // Two of one key cannot be told apart.
  if (base === undefined || current === undefined || incoming === undefined) return undefined;
  const sides = { base, current, incoming };
  const keys = orderOf(sides);
  if (keys === undefined || new Set(keys).size !== keys.length) return undefined;
  const isTaken = new Set(keys);
  for (const [key, { text }] of base) {
    if (isTaken.has(key)) continue;
    // One side removed it: the other must not have changed it.
    const left = current.get(key) ?? incoming.get(key);
    if (left !== undefined && left.text.trim() !== text.trim()) return undefined;
  }
  const merged: string[] = [];
  for (const key of keys) {
    const item = mergeItem({ base: base.get(key), current: current.get(key), incoming: incoming.get(key) });
    if (item === undefined) return undefined;
    merged.push(item);
  }
  return merged;
}

function orderOf({ base, current, incoming }: Sides<Items>): string[] | undefined {
  const lists = { base: [...base.keys()], current: [...current.keys()], incoming: [...incoming.keys()] };
  const order: string[] = [];
  for (const { kind, ...ranges } of mergeLines(lists.base, lists.current, lists.incoming)) {
    const [was, mine, other] = (['base', 'current', 'incoming'] as const).map((side) =>
      lists[side].slice(ranges[side].start, ranges[side].start + ranges[side].count),
    ) as [string[], string[], string[]];
    if (kind !== 'conflict') {
      order.push(...(kind === 'incoming' ? other : mine));
      continue;
    }
    const isMovable = (side: Items, key: string): boolean => base.has(key) || side.get(key)?.kind !== 'statement';
    if (!mine.every((key) => isMovable(current, key)) || !other.every((key) => isMovable(incoming, key))) {
      return undefined;
    }
    // Only what both sides added here: what one removed it may have replaced by what it added.
    if (was.some((key) => !mine.includes(key) || !other.includes(key))) return undefined;
    const kept = [...mine];
    const shared = (list: readonly string[]): string => list.filter((key) => mine.includes(key) && other.includes(key)).join('\n'); // prettier-ignore
    if (shared(mine) !== shared(other)) return undefined;
    let place = 0;
    for (const key of other) {
      const at = kept.indexOf(key);
      if (at >= 0) place = at + 1;
      else if (!was.includes(key)) {
        const isImport = incoming.get(key)?.kind === 'import';
        const isPassed = (next: string | undefined): boolean =>
          next !== undefined && !other.includes(next) && !was.includes(next) && (!isImport || current.get(next)?.kind === 'import'); // prettier-ignore
        while (isPassed(kept[place])) place++;
        kept.splice(place++, 0, key);
      }
    }
    order.push(...kept);
  }
  return order;
}

function mergeItem({ base, current, incoming }: Sides<Item | undefined>): string | undefined {
  if (current === undefined || incoming === undefined) return (current ?? incoming)?.text;
  if (current.text === incoming.text) return current.text;
  if (base === undefined) return undefined;
  if (incoming.text === base.text) return current.text;
  if (current.text === base.text) return incoming.text;
  if (base.inside && current.inside && incoming.inside) {
    const [was, mine, other] = [base.inside, current.inside, incoming.inside];
    const head = mergeTexts({ base: was.head, current: mine.head, incoming: other.head });
    const rest = mergeOutlines({ base: was, current: mine, incoming: other });
    return head === undefined || rest === undefined ? undefined : head + rest;
  }
  return mergeTexts({ base: base.text, current: current.text, incoming: incoming.text });
}
