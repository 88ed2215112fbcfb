import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isBinary, joinLines, splitLines } from './lines.ts';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

describe('splitLines', () => {
  it('keeps each line ending, and a last line without one', () => {
    expect(splitLines(bytes('a\r\nb\n\r\rc'))).toEqual(['a\r\n', 'b\n', '\r\rc']);
    expect(splitLines(bytes(''))).toEqual([]);
    expect(splitLines(bytes('\n\n'))).toEqual(['\n', '\n']);
  });

  it('reads only its own part of a shared buffer', () => {
    expect(splitLines(bytes('xxa\nbyy').subarray(2, 5))).toEqual(['a\n', 'b']);
  });

  it('joins to the same bytes, a byte order mark included', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom('a', '\n', '\r\n', '\r', '\ufeff', 'é', '😀', '\u2028') }),
        (text) => {
          expect(joinLines(splitLines(bytes(text)))).toEqual(bytes(text));
        },
      ),
    );
  });
});

describe('isBinary', () => {
  it.each([
    ['text', bytes('é\n'), false],
    ['nothing', bytes(''), false],
    ['a NUL', bytes('a\0b'), true],
    ['a stray continuation byte', Uint8Array.of(0x61, 0x80), true],
    ['an encoded surrogate', Uint8Array.of(0xed, 0xa0, 0x80), true],
    ['an overlong form', Uint8Array.of(0xc0, 0x80), true],
    ['Latin-1', Uint8Array.of(0xe9, 0x0a), true],
  ])('%s: %#', (_name, content, expected) => {
    expect(isBinary(content)).toBe(expected);
  });
});
