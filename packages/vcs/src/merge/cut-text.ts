import { Slabs } from '../core/allocate.ts';
import { BoundedCache } from '../core/bounded-cache.ts';
import { commonPrefixBytes, commonSuffixBytes } from './common-ends.ts';
import type { LineRange } from './combine.ts';
import { doubled, LineIds, linesIn } from './line-ids.ts';
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

/** A text that was cut before, and the numbers that its lines have. */
interface KnownCut {
  readonly ids: LineIds;
  readonly cut: CutText;
}

interface Lasting {
  readonly path: string;
  known: KnownCut | undefined;
}

/**
 * Contents that will not change: a file that many edit is merged again and again,
 * against the same base and on what the last merge made.
 */
const lasting = new WeakMap<Uint8Array, Lasting>();

/** What was cut last, by path; most of its lines are in other versions as well. */
const latest = new BoundedCache<string, KnownCut>(16 * 1024 * 1024, ({ cut }) => cut.content.length);

/** Memory of what merges make of lasting texts: it is let go about when these are. */
const ofLasting = new Slabs();

/** Nobody changes the bytes of this content any more: what a merge finds out about it may be used again. */
export function setLasting(content: Uint8Array, path: string): void {
  if (!lasting.has(content)) lasting.set(content, { path, known: undefined });
}

/** Numbers are given out anew where so many are of lines that are gone; so long arrays are not worth it. */
const isFull = (ids: LineIds, base: Uint8Array): boolean => ids.count > linesIn(base.length) * 4 + 1024;

/**
 * Cuts the three inputs of a merge. Bytes that a text shares with one that was cut
 * before it, another version of the file, are found by comparing memory and not
 * read line by line; a lasting text that was cut before is not read at all.
 */
export function cutTexts(base: Uint8Array, current: Uint8Array, incoming: Uint8Array): CutTexts {
  const found = knownOf(base) ?? knownOf(current);
  const ids = found === undefined || isFull(found.ids, base) ? new LineIds(base.length) : found.ids;
  const cutBase = cutAs(ids, base, found?.ids === ids ? found.cut : undefined);
  return {
    base: cutBase,
    current: cutAs(ids, current, cutBase),
    incoming: cutAs(ids, incoming, cutBase),
    distinctCount: ids.count,
  };
}

/** The text itself where it was cut, else one that is much like it. */
function knownOf(content: Uint8Array): KnownCut | undefined {
  const entry = lasting.get(content);
  return entry && (entry.known ?? latest.get(entry.path));
}

function cutAs(ids: LineIds, content: Uint8Array, like: CutText | undefined): CutText {
  const entry = lasting.get(content);
  if (entry?.known?.ids === ids) return entry.known.cut;
  const cut = like === undefined ? cutAlone(ids, content) : cutBeside(ids, like, content);
  if (entry !== undefined) remember(content, entry.path, { ids, cut });
  return cut;
}

function remember(content: Uint8Array, path: string, known: KnownCut): void {
  lasting.set(content, { path, known });
  latest.set(path, known);
}

/** A stretch of lines of a text that was cut. */
export interface Stretch extends LineRange {
  readonly text: CutText;
}

/**
 * Stretches of texts that were cut together as one text, which is lasting where the base is. They are those of a
 * merge: only the last can end without a line end, for what comes after the last line of a text touches it.
 */
export function joinCut({ base }: CutTexts, stretches: readonly Stretch[]): Uint8Array {
  let [bytes, lines] = [0, 0];
  for (const { text, start, count } of stretches) {
    bytes += (text.starts[start + count] as number) - (text.starts[start] as number);
    lines += count;
  }
  const as = lasting.get(base.content);
  const content = as === undefined ? Buffer.allocUnsafeSlow(bytes) : ofLasting.allocate(bytes);
  const [starts, ids] = [new Int32Array(lines + 1), new Int32Array(lines)];
  let [at, line] = [0, 0];
  for (const { text, start, count } of stretches) {
    const from = text.starts[start] as number;
    content.set(text.content.subarray(from, text.starts[start + count]), at);
    ids.set(text.ids.subarray(start, start + count), line);
    for (let index = 0; index < count; index++)
      starts[line + index] = (text.starts[start + index] as number) - from + at;
    at += (text.starts[start + count] as number) - from;
    line += count;
  }
  starts[line] = at;
  if (as?.known !== undefined) remember(content, as.path, { ids: as.known.ids, cut: { content, starts, ids } });
  return content;
}

function cutAlone(ids: LineIds, content: Uint8Array): CutText {
  const lines = new LineList(linesIn(content.length));
  lines.cut(ids, content, 0, content.length);
  return { content, starts: lines.starts(content.length), ids: lines.ids() };
}

/** How far from where it is looked for a line of the other text is found again. */
const linesAwayMax = 64;

/**
 * Cuts a content beside another text, of which it shares stretches. Where they
 * differ, a line is read, and looked for in the other text near to where the two
 * were; if it is not there, it is taken to stand for the next one there.
 */
function cutBeside(ids: LineIds, other: CutText, content: Uint8Array): CutText {
  const shorter = Math.min(other.content.length, content.length);
  const tail = firstLineAfter(other, other.content.length - commonSuffixBytes(other.content, content, shorter));
  const shift = content.length - other.content.length;
  const lines = new LineList(other.ids.length + linesIn(Math.max(0, shift)));
  let line = 0;
  // Up to the common end, which begins where the other text's does at the earliest.
  const end = (other.starts[tail] as number) + shift;
  let at = 0;
  while (at < end) {
    const from = other.starts[line] as number;
    const bound = Math.min(end - at, other.content.length - from);
    const shared = commonPrefixBytes(other.content.subarray(from), content.subarray(at), bound);
    const same = Math.max(line, wholeLinesBefore(other, from + shared, from + (content.length - at)));
    lines.take(other, line, same, at - from);
    at += (other.starts[same] as number) - from;
    line = same;
    if (at >= end) break;
    const id = ids.next(content, at, end);
    lines.add(at, id);
    at = ids.end;
    line = Math.min(lineNear(other.ids, id, line) + 1, other.ids.length);
  }
  lines.take(other, tail, other.ids.length, shift);
  return { content, starts: lines.starts(content.length), ids: lines.ids() };
}

/** Where a line stands near to a place, rather after it; the place itself where it does not. */
function lineNear(ids: Int32Array, id: number, place: number): number {
  const last = Math.min(place + linesAwayMax, ids.length - 1);
  for (let line = place; line <= last; line++) if (ids[line] === id) return line;
  const first = Math.max(place - linesAwayMax, 0);
  for (let line = Math.min(place, ids.length) - 1; line >= first; line--) if (ids[line] === id) return line;
  return place;
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
    for (let start = from; start < to; start = ids.end) this.add(start, ids.next(content, start, to));
  }

  take(text: CutText, from: number, to: number, shift: number): void {
    const count = to - from;
    while (this.#count + count > this.#ids.length) this.#grow();
    this.#ids.set(text.ids.subarray(from, to), this.#count);
    for (let line = 0; line < count; line++) {
      this.#starts[this.#count + line] = (text.starts[from + line] as number) + shift;
    }
    this.#count += count;
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

  add(start: number, id: number): void {
    if (this.#count === this.#ids.length) this.#grow();
    this.#starts[this.#count] = start;
    this.#ids[this.#count++] = id;
  }

  #grow(): void {
    this.#starts = doubled(this.#starts);
    this.#ids = doubled(this.#ids);
  }
}
