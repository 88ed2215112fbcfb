import { expect, test } from 'vitest';

import { applySqliteDelta, encodeSqliteDelta } from './delta.ts';

const long = 'line of text\n'.repeat(400);

test.each([
  ['', ''],
  ['', 'abc'],
  ['abc', ''],
  ['abc', 'abc'],
  ['aaaa', 'aaa'],
  ['aaa', 'aaaaaa'],
  [long, long],
  [`${long}x${long}`, `${long}yz${long}`],
  [long, `x${long}`],
  [`${long}x`, long],
])('a delta gives its content back (%#)', (base, content) => {
  const [from, to] = [Buffer.from(base), Buffer.from(content)];
  expect(applySqliteDelta(from, encodeSqliteDelta(from, to)).toString()).toBe(content);
});

test('a small edit makes a small delta', () => {
  const [from, to] = [Buffer.from(`${long}x${long}`), Buffer.from(`${long}yz${long}`)];
  expect(encodeSqliteDelta(from, to)).toHaveLength(10);
});
