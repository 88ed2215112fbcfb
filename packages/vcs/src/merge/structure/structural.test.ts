import { beforeAll, describe, expect, test } from 'vitest';
import { mergeFile } from '../merge-file.ts';
import { structuralDriverOf, type StructuralDriver } from './structural.ts';

const drivers = new Map<string, StructuralDriver>();

beforeAll(async () => {
  for (const path of ['a.ts', 'a.tsx', 'a.js', 'a.rs']) {
    const driver = structuralDriverOf(path);
    if (driver === undefined) throw new Error(`no grammar for ${path} is installed`);
    await driver.load();
    drivers.set(path, driver);
  }
});

interface Merged {
  /** The text, or `conflict`. */
  readonly text: string;
  /** Verdicts: of the lines, of the structure. */
  readonly verdicts: string;
  readonly hunks: number;
}

function merge(path: string, base: string, current: string, incoming: string): Merged {
  const [was, mine, other] = [base, current, incoming].map((text) => ({ content: Buffer.from(text), mode: 'file' as const })); // prettier-ignore
  const result = mergeFile(
    { path, base: was ?? null, current: mine ?? null, incoming: other ?? null },
    drivers.get(path),
  );
  const verdicts = `${result.lines} ${result.structure}`;
  if (result.kind === 'conflict') return { text: 'conflict', verdicts, hunks: result.hunks.length };
  return { text: Buffer.from(result.result?.content ?? '').toString(), verdicts, hunks: 0 };
}

const fn = (name: string, body = 'return 1;'): string => `function ${name}() {\n  ${body}\n}\n`;
const file = (...parts: string[]): string => parts.join('\n');

describe('a conflict of lines becomes a clean merge of whole declarations', () => {
  test('both sides add functions at one place', () => {
    const base = file(fn('a'), fn('z'));
    expect(merge('a.ts', base, file(fn('a'), fn('mine'), fn('z')), file(fn('a'), fn('other'), fn('z')))).toEqual({
      text: file(fn('a'), fn('mine'), fn('other'), fn('z')),
      verdicts: 'conflict clean',
      hunks: 0,
    });
  });

  test('at the end of the file, without a newline there', () => {
    const merged = merge(
      'a.ts',
      fn('a').trimEnd(),
      `${fn('a')}\n${fn('b').trimEnd()}`,
      `${fn('a')}\n${fn('c').trimEnd()}`,
    );
    expect(merged.text).toBe(file(fn('a'), fn('b'), fn('c')).trimEnd());
  });

  test('both sides add imports, one also a constant next to them (case 28)', () => {
    const base = "import { a } from './a';\n\nexport const x = a;\n";
    const current = "import { a } from './a';\nimport { b } from './b';\n\nconst limit = 3;\n\nexport const x = a;\n";
    const incoming = "import { a } from './a';\nimport { c } from './c';\n\nexport const x = a;\n";
    const { text } = merge('a.ts', base, current, incoming);
    expect(text).toBe(
      "import { a } from './a';\nimport { b } from './b';\nimport { c } from './c';\n\nconst limit = 3;\n\nexport const x = a;\n",
    );
  });

  test('each side edits another method, which the lines glue together', () => {
    const of = (one: string, two: string): string =>
      `class A {\n  one() { return ${one}; }\n  two() { return ${two}; }\n}\n`;
    expect(merge('a.ts', of('1', '1'), of('2', '1'), of('1', '2'))).toMatchObject({
      text: of('2', '2'),
      verdicts: 'conflict clean',
    });
  });

  test('both sides add methods to a class, and tests to a group', () => {
    const classOf = (...names: string[]): string => `export class A {\n${names.map((n) => `  ${n}() {\n    return 1;\n  }\n`).join('\n')}}\n`; // prettier-ignore
    expect(merge('a.tsx', classOf('a'), classOf('a', 'b'), classOf('a', 'c')).text).toBe(classOf('a', 'b', 'c'));
    const group = (...names: string[]): string => `describe('x', () => {\n${names.map((n) => `  it('does ${n}', () => {\n    go();\n  });\n`).join('\n')}});\n`; // prettier-ignore
    expect(merge('a.js', group('a'), group('a', 'b'), group('a', 'c')).text).toBe(group('a', 'b', 'c'));
  });

  test('Rust: functions, methods of an impl, uses', () => {
    const rust = (name: string): string => `fn ${name}() -> u32 {\n    1\n}\n`;
    const merged = merge('a.rs', file(rust('a')), file(rust('a'), rust('b')), file(rust('a'), rust('c')));
    expect(merged).toMatchObject({ text: file(rust('a'), rust('b'), rust('c')), verdicts: 'conflict clean' });
    const impl = (...names: string[]): string => `impl Foo {\n${names.map((n) => `    fn ${n}(&self) {\n    }\n`).join('\n')}}\n`; // prettier-ignore
    expect(merge('a.rs', impl('a'), impl('a', 'b'), impl('a', 'c')).text).toBe(impl('a', 'b', 'c'));
    expect(merge('a.rs', 'use a::A;\n\nfn f() {}\n', 'use a::A;\nuse b::B;\n\nfn f() {}\n', 'use a::A;\nuse c::C;\n\nfn f() {}\n').text).toBe('use a::A;\nuse b::B;\nuse c::C;\n\nfn f() {}\n'); // prettier-ignore
  });
});

describe('what stays a conflict', () => {
  test.each([
    ['both add the same name with two bodies', '', fn('a', 'return 2;'), fn('a', 'return 3;')],
    ['one removes what the other changes', file(fn('a'), fn('b')), fn('b'), file(fn('a', 'return 2;'), fn('b'))],
    ['statements added at one place', 'a();\n', 'a();\nb();\n', 'a();\nc();\n'],
  ])('%s', (_name, base, current, incoming) => {
    expect(merge('a.ts', base, current, incoming)).toMatchObject({ text: 'conflict', verdicts: 'conflict conflict' });
  });

  test('lines of one body that both replaced, without a parse', () => {
    const merged = merge('a.ts', fn('a'), fn('a', 'return 2;'), fn('a', 'return 3;'));
    expect(merged).toMatchObject({ text: 'conflict', verdicts: 'conflict unasked' });
    const two = (one: string, other: string): string => fn('a', `go(${one});\n  go(${other});`);
    expect(merge('a.ts', two('1', '1'), two('2', '1'), two('1', '2')).verdicts).toBe('conflict unasked');
    // Items of a form that no pattern knows.
    const crates = (...names: string[]): string => names.map((name) => `extern crate ${name};\n`).join('');
    const was = crates('a', 'b') + crates('c', 'd');
    expect(merge('a.rs', was, crates('a'), crates('a', 'b') + crates('x', 'c', 'd')).verdicts).not.toContain('unasked');
    // A constant there may be a declaration.
    const constant = (value: string): string => fn('a', `const x = ${value};`);
    expect(merge('a.ts', constant('1'), constant('2'), constant('3')).verdicts).toBe('conflict conflict');
  });

  test('tests with one title that both added to a group at different places', () => {
    const group = (...bodies: string[]): string => `describe('x', () => {\n${bodies.join('\n')}});\n`;
    const of = (name: string, call = 'go();'): string => `  it('${name}', () => {\n    ${call}\n  });\n`;
    const base = group(of('a'), of('b'), of('c'));
    const merged = merge('a.js', base, group(of('a'), of('new'), of('b'), of('c')), group(of('a'), of('b'), of('new', 'run();'), of('c'))); // prettier-ignore
    expect(merged).toMatchObject({ text: 'conflict', verdicts: 'clean conflict' });
  });

  test('one deletes a multi-line import, the other extends it (case 26)', () => {
    const base = "import {\n  a,\n  b,\n} from './x';\nimport { y } from './y';\n\ny();\n";
    expect(
      merge('a.ts', base, "import { y } from './y';\n\ny();\n", base.replace('  b,\n', '  b,\n  c,\n')),
    ).toMatchObject({
      text: 'conflict',
    });
  });
});

describe('a clean merge of lines that would declare wrongly is a conflict', () => {
  test('both sides add one function at different places', () => {
    const base = file(fn('a'), fn('b'), fn('c'));
    const merged = merge(
      'a.ts',
      base,
      file(fn('x'), fn('a'), fn('b'), fn('c')),
      file(fn('a'), fn('b'), fn('c'), fn('x')),
    );
    expect(merged).toEqual({ text: 'conflict', verdicts: 'clean conflict', hunks: 1 });
  });

  test('both sides move one function to different places', () => {
    const base = file(fn('a'), fn('b'), fn('m', 'return m;'), fn('c'), fn('d'));
    const current = file(fn('m', 'return m;'), fn('a'), fn('b'), fn('c'), fn('d'));
    const incoming = file(fn('a'), fn('b'), fn('c'), fn('d'), fn('m', 'return m;'));
    expect(merge('a.ts', base, current, incoming)).toMatchObject({ text: 'conflict', verdicts: 'clean conflict' });
  });

  test('one renames a function to what the other adds', () => {
    const base = file(fn('a'), fn('b'), fn('c'));
    const merged = merge('a.ts', base, file(fn('new1'), fn('b'), fn('c')), file(fn('a'), fn('b'), fn('c'), fn('new1')));
    expect(merged).toMatchObject({ text: 'conflict', verdicts: 'clean conflict' });
  });

  test('an import of one name at two places', () => {
    const base = "import a from 'a';\nimport b from 'b';\nimport c from 'c';\n\nrun();\n";
    const current = `import { x } from 'x';\n${base}`;
    const incoming = base.replace("import c from 'c';\n", "import c from 'c';\nimport { x } from 'other';\n");
    expect(merge('a.ts', base, current, incoming)).toMatchObject({ text: 'conflict', verdicts: 'clean conflict' });
  });

  test('a method that comes to stand in another class', () => {
    const base = 'class A {\n  a() {}\n\n  b() {}\n\n  c() {}\n}\n';
    const current = 'class A {\n  a() {}\n}\n\nclass B {\n  b() {}\n\n  c() {}\n}\n';
    const incoming = 'class A {\n  a() {}\n\n  b() {}\n\n  c() {}\n\n  d() {}\n}\n';
    expect(merge('a.ts', base, current, incoming)).toMatchObject({ text: 'conflict', verdicts: 'clean conflict' });
  });

  test('what is taken apart is known by its source, and its names are counted', () => {
    const of = (...names: string[]): string => `const {\n${names.map((n) => `  ${n},\n`).join('')}} = require('x');\n`;
    const base = `${of('a', 'b', 'c', 'd')}\nrun();\n`;
    const edited = merge('a.js', base, base.replace('  a,\n', '  a,\n  x,\n'), base.replace('  d,\n', '  d,\n  y,\n'));
    expect(edited.text).toBe(`${of('a', 'x', 'b', 'c', 'd', 'y')}\nrun();\n`);
    const twice = merge('a.js', base, base.replace('  a,\n', '  a,\n  x,\n'), base.replace('  d,\n', '  d,\n  x,\n'));
    expect(twice).toMatchObject({ text: 'conflict', verdicts: 'clean conflict' });
    const replaced = merge('a.js', base, base.replace(of('a', 'b', 'c', 'd'), "import { a } from 'x';\n"), base.replace('  a,\n', '  e,\n')); // prettier-ignore
    expect(replaced.text).toBe('conflict');
  });

  test('Rust: the same function twice, but not under two conditions', () => {
    const rust = (name: string, before = ''): string => `${before}fn ${name}() -> u32 {\n    1\n}\n`;
    const base = file(rust('a'), rust('b'), rust('c'));
    const twice = merge('a.rs', base, file(rust('x'), base), file(base, rust('x')));
    expect(twice).toMatchObject({ text: 'conflict', verdicts: 'clean conflict' });
    const conditions = merge(
      'a.rs',
      base,
      file(rust('x', '#[cfg(unix)]\n'), base),
      file(base, rust('x', '#[cfg(windows)]\n')),
    );
    expect(conditions.verdicts).toBe('clean clean');
  });
});

describe('what cannot stand beside one another in Rust', () => {
  const type = (name: string, cfg = ''): string => `${cfg}pub type ${name} = u8;\n`;

  test('a name under a condition, and the same without one', () => {
    const base = file(type('A'), type('Z'));
    const current = file(type('A'), type('Handle', '#[cfg(unix)]\n'), type('Z'));
    const incoming = file(type('A'), type('Handle'), type('Z'));
    expect(merge('a.rs', base, current, incoming).verdicts).toBe('conflict conflict');
    // Wherever they stand.
    const apart = file(type('A'), type('Z'), type('Handle'));
    expect(merge('a.rs', base, file(type('Handle', '#[cfg(unix)]\n'), base), apart).verdicts).toBe('clean conflict');
    const both = file(type('Handle', '#[cfg(unix)]\n'), type('Handle', '#[cfg(windows)]\n'), base);
    expect(merge('a.rs', base, both, file(base, fn('x').replace('function', 'fn'))).text).not.toBe('conflict');
  });

  test('two implementations of one trait for one type, with other bounds', () => {
    const implementation = (bound: string): string =>
      `impl<T: ${bound}> fmt::Debug for Value<T> {\n    fn fmt(&self) -> u8 {\n        1\n    }\n}\n`;
    const base = file(type('A'), type('Z'));
    const added = (bound: string): string => file(type('A'), implementation(bound), type('Z'));
    expect(merge('a.rs', base, added('fmt::Display'), added('fmt::Debug')).verdicts).toBe('conflict conflict');
    expect(merge('a.rs', base, file(implementation('A'), base), file(base, implementation('B'))).verdicts).toBe(
      'clean conflict',
    );
  });
});

describe('where the lines are enough', () => {
  test('nothing is parsed', () => {
    const base = file(fn('a'), fn('b'), fn('c'));
    const merged = merge('a.ts', base, base.replace('return 1;', 'return 2;'), file(base, fn('d')));
    expect(merged.verdicts).toBe('clean unasked');
  });

  test('nor where both sides call the same function or macro, in places of their own', () => {
    for (const [path, call] of [
      ['a.ts', 'track(event, 1);'],
      ['a.rs', 'println!("{}", 1);'],
      ['a.rs', 'assert_eq!(one, two);'],
    ] as const) {
      const base =
        path === 'a.ts' ? file(fn('a'), fn('b')) : file('fn a() {\n    one();\n}\n', 'fn b() {\n    two();\n}\n');
      const [first, second] = path === 'a.ts' ? ['function a() {\n', 'function b() {\n'] : ['fn a() {\n', 'fn b() {\n'];
      const merged = merge(
        path,
        base,
        base.replace(first, `${first}    ${call}\n`),
        base.replace(second, `${second}    ${call}\n`),
      );
      expect([call, merged.verdicts]).toEqual([call, call.includes('{}') ? 'clean clean' : 'clean unasked']);
    }
  });

  test('but a member of an interface or an enum that both sides add is seen', () => {
    const members = (one: string, two: string): string =>
      `interface A {\n  a: 1;\n${one}  b: 2;\n  c: 3;\n${two}  d: 4;\n}\n`;
    const size = '  size: number;\n';
    expect(merge('a.ts', members('', ''), members(size, ''), members('', size)).verdicts).toBe('clean conflict');
    const variants = (one: string, two: string): string => `enum A {\n    B,\n${one}    C,\n    D,\n${two}    E,\n}\n`;
    const size2 = '    Size(u32),\n';
    expect(merge('a.rs', variants('', ''), variants(size2, ''), variants('', size2)).verdicts).toBe('clean conflict');
  });

  test('a text that cannot be parsed is left to them', () => {
    const base = 'function a( {\n\nb\n\nfunction (\n';
    expect(merge('a.ts', base, `function x() {}\n${base}`, `${base}function x() {}\n`).verdicts).toBe('clean unparsed');
  });

  test('a long text is left to them', () => {
    const base = `${'// a long line of comment, many times\n'.repeat(20_000)}\n${fn('a')}`;
    expect(merge('a.ts', base, `${fn('x')}${base}`, `${base}${fn('x')}`).verdicts).toBe('clean too-large');
  });
});
