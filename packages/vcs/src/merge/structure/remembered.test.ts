import { expect, test } from 'vitest';
import type { Outline } from './outline.ts';
import { remembered } from './remembered.ts';

test('a text is read once, also one that cannot be read, until others took its room', () => {
  const read: string[] = [];
  const outline = remembered((text): Outline | undefined => {
    read.push(text);
    return text === 'bad' ? undefined : { items: [], tail: text };
  });
  expect([outline('a')?.tail, outline('bad'), outline('a')?.tail, outline('bad')]).toEqual([
    'a',
    undefined,
    'a',
    undefined,
  ]);
  expect(read).toEqual(['a', 'bad']);
  outline('a');
  outline('x'.repeat(16 * 1024 * 1024 - 2));
  outline('a');
  outline('bad');
  expect(read.map((text) => text.slice(0, 3))).toEqual(['a', 'bad', 'xxx', 'bad']);
});
