import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { cutTexts, type CutText } from './cut-text.ts';
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
