import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { addedMarkers } from './added-markers.ts';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const added = (result: string, ...inputs: string[]): number[] => addedMarkers(bytes(result), inputs.map(bytes));

describe('addedMarkers', () => {
  it('finds each kind of marker, with CRLF and as the last line too', () => {
    expect(added('<<<<<<< a\r\nx\r\n||||||| b\r\n=======\r\n>>>>>>> c', 'x\n')).toEqual([1, 3, 4, 5]);
    expect(added('<<<<<<<\n=======\n>>>>>>>\n', '')).toEqual([1, 2, 3]);
  });

  it('takes no other line for a marker', () => {
    expect(added('========\n=======x\n <<<<<<< a\n<<<<<< a\n<<<<<<<a\n', '')).toEqual([]);
  });

  it('lets pass what stood in an input as often', () => {
    expect(added('Title\n=======\n', 'Title\n=======\n')).toEqual([]);
    expect(added('Title\n=======\n=======\n', 'Title\n=======\n')).toEqual([2, 3]);
    expect(added('=======\n', 'x\n', '=======\r\n')).toEqual([]);
  });

  it('lets both sides add such a line', () => {
    expect(added('A\n=======\nB\n=======\n', '', 'A\n=======\n', 'B\n=======\n')).toEqual([]);
    expect(added('A\n=======\nB\n=======\n', '=======\n', 'A\n=======\n', 'B\n=======\n')).toEqual([2, 4]);
  });

  it('reads a resolution that is not UTF-8', () => {
    expect(addedMarkers(Uint8Array.of(0xff, 10, ...bytes('=======\n')), [])).toEqual([2]);
  });
});

const casesFolder = fileURLToPath(new URL('../../../../../shared/cases/12-markers-committed/', import.meta.url));
const hasCases = existsSync(casesFolder);

const read = (name: string): string => readFileSync(casesFolder + name, 'utf8');

describe.skipIf(!hasCases)(`cases in ${casesFolder}${hasCases ? '' : ' (absent)'}`, () => {
  const sides = ['keep\nbase\nend\n', 'keep\nleft\nend\n', 'keep\nright\nend\n'];

  it('12: unresolved and half resolved are found', () => {
    expect(added(read('unresolved.txt'), ...sides)).toEqual([2, 4, 6]);
    expect(added(read('half-resolved.txt'), ...sides)).toEqual([3]);
    expect(added(read('resolved.txt'), ...sides)).toEqual([]);
  });

  it.each(['innocent.rst', 'innocent-doc.md'])('12: %s passes, its lines were there before', (name) => {
    const text = read(name);
    expect(added(text, text, text, text)).toEqual([]);
    expect(added(`${text}one more line\n`, text, text, text)).toEqual([]);
    expect(added(text, text).length + added(text).length).toBeGreaterThan(0);
  });
});
