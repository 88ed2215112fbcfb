import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { cutTexts, setLasting, type CutText } from './cut-text.ts';
import { splitLines } from './lines.ts';

const piece = fc.constantFrom('a', 'b', '\n', 'a\n', 'b\r\n', 'é\n', 'long line of text\n');
const text = fc.array(piece, { maxLength: 40 }).map((pieces) => pieces.join(''));
const bytes = (content: string): Uint8Array => new TextEncoder().encode(content);
const linesOf = (cut: CutText): string[] =>
  [...cut.ids.keys()].map((line) =>
    Buffer.from(cut.content.subarray(cut.starts[line], cut.starts[line + 1])).toString(),
  );

it('cuts as splitLines does, and numbers equal lines alike, whatever the ends share', () => {
  fc.assert(
    fc.property(text, text, text, text, (head, middle, other, tail) => {
      const contents = [head + middle + tail, head + other + tail, other + tail].map(bytes);
      const [base, current, incoming] = contents as [Uint8Array, Uint8Array, Uint8Array];
      const cut = cutTexts(base, current, incoming);
      const numbers = new Map<number, string>();
      [cut.base, cut.current, cut.incoming].forEach((one, index) => {
        const lines = linesOf(one);
        expect(lines).toEqual(splitLines(contents[index] as Uint8Array));
        lines.forEach((line, at) => {
          const id = one.ids[at] as number;
          expect(numbers.get(id) ?? line).toBe(line);
          numbers.set(id, line);
        });
      });
      expect(new Set(numbers.values()).size).toBe(numbers.size);
      expect(numbers.size).toBeLessThanOrEqual(cut.distinctCount);
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
        const cut = cutTexts(...contents);
        const numbers = new Map<string, number>();
        [cut.base, cut.current, cut.incoming].forEach((one, index) => {
          const lines = linesOf(one);
          expect(lines).toEqual(splitLines(contents[index] as Uint8Array));
          lines.forEach((line, place) => {
            const id = one.ids[place] as number;
            expect(numbers.get(line) ?? id).toBe(id);
            numbers.set(line, id);
          });
        });
        expect(new Set(numbers.values()).size).toBe(numbers.size);
        expect(Math.max(-1, ...numbers.values())).toBeLessThan(cut.distinctCount);
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
