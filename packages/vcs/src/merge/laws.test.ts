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
  { weight: 1, arbitrary: fc.constantFrom('é\n', '😀 ü\n', '\ufeffa\n', '\u2028\n') },
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
/** Longer, one edit a side: what mostly merges clean. */
const longText = fc.array(line, { minLength: 10, maxLength: 30 }).map((lines) => lines.join(''));
const oneEdit = fc.tuple(fc.nat(29), fc.nat(2), fc.array(line, { maxLength: 2 })).map((one) => [one]);
const textInput = fc.oneof(
  {
    weight: 3,
    arbitrary: edited.map(([base, current, incoming]) => inputOf(base, apply(base, current), apply(base, incoming))),
  },
  {
    weight: 3,
    arbitrary: fc
      .tuple(longText, oneEdit, oneEdit)
      .map(([base, current, incoming]) => inputOf(base, apply(base, current), apply(base, incoming))),
  },
  { weight: 2, arbitrary: fc.tuple(text, text, text).map((texts) => inputOf(...texts)) },
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
  { weight: 3, arbitrary: textInput },
  {
    weight: 1,
    arbitrary: fc.record({ path: fc.constant('f'), base: anyState, current: anyState, incoming: anyState }),
  },
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

  it('no silent loss: a line that stands once in base and both sides stands in a clean result', () => {
    fc.assert(
      fc.property(textInput, (input) => {
        const result = mergeFile(input);
        if (result.kind === 'conflict') return;
        const [base = [], current = [], incoming = []] = [input.base, input.current, input.incoming].map(linesOf);
        const merged = new Set(linesOf(result.result));
        const isOnce = (lines: readonly string[], one: string): boolean =>
          lines.indexOf(one) >= 0 && lines.indexOf(one) === lines.lastIndexOf(one);
        const kept = base.filter((one) => [base, current, incoming].every((lines) => isOnce(lines, one)));
        expect(kept.filter((one) => !merged.has(one))).toEqual([]);
      }),
      runs,
    );
  });

  it('the generator makes enough of every kind', () => {
    const inputs = fc.sample(anyInput, { numRuns: 2000, seed: 26 });
    const results = inputs.map((input) => ({ input, result: mergeFile(input) }));
    const share = (test: (made: (typeof results)[number]) => boolean): number =>
      results.filter((made) => test(made)).length / results.length;
    const hasText = (input: MergeInput, test: (content: string) => boolean): boolean =>
      [input.base, input.current, input.incoming].some(
        (state) => state !== null && test(Buffer.from(state.content).toString('latin1')),
      );
    expect(share(({ result }) => result.kind === 'conflict')).toBeGreaterThan(0.2);
    expect(share(({ result }) => result.kind === 'clean' && result.driver === 'text')).toBeGreaterThan(0.08);
    expect(share(({ result }) => result.driver === 'text')).toBeGreaterThan(0.25);
    expect(share(({ result }) => result.driver === 'binary')).toBeGreaterThan(0.01);
    expect(share(({ input }) => hasText(input, (content) => content.includes('\r\n')))).toBeGreaterThan(0.2);
    expect(share(({ input }) => hasText(input, (content) => content === ''))).toBeGreaterThan(0.03);
    expect(
      share(({ input }) => hasText(input, (content) => content !== '' && !content.endsWith('\n'))),
    ).toBeGreaterThan(0.2);
    expect(share(({ input }) => hasText(input, (content) => /[\x80-\xff]/.test(content)))).toBeGreaterThan(0.1);
    expect(
      share(({ input }) => hasText(input, (content) => new Set(content.split('\n')).size < content.split('\n').length)),
    ).toBeGreaterThan(0.3);
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
