import { expect, test } from 'vitest';

import { attemptedIn } from './attempted.ts';

test('what is skipped, steers the runner or stands behind a halt is not attempted', () => {
  const text = [
    'hash-threshold 8',
    'statement ok\nA',
    'skipif sqlite\nstatement ok\nB',
    'onlyif mysql\nhalt',
    'query Z\nC',
    'onlyif mysql\nfrobnicate',
    'query I\nD\n----\n1',
    'halt',
    'statement ok\nE',
  ].join('\n\n');
  expect([attemptedIn(text, 'sqlite'), attemptedIn(text, 'mysql'), attemptedIn('', 'sqlite')]).toEqual([3, 2, 0]);
});

test('what ends the file is attempted, and nothing behind it', () => {
  const text = 'statement ok\nA\n\nskipif mysql\nfrobnicate\n\nstatement ok\nB';
  expect([attemptedIn(text, 'sqlite'), attemptedIn(text, 'mysql')]).toEqual([2, 2]);
});
