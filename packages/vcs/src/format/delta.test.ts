import fc from 'fast-check';
import { expect, test } from 'vitest';
import { applyDelta, encodeDelta } from './delta.ts';

const piece = fc.oneof(
  fc.uint8Array({ maxLength: 40 }),
  fc.constantFrom('const value = 1;\n', 'return value;\n', '}\n', 'a\n').map((text) => Buffer.from(text.repeat(3))),
);
const bytes = fc.array(piece, { maxLength: 60 }).map((pieces) => Buffer.concat(pieces));

test('a delta applied to its base gives the target', () => {
  fc.assert(
    fc.property(bytes, bytes, bytes, bytes, (head, one, other, tail) => {
      const base = Buffer.concat([head, one, tail]);
      const target = Buffer.concat([head, other, one.subarray(5), tail]);
      expect(applyDelta(base, encodeDelta(base, target), target.length)).toEqual(target);
    }),
    { numRuns: 500 },
  );
});

test('a small edit costs bytes in proportion to the edit', () => {
  const lines = Array.from({ length: 400 }, (_, i) => `export const value${i} = ${i * 7};\n`);
  const base = Buffer.from(lines.join(''));
  const edited = lines.with(17, 'changed\n').with(200, 'changed too\n').with(390, 'and this\n');
  const target = Buffer.from(edited.join(''));
  expect(encodeDelta(base, target).length).toBeLessThan(300);
});

test('a delta that does not fit its base or size is noticed', () => {
  const base = Buffer.from('abcdefghij'.repeat(10));
  const target = Buffer.from(`${'abcdefghij'.repeat(10)}x`);
  const delta = encodeDelta(base, target);
  expect(applyDelta(base.subarray(0, 50), delta, target.length)).toBeUndefined();
  expect(applyDelta(base, delta, target.length - 1)).toBeUndefined();
  expect(applyDelta(base, delta.subarray(0, delta.length - 1), target.length)).toBeUndefined();
});
