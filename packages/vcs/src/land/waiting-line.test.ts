import { describe, expect, test } from 'vitest';
import { WaitingLine, WaitingLines } from './waiting-line.ts';

interface Item {
  readonly name: string;
  readonly line: WaitingLine<Item>;
}

const item = (name: string): Item => ({ name, line: new WaitingLine() });

describe('WaitingLines', () => {
  test('those who wait for one hold come one by one, each when the one before has ended', () => {
    const lines = new WaitingLines<Item>();
    const [holder, a, b] = [item('holder'), item('a'), item('b')];
    lines.holding(holder, 'h');
    expect([lines.join(a, 'h'), lines.join(b, 'h')]).toEqual([true, true]);
    const next = lines.ended(holder);
    expect(next?.name).toBe('a');
    // The hold is over: who meets a hold of that name meets another's.
    const late = item('late');
    expect(lines.join(late, 'h')).toBe(false);
    expect(next && lines.ended(next)?.name).toBe('b');
  });

  test('the first on a hold of another process asks again by itself, the others stand behind it', () => {
    const lines = new WaitingLines<Item>();
    const [a, b] = [item('a'), item('b')];
    expect([lines.join(a, 'foreign'), lines.join(b, 'foreign'), lines.join(a, 'foreign')]).toEqual([
      false,
      true,
      false,
    ]);
    expect(lines.ended(a)?.name).toBe('b');
  });

  test('who waits and has others behind it takes them along', () => {
    const lines = new WaitingLines<Item>();
    const [one, other, a, b] = [item('one'), item('other'), item('a'), item('b')];
    lines.holding(one, 'h1');
    lines.holding(other, 'h2');
    lines.join(a, 'h1');
    expect(lines.join(one, 'h2')).toBe(true);
    // It holds h1 still, and is behind h2.
    expect(lines.join(b, 'h1')).toBe(true);
    const order: string[] = [];
    for (let at = lines.ended(other); at !== undefined; at = lines.ended(at)) order.push(at.name);
    expect(order).toEqual(['one', 'a', 'b']);
  });

  test('two that hold what the other wants: the second asks again until a hold expires', () => {
    const lines = new WaitingLines<Item>();
    const [one, other] = [item('one'), item('other')];
    lines.holding(one, 'h1');
    lines.holding(other, 'h2');
    expect(lines.join(one, 'h2')).toBe(true);
    expect(lines.join(other, 'h1')).toBe(false);
    expect(lines.ended(other)?.name).toBe('one');
  });
});
