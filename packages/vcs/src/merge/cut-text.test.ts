import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { cutTexts, setLasting, type CutText, type CutTexts } from './cut-text.ts';
import { mergeText } from './drivers/text.ts';
import { splitLines } from './lines.ts';

const piece = fc.constantFrom('a', 'b', '\n', 'a\n', 'b\r\n', 'é\n', 'long line of text\n');
const text = fc.array(piece, { maxLength: 40 }).map((pieces) => pieces.join(''));
const bytes = (content: string): Uint8Array => new TextEncoder().encode(content);
const linesOf = (cut: CutText): string[] =>
  [...cut.ids.keys()].map((line) =>
    Buffer.from(cut.content.subarray(cut.starts[line], cut.starts[line + 1])).toString(),
  );

/**
 * Where a text is not cut as `splitLines` cuts it, equal lines have different numbers over all of them, or different
 * lines the same.
 */
function faultsOf(cut: CutTexts, contents: readonly [Uint8Array, Uint8Array, Uint8Array]): unknown[] {
  const faults: unknown[] = [];
  const [numbers, lines] = [new Map<string, number>(), new Map<number, string>()];
  [cut.base, cut.current, cut.incoming].forEach((one, index) => {
    const own = linesOf(one);
    const right = splitLines(contents[index] as Uint8Array);
    if (JSON.stringify(own) !== JSON.stringify(right)) faults.push({ own, right });
    own.forEach((line, at) => {
      const id = one.ids[at] as number;
      const isRight = (numbers.get(line) ?? id) === id && (lines.get(id) ?? line) === line && id < cut.distinctCount;
      if (!isRight) faults.push({ line, id });
      numbers.set(line, id);
      lines.set(id, line);
    });
  });
  return faults;
}

it('cuts as splitLines does, and numbers equal lines alike, whatever the ends share', () => {
  fc.assert(
    fc.property(text, text, text, text, (head, middle, other, tail) => {
      const contents = [head + middle + tail, head + other + tail, other + tail].map(bytes) as [
        Uint8Array,
        Uint8Array,
        Uint8Array,
      ];
      expect(faultsOf(cutTexts(...contents), contents)).toEqual([]);
    }),
    { numRuns: 2000 },
  );
});

it('cuts lasting versions of a file, one beside another, as it cuts them alone', () => {
  const version = fc.array(fc.tuple(fc.nat(30), fc.nat(3), fc.array(piece, { maxLength: 4 })), { maxLength: 6 });
  fc.assert(
    fc.property(text, fc.array(version, { minLength: 3, maxLength: 8 }), (first, edits) => {
      const path = `file-${first}`;
      const versions = [bytes(first)];
      for (const edit of edits) {
        const lines = splitLines(versions.at(-1) as Uint8Array);
        for (const [at, count, added] of edit) lines.splice(at, count, ...added);
        versions.push(bytes(lines.join('')));
      }
      for (const content of versions) setLasting(content, path);
      for (let at = 2; at < versions.length; at++) {
        const contents = versions.slice(at - 2, at + 1) as [Uint8Array, Uint8Array, Uint8Array];
        expect(faultsOf(cutTexts(...contents), contents)).toEqual([]);
      }
    }),
    { numRuns: 300 },
  );
});

it('does not count a text as cut before that nobody called lasting: its bytes may change', () => {
  const [base, current, incoming] = ['a\nb\nc\n', 'a\nb\nd\n', 'x\nb\nc\n'].map(bytes) as [
    Uint8Array,
    Uint8Array,
    Uint8Array,
  ];
  cutTexts(base, current, incoming);
  base.set(bytes('q'), 0);
  const again = cutTexts(base, current, incoming);
  expect(linesOf(again.base)).toEqual(['q\n', 'b\n', 'c\n']);
  expect(again.base.ids[0]).not.toBe(again.current.ids[0]);
});

it('merges on what a merge of lasting texts made as on any other copy of those bytes', () => {
  const edit = fc.array(fc.tuple(fc.nat(30), fc.nat(3), fc.array(piece, { maxLength: 3 })), { maxLength: 3 });
  let [made, joined] = [0, 0];
  fc.assert(
    fc.property(text, fc.array(edit, { minLength: 2, maxLength: 8 }), (first, edits) => {
      const base = bytes(first);
      setLasting(base, `joined-${made++}`);
      let current: Uint8Array = base;
      for (const one of edits) {
        const lines = splitLines(base);
        for (const [at, count, added] of one) lines.splice(at, count, ...added);
        const incoming = bytes(lines.join(''));
        const [own, plain] = [
          mergeText({ path: 'f', base, current, incoming }),
          mergeText({ path: 'f', base: base.slice(), current: current.slice(), incoming }),
        ];
        expect(own.kind).toBe(plain.kind);
        if (own.kind !== 'clean' || plain.kind !== 'clean') continue;
        expect(Buffer.from(own.content).toString()).toBe(Buffer.from(plain.content).toString());
        if (current !== base) joined++;
        current = own.content;
        // What is known of it is right: it is cut beside nothing else.
        const contents = [current, base, incoming] as [Uint8Array, Uint8Array, Uint8Array];
        expect(faultsOf(cutTexts(...contents), contents)).toEqual([]);
      }
    }),
    { numRuns: 1000 },
  );
  expect(joined).toBeGreaterThan(200);
});
