import { describe, expect, test } from 'vitest';
import { mergeFile } from '../merge-file.ts';
import type { MergeDriver } from '../driver.ts';
import { binaryDriver } from './binary.ts';
import { hintOf, lockDriver } from './lock.ts';
import { Drivers } from './registry.ts';
import { textDriver } from './text.ts';
import { unionDriver } from './union.ts';

const state = (text: string) => ({ content: Buffer.from(text), mode: 'file' as const });

function merged(driver: MergeDriver, base: string | null, current: string, incoming: string): string {
  const result = mergeFile(
    { path: 'a', base: base === null ? null : state(base), current: state(current), incoming: state(incoming) },
    driver,
  );
  return result.kind === 'clean' ? Buffer.from(result.result?.content ?? '').toString() : `conflict: ${result.reason}`;
}

describe('union', () => {
  test('keeps the lines of both sides, those of current first', () => {
    expect(merged(unionDriver, 'a\n', 'a\nmine\n', 'a\nother\n')).toBe('a\nmine\nother\n');
    expect(merged(unionDriver, 'a\n', 'b\n', 'c\n')).toBe('b\nc\n');
  });

  test('keeps repeated lines: an equal entry of each side is two entries', () => {
    expect(merged(unionDriver, 'a\n', 'a\n+1\nx\n', 'a\n+1\ny\n')).toBe('a\n+1\nx\n+1\ny\n');
    expect(merged(unionDriver, 'a\n', 'a\nx\n+1\n', 'a\ny\n+1\n')).toBe('a\nx\n+1\ny\n+1\n');
  });

  test('takes a change that both made alike once', () => {
    expect(merged(unionDriver, 'a\nb\nc\n', 'x\na\nb\nc\nz\n', 'x\na\nb\nc\n')).toBe('x\na\nb\nc\nz\n');
  });

  test('never glues lines, and keeps how the text ends', () => {
    expect(merged(unionDriver, '', 'x', 'y')).toBe('x\ny');
    expect(merged(unionDriver, 'a\r\n', 'a\r\nx', 'a\r\ny\r\n')).toBe('a\r\nx\r\ny\r\n');
  });

  test('takes files that both added', () => {
    expect(merged(unionDriver, null, 'x\n', 'y\n')).toBe('x\ny\n');
    expect(merged(textDriver, null, 'x\n', 'y\n')).toBe('conflict: add/add');
  });

  test('merges no binary content', () => {
    expect(merged(unionDriver, 'a', 'a\0', 'b')).toBe('conflict: binary');
  });
});

test('binary merges nothing, and its conflict is about the whole path', () => {
  const result = mergeFile({ path: 'a', base: state('1\n2\n3\n'), current: state('0\n2\n3\n'), incoming: state('1\n2\n4\n') }, binaryDriver); // prettier-ignore
  expect(result).toMatchObject({ kind: 'conflict', reason: 'binary', driver: 'binary' });
  expect(result.kind === 'conflict' && result.hunks).toHaveLength(1);
});

describe('lock files', () => {
  test('merge by line where that is clean, and say how to write them anew', () => {
    const lines = (...names: string[]): string => names.map((name) => `[[${name}]]\n`).join('');
    expect(merged(lockDriver, lines('a', 'b', 'c'), lines('x', 'b', 'c'), lines('a', 'b', 'y'))).toBe(
      lines('x', 'b', 'y'),
    );
    expect(merged(lockDriver, lines('a'), lines('b'), lines('c'))).toBe('conflict: content');
    expect(hintOf('web/package-lock.json', 'lock')).toContain('npm install');
    expect(hintOf('Cargo.lock', 'lock')).toContain('Cargo.toml');
    expect(hintOf('src/a.ts', 'text')).toBeUndefined();
  });

  test('two JSON lock files never merge into broken JSON', () => {
    const base = '{\n"a": 1,\n"b": 2\n}\n';
    expect(merged(lockDriver, base, '{\n"b": 2\n}\n', '{\n"a": 1\n}\n')).toBe('conflict: content');
  });
});

describe('the choice of a driver', () => {
  const own: MergeDriver = { id: 'mine', version: '1', merge: () => ({ kind: 'conflict' }) };
  const drivers = new Drivers([own]);
  const chosen = (path: string, merge?: string | boolean): string =>
    drivers.of(path, new Map(merge === undefined ? [] : [['merge', merge]])).id;

  test.each([
    ['a.ts', true, 'text'],
    ['a.json', true, 'text'],
    ['a.ts', false, 'binary'],
    ['a.ts', 'union', 'union'],
    ['a.ts', 'binary', 'binary'],
    ['a.json', 'text', 'text'],
    ['a.json', 'nobody-configured-this', 'text'],
    ['a', 'mine', 'mine'],
    ['a', 'json', 'json'],
    ['a.md', undefined, 'text'],
    ['a.json', undefined, 'json'],
    ['x/package-lock.json', undefined, 'lock'],
    ['x/Cargo.lock', undefined, 'lock'],
    ['x/constructor', undefined, 'text'],
  ] as const)('of %s with merge=%s is %s', (path, merge, id) => {
    expect(chosen(path, merge)).toBe(id);
  });

  test('refuses a driver whose id is taken or no name', () => {
    expect(() => new Drivers([{ ...own, id: 'text' }])).toThrow('is taken');
    expect(() => new Drivers([own, own])).toThrow('is taken');
    expect(() => new Drivers([{ ...own, id: 'a b' }])).toThrow('is no name');
    expect(() => new Drivers([{ ...own, version: '' }])).toThrow('has no version');
  });
});
