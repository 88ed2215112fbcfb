import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { modes } from '../core/mode.ts';
import { splitLines } from './lines.ts';
import { renderConflict } from './markers.ts';
import { mergeFile } from './merge-file.ts';
import type { FileState, MergeInput } from './merge-input.ts';
import type { ConflictHunk, ConflictReason, MergeResult } from './merge-result.ts';

/** Few distinct lines, so that they repeat; line endings of both kinds; often no last one. */
const line = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom('a\n', 'b\n', '}\n', '\n') },
  { weight: 2, arbitrary: fc.constantFrom('a\r\n', 'b\r\n') },
  { weight: 2, arbitrary: fc.integer({ min: 0, max: 99 }).map((number) => `line ${number}\n`) },
);
const text = fc
  .tuple(fc.array(line, { maxLength: 14 }), fc.boolean())
  .map(([lines, isEnded]) => (isEnded ? lines.join('') : lines.join('').trimEnd()));

/** A base and two sides that were edited from it, by replacing up to three stretches. */
const edit = fc.tuple(fc.nat(14), fc.nat(3), fc.array(line, { maxLength: 3 }));
const edited = fc.tuple(text, fc.array(edit, { maxLength: 3 }), fc.array(edit, { maxLength: 3 }));
const apply = (base: string, edits: readonly (readonly [number, number, string[]])[]): string => {
  const lines = splitLines(new TextEncoder().encode(base));
  for (const [at, removed, added] of edits) lines.splice(at, removed, ...added);
  return lines.join('');
};
const stateOf = (content: string): FileState => ({ content: new TextEncoder().encode(content), mode: 'file' });
const textInput = fc.oneof(
  edited.map(([base, current, incoming]) => inputOf(base, apply(base, current), apply(base, incoming))),
  fc.tuple(text, text, text).map((texts) => inputOf(...texts)),
);

function inputOf(base: string, current: string, incoming: string): MergeInput {
  return { path: 'f', base: stateOf(base), current: stateOf(current), incoming: stateOf(incoming) };
}

/** Anything: absent, binary, links, every mode. */
const anyState = fc.option(
  fc.record({
    content: fc.oneof(
      fc.uint8Array({ maxLength: 12 }),
      text.map((content) => new TextEncoder().encode(content)),
    ),
    mode: fc.constantFrom(...modes),
  }),
);
const anyInput = fc.oneof(
  textInput,
  fc.record({ path: fc.constant('f'), base: anyState, current: anyState, incoming: anyState }),
);

const swapped = (input: MergeInput): MergeInput => ({ ...input, current: input.incoming, incoming: input.current });

function swappedResult(result: MergeResult): MergeResult {
  if (result.kind === 'clean') return result;
  const reasons: Partial<Record<ConflictReason, ConflictReason>> = {
    'modify/delete': 'delete/modify',
    'delete/modify': 'modify/delete',
  };
  const hunks = result.hunks.map((hunk): ConflictHunk => ({ ...hunk, current: hunk.incoming, incoming: hunk.current }));
  return { ...result, reason: reasons[result.reason] ?? result.reason, hunks };
}

const isAlike = ({ current, incoming }: ConflictHunk): boolean => Buffer.compare(current.text, incoming.text) === 0;

const runs = { numRuns: 2000 };

describe('laws of mergeFile', () => {
  it('identity: a side that changed nothing gives way to the other', () => {
    fc.assert(
      fc.property(anyState, anyState, (base, side) => {
        expect(mergeFile({ path: 'f', base, current: base, incoming: side })).toMatchObject({
          kind: 'clean',
          result: side,
        });
        expect(mergeFile({ path: 'f', base, current: side, incoming: base })).toMatchObject({
          kind: 'clean',
          result: side,
        });
      }),
    );
  });

  it('idempotence: the same change twice is that change, and a merged side merges again to the same', () => {
    fc.assert(
      fc.property(anyInput, (input) => {
        const { base, current } = input;
        expect(mergeFile({ path: 'f', base, current, incoming: current })).toMatchObject({
          kind: 'clean',
          result: current,
        });
        const first = mergeFile(input);
        if (first.kind === 'conflict') return;
        const again = mergeFile({ ...input, current: first.result, incoming: first.result });
        expect(again).toMatchObject({ kind: 'clean', result: first.result });
      }),
      runs,
    );
  });

  it('symmetry: the sides swapped give the same content, and the same conflict swapped', () => {
    fc.assert(
      fc.property(anyInput, (input) => {
        expect(mergeFile(swapped(input))).toEqual(swappedResult(mergeFile(input)));
      }),
      runs,
    );
  });

  it('determinism: the same bytes in other buffers give the same result, the inputs unchanged', () => {
    fc.assert(
      fc.property(anyInput, (input) => {
        const copy = structuredClone(input);
        expect(mergeFile(copy)).toEqual(mergeFile(input));
        expect(copy).toEqual(input);
      }),
    );
  });

  it('totality: every input has a result, every conflict a hunk, and its sides differ', () => {
    fc.assert(
      fc.property(anyInput, (input) => {
        const result = mergeFile(input);
        expect(result.kind === 'clean' || result.hunks.length > 0).toBe(true);
        const hunks = result.kind === 'conflict' && result.reason === 'content' ? result.hunks : [];
        expect(hunks.filter(isAlike)).toEqual([]);
        expect(() => renderConflict(input, { style: 'merge' })).not.toThrow();
      }),
      runs,
    );
  });

  it('no silent loss: a line that a side added is in the clean result or in the marked text, with its bytes', () => {
    fc.assert(
      fc.property(textInput, (input) => {
        const base = new Set(linesOf(input.base));
        const result = mergeFile(input);
        const kept = new Set(
          result.kind === 'clean'
            ? linesOf(result.result)
            : [...linesOfBytes(renderConflict(input, { style: 'diff3' })), ...result.hunks.flatMap(hunkLines)],
        );
        for (const side of [input.current, input.incoming]) {
          expect(linesOf(side).filter((added) => !base.has(added) && !kept.has(added))).toEqual([]);
        }
      }),
      runs,
    );
  });
});

const linesOfBytes = (content: Uint8Array | undefined): string[] => (content === undefined ? [] : splitLines(content));
const linesOf = (state: FileState | null): string[] => linesOfBytes(state?.content);
const hunkLines = ({ current, incoming }: ConflictHunk): string[] => [
  ...linesOfBytes(current.text),
  ...linesOfBytes(incoming.text),
];
