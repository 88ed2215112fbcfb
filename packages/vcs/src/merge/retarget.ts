import type { LineRange } from './combine.ts';
import type { LineRun } from './provenance.ts';
import { mergeLines } from './three-way.ts';

/** An edit of a text that was split meanwhile. */
export interface RetargetInput {
  /** What the author of the edit had. */
  readonly base: readonly string[];
  readonly incoming: readonly string[];
  /** The text as it was split. */
  readonly text: readonly string[];
  readonly runs: readonly LineRun[];
  /** What the split made, the rest of the text included, by key. */
  readonly modules: ReadonlyMap<string, readonly string[]>;
}

export interface Retargeted {
  /** New lines of each module that the edit touches. */
  readonly modules: ReadonlyMap<string, readonly string[]>;
  /** The author's text with only those hunks that belong to no one place; undefined where there is none. */
  readonly unplaced: readonly string[] | undefined;
}

interface Image {
  readonly to: string;
  readonly line: number;
}

interface ModuleEdit {
  readonly line: number;
  readonly count: number;
  readonly lines: readonly string[];
}

interface Hunk {
  /** In the author's base. */
  readonly base: LineRange;
  readonly lines: readonly string[];
}

/**
 * Carries an edit of a text over to the modules that the text was split into,
 * hunk by hunk. A hunk that replaces or removes lines goes where these lines went,
 * if all of them went to one place, in their order, once and unchanged; lines that
 * are only removed may have gone to several. What is only added goes behind the
 * line before it (at the start: before the line after it). Every other hunk, and
 * one that the text had changed before it was split, is left over: nothing is
 * guessed and nothing is dropped. Pure.
 */
export function retarget({ base, incoming, text, runs, modules }: RetargetInput): Retargeted {
  const images = imagesOf(text, runs);
  const edits = new Map<string, ModuleEdit[]>();
  const left: Hunk[] = [];
  for (const region of mergeLines(base, text, incoming)) {
    if (region.kind !== 'incoming' && region.kind !== 'conflict') continue;
    const lines = incoming.slice(region.incoming.start, region.incoming.start + region.incoming.count);
    const placed = region.kind === 'incoming' ? place(region.current, lines, text, images, modules) : undefined;
    if (placed === undefined) left.push({ base: region.base, lines });
    for (const [to, edit] of placed ?? []) edits.set(to, [...(edits.get(to) ?? []), edit]);
  }
  const changed = new Map([...edits].map(([to, list]) => [to, applied(modules.get(to) ?? [], list)]));
  return { modules: changed, unplaced: left.length === 0 ? undefined : withHunks(base, left) };
}

/** Where each line of the text went. */
function imagesOf(text: readonly string[], runs: readonly LineRun[]): Image[][] {
  const images: Image[][] = text.map(() => []);
  for (const { start, count, to, toStart } of runs) {
    for (let offset = 0; offset < count; offset++) images[start + offset]?.push({ to, line: toStart + offset });
  }
  return images;
}

function place(
  { start, count }: LineRange,
  lines: readonly string[],
  text: readonly string[],
  images: readonly (readonly Image[])[],
  modules: ReadonlyMap<string, readonly string[]>,
): [string, ModuleEdit][] | undefined {
  if (count === 0) return placeAdded(start, lines, images);
  const found: Image[] = [];
  for (let line = start; line < start + count; line++) {
    const of = images[line] ?? [];
    const [image] = of;
    // What the split dropped, copied or rewrote is no one line any more.
    if (image === undefined || of.length > 1 || modules.get(image.to)?.[image.line] !== text[line]) return undefined;
    found.push(image);
  }
  if (lines.length === 0) return found.map((image) => [image.to, { line: image.line, count: 1, lines }]);
  const [first] = found;
  if (first === undefined) return undefined;
  const isOnePlace = found.every(({ to, line }, at) => to === first.to && line === first.line + at);
  return isOnePlace ? [[first.to, { line: first.line, count, lines }]] : undefined;
}

function placeAdded(
  at: number,
  lines: readonly string[],
  images: readonly (readonly Image[])[],
): [string, ModuleEdit][] | undefined {
  const [before, after] = [images[at - 1] ?? [], images[at] ?? []];
  const [image] = before;
  if (image !== undefined && before.length === 1) return [[image.to, { line: image.line + 1, count: 0, lines }]];
  const [next] = after;
  if (next !== undefined && after.length === 1) return [[next.to, { line: next.line, count: 0, lines }]];
  return undefined;
}

/** Edits name lines of the module as it was; none overlap. */
function applied(module: readonly string[], edits: readonly ModuleEdit[]): string[] {
  const lines: string[] = [];
  let at = 0;
  // What is put before a line comes before what takes its place.
  for (const edit of edits.toSorted((a, b) => a.line - b.line || a.count - b.count)) {
    lines.push(...closed(module.slice(at, edit.line), edit.lines.length > 0), ...edit.lines);
    at = edit.line + edit.count;
  }
  const rest = module.slice(at);
  return [...(rest.length > 0 ? closed(lines, true) : lines), ...rest];
}

/** A last line without its ending gets one where others come behind it. */
function closed(lines: readonly string[], goesOn: boolean): string[] {
  const last = lines.at(-1);
  if (!goesOn || last === undefined || last.endsWith('\n')) return [...lines];
  return [...lines.slice(0, -1), `${last}\n`];
}

function withHunks(base: readonly string[], hunks: readonly Hunk[]): string[] {
  const lines: string[] = [];
  let at = 0;
  for (const hunk of hunks) {
    lines.push(...base.slice(at, hunk.base.start), ...hunk.lines);
    at = hunk.base.start + hunk.base.count;
  }
  return [...lines, ...base.slice(at)];
}
