import { expect, test } from 'vitest';
import { applyChunks, parsePatch } from './patch-text.ts';

const patch = (...lines: string[]): string => ['*** Begin Patch', ...lines, '*** End Patch'].join('\n');

function apply(text: string, ...lines: string[]): string {
  const parsed = parsePatch(patch('*** Update File: a', ...lines));
  if (parsed.kind === 'refused') return `refused: ${parsed.says}`;
  const [part] = parsed.parts;
  if (part?.kind !== 'update') throw new Error('no update');
  const answer = applyChunks(text, part.chunks);
  return answer.kind === 'text' ? answer.text : `refused: ${answer.says}`;
}

const file = 'class A\n  def x\n    1\n  end\nend\nclass B\n  def x\n    1\n  end\nend\n';

test('files are added, deleted, moved and updated', () => {
  const parsed = parsePatch(
    patch(
      '*** Add File: new.txt',
      '+one',
      '+',
      '*** Delete File: old.txt',
      '*** Update File: a',
      '*** Move to: b',
      '@@',
      '-x',
      '+y',
    ),
  );
  expect(parsed).toEqual({
    kind: 'patch',
    parts: [
      { kind: 'add', path: 'new.txt', text: 'one\n\n' },
      { kind: 'delete', path: 'old.txt' },
      { kind: 'update', path: 'a', moveTo: 'b', chunks: [{ anchor: undefined, before: ['x'], after: ['y'] }] },
    ],
  });
});

test('a chunk stands behind its anchor, so that the same lines elsewhere are left alone', () => {
  expect(apply(file, '@@ class B', '   def x', '-    1', '+    2')).toBe(file.replace(/1(?=\n {2}end\nend\n$)/, '2'));
  expect(apply(file, '@@', '   def x', '-    1', '+    2')).toMatch(/^refused: chunk 1: .*lines 2 and 7/);
  expect(apply(file, '@@ class C', '-    1')).toContain('"class C" does not stand there');
});

test('whole lines only, also at the end of a file without a line break', () => {
  expect(apply('ab\nb', '@@', '-b', '+c')).toBe('ab\nc');
  expect(apply('b\n', '@@', '+c')).toBe('b\nc\n');
  expect(apply('', '@@', '+c')).toBe('c\n');
  expect(apply('a\nb\n', '@@', '-z', '+c')).toContain('does not stand there');
});

test('what is no patch is refused with its line', () => {
  for (const [text, says] of [
    ['x', 'does not begin'],
    ['*** Begin Patch\n*** Delete File: a', 'without *** End Patch'],
    [patch('*** Change File: a'), 'line 2'],
    [patch('*** Add File: a', 'x'), 'line 3'],
    [patch('*** Update File: a', '@@', 'x'), 'line 4'],
    [patch(), 'changes no file'],
  ] as const) {
    expect(parsePatch(text)).toMatchObject({ kind: 'refused', says: expect.stringContaining(says) });
  }
});
