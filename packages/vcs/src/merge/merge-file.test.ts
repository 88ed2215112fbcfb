import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import type { Mode } from '../core/mode.ts';
import { mergeFile } from './merge-file.ts';
import type { FileState } from './merge-input.ts';
import type { ConflictedMerge, MergeResult } from './merge-result.ts';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const textOf = (content: Uint8Array | undefined): string => new TextDecoder().decode(content);
const file = (text: string | Uint8Array | null, mode: Mode = 'file'): FileState | null =>
  text === null ? null : { content: typeof text === 'string' ? bytes(text) : text, mode };
type Given = FileState | string | null;
const stateOf = (given: Given): FileState | null => (typeof given === 'string' ? file(given) : given);
const merge = (base: Given, current: Given, incoming: Given): MergeResult =>
  mergeFile({ path: 'f', base: stateOf(base), current: stateOf(current), incoming: stateOf(incoming) });

/** `mode text` of a clean merge, `absent`, or the reason of a conflict. */
function verdict(base: Given, current: Given, incoming: Given): string {
  const result = merge(base, current, incoming);
  if (result.kind === 'conflict') return result.reason;
  return result.result === null ? 'absent' : `${result.result.mode} ${textOf(result.result.content)}`;
}

function conflictOf(base: Given, current: Given, incoming: Given): ConflictedMerge {
  const result = merge(base, current, incoming);
  if (result.kind !== 'conflict') throw new Error('merged clean');
  return result;
}

const exec = (text: string): FileState | null => file(text, 'executable');
const link = (text: string): FileState | null => file(text, 'symlink');
const gitlink = (text: string): FileState | null => file(text, 'gitlink');
const png = (last: number): FileState | null => file(Uint8Array.of(0x89, 0x50, 0, last));

const markedAt2And4And6And12 = (mark: string): string =>
  Array.from({ length: 14 }, (_, index) =>
    [2, 4, 6, 12].includes(index + 1) ? `${mark}${index + 1}\n` : `${index + 1}\n`,
  ).join('');

describe('mergeFile', () => {
  const table: [name: string, base: Given, current: Given, incoming: Given, expected: string][] = [
    ['only incoming changed', 'a\n', 'a\n', 'b\n', 'file b\n'],
    ['only current changed', 'a\n', 'b\n', 'a\n', 'file b\n'],
    ['both changed alike', 'a\n', 'b\n', 'b\n', 'file b\n'],
    ['both added the same (case 21)', null, 'a\n', 'a\n', 'file a\n'],
    ['only one added', null, null, 'a\n', 'file a\n'],
    ['both added, each its own', null, 'a\n', 'b\n', 'add/add'],
    ['both deleted (case 22)', 'a\n', null, null, 'absent'],
    ['both emptied (case 22)', 'a\n', '', '', 'file '],
    ['one emptied, one deleted', 'a\n', '', null, 'modify/delete'],
    ['one edited, one deleted (case 23)', 'a\n', 'b\n', null, 'modify/delete'],
    ['one deleted, one edited (case 23)', 'a\n', null, 'b\n', 'delete/modify'],
    ['one made executable, one deleted', 'a\n', exec('a\n'), null, 'modify/delete'],
    ['one deleted, one untouched', 'a\n', null, 'a\n', 'absent'],
    ['text, far apart', 'a\nb\nc\n', 'A\nb\nc\n', 'a\nb\nC\n', 'file A\nb\nC\n'],
    ['text, the same line', 'a\n', 'b\n', 'c\n', 'content'],
    ['a missing last line ending is kept', 'a\nb\nc', 'A\nb\nc', 'a\nb\nC', 'file A\nb\nC'],
    ['a last line ending that one side took away', 'a\nb\nc\n', 'A\nb\nc\n', 'a\nb\nc', 'file A\nb\nc'],
    ['CRLF and LF are kept as they are', 'a\r\nb\nc\r\n', 'A\r\nb\nc\r\n', 'a\r\nb\nC\n', 'file A\r\nb\nC\n'],
    ['binary, both changed', png(1), png(2), png(3), 'binary'],
    ['binary to text on one side', png(1), png(2), 'text\n', 'binary'],
    ['text to invalid UTF-8', 'a\n', file(Uint8Array.of(0xff, 10)), 'b\n', 'binary'],
    ['one mode, one text', 'a\n', exec('a\n'), 'b\n', 'executable b\n'],
    ['one text, one mode', 'a\n', 'b\n', exec('a\n'), 'executable b\n'],
    ['mode with each side and a clean text', 'a\nb\nc\n', exec('A\nb\nc\n'), 'a\nb\nC\n', 'executable A\nb\nC\n'],
    ['no longer executable', exec('a\n'), 'a\n', exec('b\n'), 'file b\n'],
    ['the same content added with two modes', null, 'a\n', exec('a\n'), 'mode'],
    ['symlinks to two places', link('a'), link('b'), link('c'), 'symlink'],
    ['symlinks that a line merge could join', link('a\nb\nc'), link('A\nb\nc'), link('a\nb\nC'), 'symlink'],
    ['symlink, one changed', link('a'), link('b'), link('a'), 'symlink b'],
    ['gitlinks to two commits', gitlink('1'), gitlink('2'), gitlink('3'), 'gitlink'],
    ['both added symlinks', null, link('a'), link('b'), 'add/add'],
    ['both added, a file and a symlink', null, 'a', link('a'), 'add/add'],
    ['edited, and made a symlink', 'a\n', 'b\n', link('x'), 'type'],
    ['edited, and made a symlink of the same bytes', 'a', 'b', link('a'), 'type'],
    ['made executable, and made a symlink', 'a', exec('a'), link('x'), 'type'],
    ['untouched, and made a symlink', 'a', 'a', link('x'), 'symlink x'],
    ['a symlink that became two files', link('a'), 'b\n', 'c\n', 'type'],
  ];

  it.each(table)('%s', (_name, base, current, incoming, expected) => {
    expect(verdict(base, current, incoming)).toBe(expected);
  });

  it.each(table)('%s: the sides swapped', (_name, base, current, incoming, expected) => {
    const swapped: Record<string, string> = { 'modify/delete': 'delete/modify', 'delete/modify': 'modify/delete' };
    expect(verdict(base, incoming, current)).toBe(swapped[expected] ?? expected);
  });

  it('names its driver', () => {
    expect(merge('a\n', 'a\n', 'b\n').driver).toBe('whole');
    expect(merge('a\nb\nc\n', 'A\nb\nc\n', 'a\nb\nC\n').driver).toBe('text');
    expect(merge(png(1), png(2), png(3)).driver).toBe('binary');
  });

  it('gives each hunk with its place and exact bytes on every side', () => {
    const { hunks } = conflictOf('a\nb\nc\nd', 'a\nx\ny\nc\nD', 'n\na\nz\nc\nE\n');
    expect(hunks.map((hunk) => [hunk.index, hunk.base.start, hunk.current.start, hunk.incoming.start])).toEqual([
      [0, 2, 2, 3],
      [1, 4, 5, 5],
    ]);
    expect(hunks.map(({ base, current, incoming }) => [base, current, incoming].map((side) => side.count))).toEqual([
      [1, 2, 1],
      [1, 1, 1],
    ]);
    expect(
      hunks.map(({ base, current, incoming }) => [base, current, incoming].map((side) => textOf(side.text))),
    ).toEqual([
      ['b\n', 'x\ny\n', 'z\n'],
      ['d', 'D', 'E\n'],
    ]);
  });

  it('keeps both versions of an edit against a delete (case 23), and of binaries', () => {
    const [hunk] = conflictOf('a\n', 'a changed\n', null).hunks;
    expect(textOf(hunk?.current.text)).toBe('a changed\n');
    expect(textOf(hunk?.base.text)).toBe('a\n');
    expect(hunk?.incoming).toEqual({ start: 1, count: 0, text: bytes('') });
    const [whole] = conflictOf(png(1), png(2), png(3)).hunks;
    expect([whole?.current.text.at(-1), whole?.incoming.text.at(-1)]).toEqual([2, 3]);
  });

  it('calls a deleted and an extended import a conflict (case 26)', () => {
    const rest = '\nuse();\n';
    expect(
      verdict(`import {\n  a,\n  b,\n} from 'm';\n${rest}`, rest, `import {\n  a,\n  b,\n  c,\n} from 'm';\n${rest}`),
    ).toBe('content');
  });

  it('does not weave two JSON files into a broken one (case 27)', () => {
    expect(verdict(null, '{\n  "a": 1\n}\n', '{\n  "b": 2\n}\n')).toBe('add/add');
    expect(verdict('{\n}\n', '{\n  "a": 1\n}\n', '{\n  "b": 2\n}\n')).toBe('content');
  });

  it('keeps a constant that one side added beside an import of both (case 28)', () => {
    const result = merge('run();\n', "import 'a';\nrun();\n", "import 'a';\nconst limit = 1;\nrun();\n");
    const kept = result.kind === 'clean' ? result.result?.content : result.hunks[0]?.incoming.text;
    expect(textOf(kept)).toContain('const limit = 1;\n');
  });

  it('keeps the executable bit that both sides set beside a conflict (case 31)', () => {
    expect(conflictOf('a\n', exec('b\n'), exec('c\n')).mode).toBe('executable');
    expect(conflictOf('a\n', exec('b\n'), 'c\n').mode).toBe('executable');
    expect(conflictOf(null, exec('b\n'), 'c\n').mode).toBeNull();
  });

  it('gives an untouched binary back byte for byte (case 32)', () => {
    const image = file(Uint8Array.from({ length: 512 }, (_, index) => index & 255));
    expect(merge(image, image, image)).toMatchObject({ kind: 'clean', driver: 'whole', result: image });
  });

  it('reports every conflict in order, past line 10 too (case 33)', () => {
    const { hunks } = conflictOf(...(['b', 'c', 'i'].map(markedAt2And4And6And12) as [string, string, string]));
    expect(hunks.map((hunk) => hunk.base.start)).toEqual([2, 4, 6, 12]);
    expect(hunks.map((hunk) => hunk.index)).toEqual([0, 1, 2, 3]);
  });
});

interface Row {
  readonly name: string;
  readonly base: string | null;
  readonly ours: string | null;
  readonly theirs: string | null;
  readonly right: string;
}

/** Rows that hold directories concern several paths: cases for the store. */
const isOfOneFile = ({ base, ours: current, theirs: incoming }: Row): boolean =>
  [base, current, incoming].every((given) => typeof given === 'string' || given === null);

function shown(result: MergeResult): object {
  if (result.kind === 'clean')
    return { kind: 'clean', text: result.result ? textOf(result.result.content) : undefined };
  const [hunk] = result.hunks;
  return { kind: 'conflict', reason: result.reason, texts: [textOf(hunk?.current.text), textOf(hunk?.incoming.text)] };
}

const casesFolder = fileURLToPath(new URL('../../../../../shared/cases/', import.meta.url));
const hasCases = existsSync(casesFolder);

const readCase08 = (name: string): string => readFileSync(`${casesFolder}08-hunk-order-text-sort/${name}.txt`, 'utf8');

describe.skipIf(!hasCases)(`cases in ${casesFolder}${hasCases ? '' : ' (absent)'}`, () => {
  const rows = hasCases
    ? (JSON.parse(readFileSync(`${casesFolder}07-create-delete-collisions/table.json`, 'utf8')) as Row[])
    : [];

  it.each(rows.filter(isOfOneFile).map((row) => [row.name, row] as const))('07: %s', (_name, row) => {
    const result = merge(row.base, row.ours, row.theirs);
    const reason = /conflict kind=([a-z/]+)/.exec(row.right)?.[1];
    const texts = [row.ours ?? '', row.theirs ?? ''];
    expect(shown(result)).toEqual(
      reason === undefined
        ? { kind: row.right.slice(0, 5), text: row.right.includes('path absent') ? undefined : row.ours }
        : { kind: 'conflict', reason, texts },
    );
  });

  it('08: hunks are not sorted as text', () => {
    expect(verdict(readCase08('base'), readCase08('ours'), readCase08('theirs'))).toBe(
      `file ${readCase08('expected')}`,
    );
  });
});
