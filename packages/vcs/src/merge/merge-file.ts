import type { Mode } from '../core/mode.ts';
import { countLines } from '../core/text.ts';
import { isBinary, joinLines, splitLines } from './lines.ts';
import { isRegular, isSameContent, isSameState, isText, textBytesMax } from './merge-input.ts';
import type { FileState, MergeInput } from './merge-input.ts';
import type { ConflictHunk, ConflictReason, HunkSide, MergeResult } from './merge-result.ts';
import { sideOf } from './combine.ts';
import type { LineRange } from './combine.ts';
import { mergeLines } from './three-way.ts';

const noContent = new Uint8Array(0);

/** Merges what two sides made of one path. Pure; never throws; the same input gives the same result. */
export function mergeFile(input: MergeInput): MergeResult {
  return mergeWhole(input) ?? mergeText(input);
}

/** The verdict where no lines need comparing; undefined where both sides changed a text. */
export function mergeWhole(input: MergeInput): MergeResult | undefined {
  const { base, current, incoming } = input;
  if (isSameState(current, base)) return { kind: 'clean', driver: 'whole', result: incoming };
  if (isSameState(incoming, base) || isSameState(current, incoming)) {
    return { kind: 'clean', driver: 'whole', result: current };
  }
  if (current === null) return conflict(input, 'whole', 'delete/modify', null);
  if (incoming === null) return conflict(input, 'whole', 'modify/delete', null);
  const mode = mergeMode(base?.mode, current.mode, incoming.mode);
  const content = mergeWholeContent(base?.content, current.content, incoming.content);
  const states = base === null ? [current, incoming] : [base, current, incoming];
  if (!states.every((state) => isRegular(state.mode))) {
    return mergeLinks(input, current, incoming, mode, content);
  }
  if (content !== undefined) {
    return mode === null
      ? conflict(input, 'whole', 'mode', null)
      : { kind: 'clean', driver: 'whole', result: { content, mode } };
  }
  if (base === null) return conflict(input, 'whole', 'add/add', mode);
  if (states.some((state) => state.content.length > textBytesMax)) {
    return conflict(input, 'binary', 'too-large', mode);
  }
  if (states.some((state) => isBinary(state.content))) return conflict(input, 'binary', 'binary', mode);
  return undefined;
}

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
    return { kind: 'clean', driver: 'whole', result: { content, mode } };
  }
  if (input.base === null) return conflict(input, 'whole', 'add/add', mode);
  if (isOneKind) return conflict(input, 'whole', mode === 'gitlink' ? 'gitlink' : 'symlink', mode);
  return conflict(input, 'whole', 'type', mode);
}

function mergeText(input: MergeInput): MergeResult {
  const { base, current, incoming } = input;
  const mode = mergeMode(base?.mode, current?.mode ?? 'file', incoming?.mode ?? 'file');
  const lines = { base: linesOf(base), current: linesOf(current), incoming: linesOf(incoming) };
  const regions = mergeLines(lines.base, lines.current, lines.incoming);
  const hunks: ConflictHunk[] = [];
  const merged: string[] = [];
  for (const region of regions) {
    if (region.kind === 'conflict') {
      hunks.push({
        index: hunks.length,
        base: hunkSide(lines.base, region.base),
        current: hunkSide(lines.current, region.current),
        incoming: hunkSide(lines.incoming, region.incoming),
      });
    } else {
      const side = sideOf(region);
      for (let line = 0; line < region[side].count; line++) {
        merged.push(lines[side][region[side].start + line] as string);
      }
    }
  }
  if (hunks.length > 0) return { kind: 'conflict', driver: 'text', reason: 'content', mode, hunks };
  if (mode === null) return conflict(input, 'text', 'mode', null);
  return { kind: 'clean', driver: 'text', result: { content: joinLines(merged), mode } };
}

const linesOf = (state: FileState | null): string[] => (state === null ? [] : splitLines(state.content));

const hunkSide = (lines: readonly string[], { start, count }: LineRange): HunkSide => ({
  start: start + 1,
  count,
  text: joinLines(lines, start, start + count),
});

/** A conflict about the whole path, in one hunk. */
function conflict(input: MergeInput, driver: string, reason: ConflictReason, mode: Mode | null): MergeResult {
  const hunk = {
    index: 0,
    base: wholeSide(input.base),
    current: wholeSide(input.current),
    incoming: wholeSide(input.incoming),
  };
  return { kind: 'conflict', driver, reason, mode, hunks: [hunk] };
}

function wholeSide(state: FileState | null): HunkSide {
  if (state === null) return { start: 1, count: 0, text: noContent };
  return { start: 1, count: isText(state) ? countLines(state.content) : 0, text: state.content };
}
