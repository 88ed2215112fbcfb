import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { replaceExact } from './edit-text.ts';

const text = 'function a() {\n  return 1;\n}\n\nfunction b() {\n  return 1;\n}\n';

test('a text that stands there once is replaced, each edit in the result of the one before', () => {
  const edits = [
    { search: 'function a() {\n  return 1;', replace: 'function a() {\n  return 2;' },
    { search: 'return 1;', replace: 'return 3;' },
  ];
  expect(replaceExact(text, edits)).toEqual({
    kind: 'text',
    text: 'function a() {\n  return 2;\n}\n\nfunction b() {\n  return 3;\n}\n',
  });
});

test('a replacement is taken as it is: $& and $1 mean nothing', () => {
  expect(replaceExact('a b', [{ search: 'a', replace: "$& $1 $' $$" }])).toEqual({
    kind: 'text',
    text: "$& $1 $' $$ b",
  });
});

test('a text that stands there twice is refused, with both lines', () => {
  const answer = replaceExact(text, [{ search: '  return 1;\n', replace: '' }]);
  expect(answer).toMatchObject({ kind: 'refused', says: expect.stringContaining('lines 2 and 6') });
  expect(replaceExact('aaa', [{ search: 'aa', replace: 'b' }])).toMatchObject({ kind: 'refused' });
});

test('a text that is not there is refused with the nearest region and its first line that differs', () => {
  const answer = replaceExact(text, [{ search: 'function b() {\n  return 2;\n}', replace: 'x' }]);
  expect(answer).toMatchObject({ kind: 'refused' });
  const { says } = answer as { says: string };
  expect(says).toContain('begins at line 5');
  expect(says).toContain('differs first at line 6');
  expect(says).toContain('there "  return 1;", searched "  return 2;"');
  // Blanks alone are a difference, never passed over.
  const tabs = replaceExact(text, [{ search: 'function a() {\n\treturn 1;', replace: 'x' }]);
  expect((tabs as { says: string }).says).toContain('differs first at line 2');
  const strange = replaceExact(text, [{ search: 'nothing like it', replace: 'x' }]);
  expect((strange as { says: string }).says).toContain('read it again');
});

test('what is replaced is what stood there once, and nothing else changes', () => {
  const part = fc.string({ unit: fc.constantFrom('a', 'b', '\n'), maxLength: 12 });
  fc.assert(
    fc.property(
      part,
      part,
      fc.string({ unit: fc.constantFrom('a', 'b', '\n'), minLength: 1, maxLength: 4 }),
      part,
      (head, tail, search, replace) => {
        const whole = head + search + tail;
        const answer = replaceExact(whole, [{ search, replace }]);
        const isOnce = whole.indexOf(search) === whole.lastIndexOf(search);
        expect(answer.kind).toBe(isOnce ? 'text' : 'refused');
        if (answer.kind === 'text') expect(answer.text).toBe(head + replace + tail);
      },
    ),
  );
});
