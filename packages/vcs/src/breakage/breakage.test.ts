import { describe, expect, test } from 'vitest';
import { breakageOf } from './breakage.ts';
import { changedSymbols, declarationLine } from './changed-symbols.ts';
import { breakageComment, insertComment } from './comment.ts';
import { explainBy, isSamePath, weightOf } from './explain.ts';
import { readDiagnostics } from './read-output.ts';

const breakage = breakageOf(
  'callers say\nwhich */ base --> they mean',
  { name: 'w', kind: 'agent', agent: 'w-3' },
  'run/t-2',
);
const note = (text: string): string => `@breakage ${breakage.id} by w-3, task run/t-2: callers say which ${text}`;

test('a comment has the form of its file, and nothing in it ends it', () => {
  const comments = ['a.ts', 'src/b.rs', 'c.py', 'Makefile', 'd.css', 'e.html', 'f.sql', 'g.json', 'LICENSE'];
  expect(comments.map((path) => breakageComment(path, breakage))).toEqual([
    `// ${note('*/ base --> they mean')}`,
    `// ${note('*/ base --> they mean')}`,
    `# ${note('*/ base --> they mean')}`,
    `# ${note('*/ base --> they mean')}`,
    `/* ${note('* / base --> they mean')} */`,
    `<!-- ${note('*/ base - - > they mean')} -->`,
    `-- ${note('*/ base --> they mean')}`,
    undefined,
    undefined,
  ]);
});

test('the id follows from who breaks what for which task, and why', () => {
  const author = { name: 'w', kind: 'agent', agent: 'w-3' } as const;
  expect(breakage.id).toMatch(/^[0-9a-f]{8}$/);
  expect(breakageOf('callers  say which */ base --> they mean', author, 'run/t-2').id).toBe(breakage.id);
  expect(breakageOf('callers say', author, 'run/t-2').id).not.toBe(breakage.id);
  expect(breakageOf(breakage.rationale, author, undefined).id).not.toBe(breakage.id);
});

test('it stands before the line, with its indentation and line end, and after what has to be first', () => {
  expect(insertComment('a\n  b\n', 1, '// c')).toBe('a\n  // c\n  b\n');
  expect(insertComment('a\r\n\tb\r\n', 1, '// c')).toBe('a\r\n\t// c\r\n\tb\r\n');
  expect(insertComment('a', 1, '// c')).toBe('a\n// c\n');
  expect(insertComment('#!/bin/sh\nx\n', 0, '# c')).toBe('#!/bin/sh\n# c\nx\n');
  expect(insertComment('', 0, '# c')).toBe('# c\n');
});

describe('changed symbols', () => {
  const names = (text: string, ...at: number[]): string[] => {
    const lines = text.split('\n');
    const { declared, members } = changedSymbols(lines, at.map((start) => ({ start, count: 1 }))); // prettier-ignore
    return [...declared, ...[...members].map((name) => `.${name}`)];
  };

  test('what a line declares, in several languages', () => {
    expect(names('export async function load<T>(x) {', 0)).toEqual(['load']);
    expect(names('pub(crate) fn parse(x: u8) -> u8 {', 0)).toEqual(['parse']);
    expect(names('func (r *Reader) Read(p []byte) {', 0)).toEqual(['Read']);
    expect(names('def parse(text):', 0)).toEqual(['parse']);
    expect(names('int parse_count(const char *text);', 0)).toEqual(['parse_count']);
    expect(names('#define LIMIT 3', 0)).toEqual(['LIMIT']);
    expect(names('const a = 1, let_ = 2; let b = 3;', 0)).toEqual(['a', 'b']);
  });

  test('what a changed line stands in, and the member that it is', () => {
    const text =
      'export interface Options {\n  readonly radix: number;\n  strict?: boolean;\n}\n\nif (x) {\n  y(1);\n}';
    expect(names(text, 1)).toEqual(['Options', '.radix']);
    expect(names(text, 2)).toEqual(['Options', '.strict']);
    expect(names(text, 6)).toEqual(['.y']);
    expect(names('class A {\n  run() {\n    if (this) {\n      go();\n    }\n  }\n}', 3)).toEqual(['A', '.go']);
    expect(declarationLine(text.split('\n'), 1)).toBe(0);
    expect(declarationLine(text.split('\n'), 6)).toBe(6);
  });
});

describe('a diagnostic is explained', () => {
  const core = { path: 'lib/src/core.ts', ranges: [{ start: 4, count: 1 }], declared: new Set(['parseCount']), members: new Set(['radix']) }; // prettier-ignore
  const explain = (output: string, source = ''): string[] =>
    explainBy(readDiagnostics(output), [core], () => source).map(
      ({ by, symbols }) => `${by.join(' ')}: ${symbols.join(' ')}`,
    );

  test('by the names in its message or its line, by lines and by the file', () => {
    expect(explain("src/b.ts(1,2): error TS1: no member 'parseCount'.")).toEqual(['symbol: parseCount']);
    expect(explain('src/b.ts(1,20): error TS1: Expected 2 arguments.', 'const x = 1 + parseCount(1);')).toEqual(['symbol: parseCount']); // prettier-ignore
    expect(explain('src/core.ts(5,2): error TS1: what.')).toEqual(['range file: ']);
    expect(explain('src/core.ts(9,2): error TS1: what.')).toEqual(['file: ']);
    expect(explain('src/other.ts(9,2): error TS1: what.', 'parseCounts(1)')).toEqual([]);
    // A member's name alone is too common to go by, unless the error is about it.
    expect(explain('src/b.ts(1,1): error TS1: what.', 'f({ radix: 1 })')).toEqual([]);
    expect(explain('src/b.ts(1,5): error TS1: what.', 'f({ radix: 1 })')).toEqual(['symbol: radix']);
  });

  test('and weighed: names count most', () => {
    const weigh = (output: string): number => weightOf(explainBy(readDiagnostics(output), [core], () => ''));
    expect(weigh("x.ts(1,1): error TS1: 'parseCount'.")).toBe(4);
    expect(weigh('core.ts(5,1): error TS1: what.')).toBe(3);
    expect(weigh("core.ts(5,1): error TS1: 'parseCount'.")).toBe(7);
    expect(weigh('x.ts(5,1): error TS1: what.')).toBe(0);
  });

  test('paths are the same from wherever a tool ran', () => {
    expect(isSamePath('core.ts', 'lib/src/core.ts')).toBe(true);
    expect(isSamePath('/tmp/x/lib/src/core.ts', 'lib/src/core.ts')).toBe(true);
    expect(isSamePath('score.ts', 'lib/src/core.ts')).toBe(false);
  });
});
