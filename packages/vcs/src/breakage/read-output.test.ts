import { expect, test } from 'vitest';
import { cargoFull, cargoShort, clangOutput, eslintOutput, gccOutput, goOutput, pythonOutput, tscPlain, tscPretty } from './output.test.kit.ts'; // prettier-ignore
import { readDiagnostics } from './read-output.ts';

const brief = (output: string): string[] =>
  readDiagnostics(output).map(({ tool, path, line, column, code, related }) => {
    const others = related.map((place) => `${place.path}:${place.line}`).join(' ');
    return `${tool} ${path}:${line}:${column ?? '-'} ${code ?? '-'}${others === '' ? '' : ` < ${others}`}`;
  });

const tsc = [
  'tsc src/a.ts:2:94 TS2554',
  'tsc src/b.ts:1:22 TS2305',
  'tsc src/b.ts:2:14 TS2322',
  'tsc src/b.ts:2:48 TS2322',
];

test('tsc, plain and for people', () => {
  expect(brief(tscPlain)).toEqual(tsc);
  const [first, second, third, last] = tsc;
  expect(brief(tscPretty)).toEqual([`${first} < src/core.ts:5`, second, third, `${last} < src/core.ts:2`]);
  expect(readDiagnostics(tscPretty)[0]).toMatchObject({
    message: 'Expected 2 arguments, but got 1.',
    source: 'export const total = (texts: readonly string[]): number => texts.reduce((sum, text) => sum + parseCount(text), 0);',
  });
}); // prettier-ignore

test('cargo, in full and in short', () => {
  expect(brief(cargoFull)).toEqual([
    'rustc src/report.rs:1:5 E0432',
    'rustc src/report.rs:4:42 E0560',
    'rustc src/report.rs:5:45 E0308 < src/core.rs:5',
    'rustc src/main.rs:5:20 E0061 < src/core.rs:5',
  ]);
  expect(readDiagnostics(cargoFull)[3]).toMatchObject({ source: '    println!("{}", parse_count("1"));' });
  expect(brief(cargoShort)).toEqual(brief(cargoFull).map((line) => line.replace(/ <.*/, '')));
});

test('gcc and clang, with the places of their notes', () => {
  expect(brief(gccOutput)).toEqual(['gcc main.c:3:31 -', 'gcc main.c:4:10 - < core.h:2']);
  expect(brief(clangOutput)).toEqual(['gcc main.c:4:24 - < core.h:2']);
});

test('Python: where it was raised, and from where that was called', () => {
  expect(brief(pythonOutput)).toEqual([
    'python /home/ada/py/report.py:5:- TypeError < /home/ada/py/report.py:8',
    'python /home/ada/py/bad.py:2:- AttributeError',
    'python /home/ada/py/syntax.py:1:- SyntaxError',
  ]);
  expect(readDiagnostics(pythonOutput)[0]).toMatchObject({ source: 'print(parse_count("1"))' });
});

test('go and ESLint', () => {
  expect(brief(goOutput)).toEqual(['go main.go:7:24 -', 'go report/report.go:12:2 -']);
  expect(brief(eslintOutput)).toEqual(['eslint /home/ada/src/a.ts:2:94 @typescript-eslint/no-unsafe-call']);
});

test('what is no diagnostic gives none, and any text is read in bounded time', () => {
  expect(readDiagnostics('')).toEqual([]);
  expect(readDiagnostics('all 12 tests passed\nDone in 3:20 minutes\n  at error: none\n')).toEqual([]);
  expect(readDiagnostics(`${'a:'.repeat(300_000)}\n${' '.repeat(300_000)}(1,1)`)).toEqual([]);
  expect(brief(`${tscPlain}\r\n${cargoShort}`)).toHaveLength(8);
});
