import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import type { MarkerOptions } from './markers.ts';
import { renderConflict } from './markers.ts';
import type { FileState } from './merge-input.ts';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const state = (text: string): FileState => ({ content: bytes(text), mode: 'file' });
const labels = { base: 'base', current: 'current', incoming: 'incoming' };

function render(
  base: string,
  current: string,
  incoming: string,
  options: MarkerOptions = { style: 'merge', labels },
): string {
  const input = { path: 'f', base: state(base), current: state(current), incoming: state(incoming) };
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(renderConflict(input, options));
}

const swap = (text: string): string =>
  text.replace(
    /<<<<<<< current(\r\n)([^]*?)=======\r\n([^]*?)>>>>>>> incoming/,
    '<<<<<<< current$1$3=======\r\n$2>>>>>>> incoming',
  );

describe('renderConflict', () => {
  it('marks a conflict and keeps what merged around it', () => {
    expect(render('a\nb\nc\nd\n', 'A\nb\nX\nd\n', 'a\nb\nY\nd\n')).toBe(
      'A\nb\n<<<<<<< current\nX\n=======\nY\n>>>>>>> incoming\nd\n',
    );
    expect(render('a\n', 'b\n', 'c\n', { style: 'diff3' })).toBe(
      '<<<<<<< current\nb\n||||||| base\na\n=======\nc\n>>>>>>> incoming\n',
    );
  });

  it('puts markers on their own lines though no side ends in a newline (case 29)', () => {
    expect(render('x', 'y', 'z', { style: 'diff3', labels })).toBe(
      '<<<<<<< current\ny\n||||||| base\nx\n=======\nz\n>>>>>>> incoming\n',
    );
    expect(render('', 'y', 'z\n')).toBe('<<<<<<< current\ny\n=======\nz\n>>>>>>> incoming\n');
  });

  it('keeps the end of file where it is not in conflict', () => {
    expect(render('a\nb\nc', 'x\nb\nc', 'y\nb\nc')).toBe('<<<<<<< current\nx\n=======\ny\n>>>>>>> incoming\nb\nc');
    expect(render('a\nb', 'x\nb', 'y\nb\n')).toBe('<<<<<<< current\nx\nb\n=======\ny\nb\n>>>>>>> incoming\n');
  });

  it('uses the line ending of the file, whichever side is which (case 30)', () => {
    const rendered = render('a\r\nb\r\n', 'a\r\nx\r\n', 'a\r\ny');
    expect(rendered).toBe('a\r\n<<<<<<< current\r\nx\r\n=======\r\ny\r\n>>>>>>> incoming\r\n');
    expect(render('a\r\nb\r\n', 'a\r\ny', 'a\r\nx\r\n')).toBe(swap(rendered));
    expect(render('a\nb\n', 'a\nx\r\n', 'a\ny\n')).toContain('=======\ny\n');
    // The ending of most lines, of both sides together.
    expect(render('b\n', 'c\r\n', 'x\ny\n')).toContain('=======\n');
    expect(render('b\n', 'x\ny\n', 'c\r\n')).toContain('=======\n');
  });

  it('leaves shared edges of a hunk outside in the merge style only', () => {
    const sides = ['m\n', 'p\nx\nq\n', 'p\ny\nq\n'] as const;
    expect(render(...sides)).toBe('p\n<<<<<<< current\nx\n=======\ny\n>>>>>>> incoming\nq\n');
    expect(render(...sides, { style: 'diff3' })).toBe(
      '<<<<<<< current\np\nx\nq\n||||||| base\nm\n=======\np\ny\nq\n>>>>>>> incoming\n',
    );
  });

  it('lets no label forge a marker', () => {
    expect(render('a\n', 'b\n', 'c\n', { style: 'merge', labels: { ...labels, current: 'x\n=======\ry' } })).toBe(
      '<<<<<<< x ======= y\nb\n=======\nc\n>>>>>>> incoming\n',
    );
  });

  it('takes an absent side for empty, and marks no binary and no link', () => {
    const text = { content: bytes('a\n'), mode: 'file' as const };
    const other = { content: bytes('b\n'), mode: 'file' as const };
    const half = renderConflict({ path: 'f', base: text, current: other, incoming: null }, { style: 'merge' });
    expect(new TextDecoder().decode(half)).toBe('<<<<<<< current\nb\n=======\n>>>>>>> incoming\n');
    const binary = { content: Uint8Array.of(0), mode: 'file' as const };
    expect(
      renderConflict({ path: 'f', base: text, current: other, incoming: binary }, { style: 'merge' }),
    ).toBeUndefined();
    const link = { content: bytes('c'), mode: 'symlink' as const };
    expect(
      renderConflict({ path: 'f', base: link, current: other, incoming: text }, { style: 'merge' }),
    ).toBeUndefined();
  });

  it('renders a conflict of 300,000 lines', () => {
    expect(render('', 'c\n'.repeat(300_000), 'i\n'.repeat(300_000)).split('\n').length).toBe(600_004);
  });
});

const casesFolder = fileURLToPath(new URL('../../../../../shared/cases/09-marker-line-endings/', import.meta.url));
const hasCases = existsSync(casesFolder);

describe.skipIf(!hasCases)(`cases in ${casesFolder}${hasCases ? '' : ' (absent)'}`, () => {
  it.each(['crlf', 'no-eol'])('09: %s', (name) => {
    const read = (file: string): string => readFileSync(`${casesFolder}${name}/${file}.txt`, 'utf8');
    const options = { style: 'diff3', labels: { base: 'base', current: 'ours', incoming: 'theirs' } } as const;
    expect(render(read('base'), read('ours'), read('theirs'), options)).toBe(read('expected.diff3'));
  });
});
