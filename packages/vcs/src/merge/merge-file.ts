import { invariant } from '../core/errors.ts';
import type { Mode } from '../core/mode.ts';
import { countLines } from '../core/text.ts';
import type { DriverNote } from '../core/outcome.ts';
import { refuse, type LineRange, type Region } from './combine.ts';
import { cutTexts, type CutText } from './cut-text.ts';
import type { DriverInput, DriverVerdict, MergeDriver } from './driver.ts';
import { binaryDriver } from './drivers/binary.ts';
import { linesOf, textDriver } from './drivers/text.ts';
import { isBinary } from './lines.ts';
import { isRegular, isSameContent, isSameState, isText, textBytesMax } from './merge-input.ts';
import type { FileState, MergeInput } from './merge-input.ts';
import type { ConflictedMerge, ConflictHunk, ConflictReason, HunkSide, MergeResult } from './merge-result.ts';
import { mergeLines } from './three-way.ts';

const noContent = new Uint8Array(0);

/** Of what is decided without a driver. */
export const undriven: DriverNote = { driver: 'whole', driverVersion: '1', lines: undefined, structure: undefined };

/** Merges what two sides made of one path. Pure; never throws; the same input gives the same result. */
export function mergeFile(input: MergeInput, driver: MergeDriver = textDriver): MergeResult {
  return mergeWhole(input, driver) ?? resultOf(input, driver, driver.merge(driverInputOf(input)));
}

/** The verdict where no driver is needed; undefined where both sides changed a content that it takes. */
export function mergeWhole(input: MergeInput, driver: MergeDriver = textDriver): MergeResult | undefined {
  const { base, current, incoming } = input;
  if (isSameState(current, base)) return { kind: 'clean', ...undriven, result: incoming };
  if (isSameState(incoming, base) || isSameState(current, incoming)) {
    return { kind: 'clean', ...undriven, result: current };
  }
  if (current === null) return conflict(input, undriven, 'delete/modify', null);
  if (incoming === null) return conflict(input, undriven, 'modify/delete', null);
  const mode = mergeMode(base?.mode, current.mode, incoming.mode);
  const content = mergeWholeContent(base?.content, current.content, incoming.content);
  const states = base === null ? [current, incoming] : [base, current, incoming];
  if (!states.every((state) => isRegular(state.mode))) {
    return mergeLinks(input, current, incoming, mode, content);
  }
  if (content !== undefined) {
    return mode === null
      ? conflict(input, undriven, 'mode', null)
      : { kind: 'clean', ...undriven, result: { content, mode } };
  }
  if (base === null && driver.takesAdded !== true) return conflict(input, undriven, 'add/add', mode);
  if (driver.takesBinary === true) return undefined;
  if (states.some((state) => state.content.length > textBytesMax)) {
    return conflict(input, binary, 'too-large', mode);
  }
  if (states.some((state) => isBinary(state.content))) return conflict(input, binary, 'binary', mode);
  return undefined;
}

const binary: DriverNote = { ...undriven, driver: binaryDriver.id, driverVersion: binaryDriver.version };

/** The mode that only one side changed, or both alike; null where they differ. */
function mergeMode(base: Mode | undefined, current: Mode, incoming: Mode): Mode | null {
  if (current === incoming || incoming === base) return current;
  return current === base ? incoming : null;
}

/** The content that only one side changed, or both alike. */
function mergeWholeContent(
  base: Uint8Array | undefined,
  current: Uint8Array,
  incoming: Uint8Array,
): Uint8Array | undefined {
  if (isSameContent(current, incoming)) return current;
  if (base === undefined) return undefined;
  if (isSameContent(incoming, base)) return current;
  return isSameContent(current, base) ? incoming : undefined;
}

/** A link's content means nothing without its mode, so both stand or fall together. */
function mergeLinks(
  input: MergeInput,
  current: FileState,
  incoming: FileState,
  mode: Mode | null,
  content: Uint8Array | undefined,
): MergeResult {
  const isOneKind = current.mode === incoming.mode && (input.base === null || input.base.mode === current.mode);
  if (isOneKind && mode !== null && content !== undefined) {
    return { kind: 'clean', ...undriven, result: { content, mode } };
  }
  if (input.base === null) return conflict(input, undriven, 'add/add', mode);
  if (isOneKind) return conflict(input, undriven, mode === 'gitlink' ? 'gitlink' : 'symlink', mode);
  return conflict(input, undriven, 'type', mode);
}

/** What a driver is given of an input that {@link mergeWhole} leaves to it. */
export function driverInputOf({ path, base, current, incoming }: MergeInput): DriverInput {
  invariant(current !== null && incoming !== null, 'a driver merges what both sides have');
  return { path, base: base?.content, current: current.content, incoming: incoming.content };
}

/** The result that a driver's verdict on an input comes to. */
export function resultOf(input: MergeInput, { id, version }: MergeDriver, verdict: DriverVerdict): MergeResult {
  const { base, current, incoming } = input;
  invariant(current !== null && incoming !== null, 'a driver merges what both sides have');
  const mode = mergeMode(base?.mode, current.mode, incoming.mode);
  const note = { driver: id, driverVersion: version, lines: verdict.lines, structure: verdict.structure };
  if (verdict.kind === 'clean') {
    if (mode === null) return conflict(input, note, 'mode', null);
    return { kind: 'clean', ...note, result: { content: verdict.content, mode } };
  }
  if (base === null) return conflict(input, note, 'add/add', mode);
  const { refused } = verdict;
  const contents = driverInputOf(input);
  if (![base, current, incoming].every(isText)) return conflict(input, note, 'binary', mode);
  const hunks =
    id === binaryDriver.id
      ? []
      : hunksOf(contents, verdict.regions ?? conflictRegions(contents, { ...note, lines: 'clean', refused }));
  if (hunks.length === 0) return conflict(input, note, id === binaryDriver.id ? 'binary' : 'content', mode);
  return { kind: 'conflict', ...note, refused, reason: 'content', mode, hunks };
}

/** What a record of a conflict says of how to show it. */
export type ConflictShape = Pick<ConflictedMerge, 'driver' | 'lines' | 'refused'>;

/**
 * The hunks of a recorded conflict, as its sides are by now: by line, empty where
 * these merge. Where a driver refused a clean merge of lines, one hunk from the
 * first to the last of the changes that it found fault with.
 */
export function conflictHunks(input: MergeInput, shape: ConflictShape): ConflictHunks {
  const merged = mergeFile(input, shape.driver === binaryDriver.id ? binaryDriver : textDriver);
  if (merged.kind === 'conflict') return { hunks: merged.hunks, isWhole: merged.driver !== textDriver.id };
  const contents = contentsOf(input);
  return { hunks: contents === undefined ? [] : hunksOf(contents, conflictRegions(contents, shape)), isWhole: false };
}

interface ConflictHunks {
  readonly hunks: readonly ConflictHunk[];
  /** Not about lines: the one hunk holds everything. */
  readonly isWhole: boolean;
}

/** Of texts that all sides have; undefined where a side is absent or no text. */
export function contentsOf({ path, base, current, incoming }: MergeInput): Required<DriverInput> | undefined {
  if (base === null || current === null || incoming === null || ![base, current, incoming].every(isText)) return;
  return { path, base: base.content, current: current.content, incoming: incoming.content };
}

/** The regions that {@link conflictHunks} makes hunks of, with all others. */
export function conflictRegions(contents: DriverInput, shape: ConflictShape): readonly Region[] {
  const lines = linesOf(contents);
  const regions = mergeLines(lines.base, lines.current, lines.incoming);
  const isRefused = shape.lines === 'clean' && !regions.some(({ kind }) => kind === 'conflict');
  return isRefused ? refuse(regions, shape.refused) : regions;
}

function hunksOf({ base, current, incoming }: DriverInput, regions: readonly Region[]): ConflictHunk[] {
  const cut = cutTexts(base ?? noContent.slice(), current, incoming);
  return regions
    .filter(({ kind }) => kind === 'conflict')
    .map((region, index) => ({
      index,
      base: hunkSide(cut.base, region.base),
      current: hunkSide(cut.current, region.current),
      incoming: hunkSide(cut.incoming, region.incoming),
    }));
}

const hunkSide = ({ content, starts }: CutText, { start, count }: LineRange): HunkSide => ({
  start: start + 1,
  count,
  // A copy: whoever gets it may write to it.
  text: new Uint8Array(content.subarray(starts[start], starts[start + count])),
});

/** A conflict about the whole path, in one hunk. */
function conflict(input: MergeInput, note: DriverNote, reason: ConflictReason, mode: Mode | null): MergeResult {
  const hunk = {
    index: 0,
    base: wholeSide(input.base),
    current: wholeSide(input.current),
    incoming: wholeSide(input.incoming),
  };
  return { kind: 'conflict', ...note, refused: undefined, reason, mode, hunks: [hunk] };
}

function wholeSide(state: FileState | null): HunkSide {
  if (state === null) return { start: 1, count: 0, text: noContent };
  return { start: 1, count: isText(state) ? countLines(state.content) : 0, text: state.content };
}
