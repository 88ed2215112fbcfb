import { commonPrefixBytes, commonSuffixBytes } from './common-ends.ts';
import type { LineRange } from './combine.ts';
import { doubled, LineIds } from './line-ids.ts';
import { splitLines } from './lines.ts';

/**
 * A text cut into lines, by place: line `n` is the bytes from `starts[n]` to
 * `starts[n + 1]`, its line ending included; only LF ends a line. Lines of texts
 * that were cut together have equal ids where they are equal.
 */
export interface CutText {
  readonly content: Uint8Array;
  /** One more than there are lines. */
  readonly starts: Int32Array;
  readonly ids: Int32Array;
}

export interface CutTexts {
  readonly base: CutText;
  readonly current: CutText;
  readonly incoming: CutText;
  /** Each id is below it. */
  readonly distinctCount: number;
}

/**
 * Cuts the three inputs of a merge. What a side shares with the base at the start
 * and at the end is found by comparing memory and read only once.
 */
export function cutTexts(base: Uint8Array, current: Uint8Array, incoming: Uint8Array): CutTexts {
  const ids = new LineIds(linesIn(base.length));
  const cutBase = cut(ids, base);
  return {
    base: cutBase,
    current: cutBeside(ids, cutBase, current),
    incoming: cutBeside(ids, cutBase, incoming),
    distinctCount: ids.count,
  };
}

function cut(ids: LineIds, content: Uint8Array): CutText {
  const lines = new LineList(linesIn(content.length));
  lines.cut(ids, content, 0, content.length);
  return { content, starts: lines.starts(content.length), ids: lines.ids() };
}

function cutBeside(ids: LineIds, base: CutText, content: Uint8Array): CutText {
  const shorter = Math.min(base.content.length, content.length);
  const prefix = commonPrefixBytes(base.content, content, shorter);
  const head = wholeLinesBefore(base, prefix, content.length);
  const headBytes = base.starts[head] as number;
  const suffix = commonSuffixBytes(base.content, content, shorter - prefix);
  const tail = firstLineAfter(base, base.content.length - suffix);
  const shift = content.length - base.content.length;
  const lines = new LineList(base.ids.length + linesIn(content.length - base.content.length));
  lines.take(base, 0, head, 0);
  lines.cut(ids, content, headBytes, (base.starts[tail] as number) + shift);
  lines.take(base, tail, base.ids.length, shift);
  return { content, starts: lines.starts(content.length), ids: lines.ids() };
}

/** Lines of a text, as {@link splitLines} gives them. */
export const linesAt = ({ content, starts }: CutText, { start, count }: LineRange): readonly string[] =>
  count === 0 ? [] : splitLines(content.subarray(starts[start], starts[start + count]));

/** How many of the base's first lines lie within so many bytes that another text shares. */
function wholeLinesBefore({ content, starts, ids }: CutText, bytes: number, otherBytes: number): number {
  const lines = lastAtMost(starts, bytes);
  const isUnended = lines > 0 && lines === ids.length && content.at(-1) !== 10;
  return isUnended && otherBytes > bytes ? lines - 1 : lines;
}

/**
 * The first line that starts after a place from which on another text is the same.
 * A line that starts just there may be the end of a longer one there.
 */
const firstLineAfter = ({ starts, ids }: CutText, place: number): number =>
  Math.min(lastAtMost(starts, place) + 1, ids.length);

/** The last index whose value is at most `bound`, in rising values from 0 on. */
function lastAtMost(values: Int32Array, bound: number): number {
  let low = 0;
  let high = values.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((values[middle] as number) <= bound) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** About so many lines are in so many bytes of code. */
const linesIn = (bytes: number): number => bytes >> 5;

/** Lines as they are found. */
class LineList {
  #starts: Int32Array;
  #ids: Int32Array;
  #count = 0;

  /** `lines`: about how many there will be. */
  constructor(lines: number) {
    const room = Math.max(lines, 0) + 64;
    this.#starts = new Int32Array(room);
    this.#ids = new Int32Array(room);
  }

  cut(ids: LineIds, content: Uint8Array, from: number, to: number): void {
    for (let start = from; start < to; start = ids.end) this.#add(start, ids.next(content, start, to));
  }

  take(text: CutText, from: number, to: number, shift: number): void {
    for (let line = from; line < to; line++) {
      this.#add((text.starts[line] as number) + shift, text.ids[line] as number);
    }
  }

  starts(end: number): Int32Array {
    const starts = new Int32Array(this.#count + 1);
    starts.set(this.#starts.subarray(0, this.#count));
    starts[this.#count] = end;
    return starts;
  }

  ids(): Int32Array {
    return this.#ids.subarray(0, this.#count);
  }

  #add(start: number, id: number): void {
    if (this.#count === this.#ids.length) {
      this.#starts = doubled(this.#starts);
      this.#ids = doubled(this.#ids);
    }
    this.#starts[this.#count] = start;
    this.#ids[this.#count++] = id;
  }
}
