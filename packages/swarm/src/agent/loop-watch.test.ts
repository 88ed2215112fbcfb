import { expect, test } from 'vitest';
import type { JsonValue } from '../core/json.ts';
import { LoopWatch, type LoopLimits } from './loop-watch.ts';

type Turn = readonly [name: string, args?: JsonValue, says?: string, ok?: boolean];

/** What is said after each turn: `.` nothing, `n` a nudge, `S` a stop (the last). */
function verdicts(
  turns: readonly Turn[],
  more: { progress?: (at: number) => number; limits?: Partial<LoopLimits> } = {},
): string {
  const watch = new LoopWatch(more.limits);
  let said = '';
  for (const [at, [name, args = {}, says = 'fine', ok = true]] of turns.entries()) {
    const step = { call: { id: `c${at}`, name, arguments: args }, answer: { ok, says } };
    const verdict = watch.note([step], more.progress?.(at));
    said += verdict === undefined ? '.' : verdict.kind === 'nudge' ? 'n' : 'S';
    if (verdict?.kind === 'stop') break;
  }
  return said;
}
const times = (count: number, turn: (at: number) => Turn): Turn[] => Array.from({ length: count }, (_, at) => turn(at));

test.each([
  ['the same call', times(9, () => ['read', { path: 'a', from: 1 }]), '..n..S'],
  ['keys in another order', times(9, (at) => ['read', at % 2 ? { a: 1, b: 2 } : { b: 2, a: 1 }]), '..n..S'],
  ['alternating pairs', times(14, (at) => ['read', { path: `${at % 2}` }]), '.....n.....S'],
  ['triples', times(20, (at) => ['read', { path: `${at % 3}` }]), '........n........S'],
  ['the same error to ever other calls', times(9, (at) => ['commit', { at }, `no such line ${at}`, false]), '..n..S'],
  ['a poll', times(20, (at) => ['inspect', {}, `${at} to go`]), '.......n.......S'],
  ['different calls', times(30, (at) => ['read', { path: `${at}` }]), '.'.repeat(30)],
  [
    'different answers, then another call',
    [
      ...times(5, (at): Turn => ['inspect', {}, `${at}`]),
      ['wait'],
      ...times(5, (at): Turn => ['inspect', {}, `${at}`]),
    ],
    '.'.repeat(11),
  ],
  ['errors that differ', times(9, (at) => ['commit', { at }, `${'abcdefghi'[at]} is wrong`, false]), '.........'],
] as [string, Turn[], string][])('%s', (_, turns, said) => {
  expect(verdicts(turns)).toBe(said);
});

test('after a nudge that helps, the count begins anew', () => {
  const same: Turn[] = times(3, () => ['read']);
  expect(verdicts([...same, ['commit'], ...same], { progress: (at) => Number(at >= 3) })).toBe('..n...n');
});

test('turns without a change of tree or score are nudged, then stopped', () => {
  const turns = times(12, (at): Turn => ['read', { at }]);
  const limits = { quietTurnsMax: 4 };
  expect(verdicts(turns, { limits, progress: () => 0 })).toBe('...n...S');
  expect(verdicts(turns, { limits, progress: (at) => Math.floor(at / 3) })).toBe('............');
  expect(verdicts(turns, { limits })).toBe('............');
});
