import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, describe, expect, test } from 'vitest';

import { violationsOf } from './dependencies.ts';
import { duplicateShare, windowLines } from './duplication.ts';
import { likenessOf } from './likeness.ts';
import { addedLines, sizeOf } from './tree-text.ts';

let dir: string;
beforeEach(() => void (dir = mkdtempSync(join(tmpdir(), 'mound-measures-'))));
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const lines = (from: number, count: number): string =>
  Array.from({ length: count }, (_, at) => `const value${from + at} = ${from + at};\n`).join('');

describe('duplicates', () => {
  test('a window that stands twice counts with all its lines, one line less counts nothing', () => {
    const shared = lines(0, windowLines);
    expect(
      duplicateShare(
        new Map([
          ['a.js', shared + lines(100, 6)],
          ['b.js', lines(200, 6) + shared],
        ]),
      ),
    ).toBe(0.5);
    const shorter = lines(0, windowLines - 1);
    expect(
      duplicateShare(
        new Map([
          ['a.js', shorter + lines(100, 6)],
          ['b.js', lines(200, 6) + shorter],
        ]),
      ),
    ).toBe(0);
    expect(duplicateShare(new Map())).toBe(0);
  });

  test('indentation, empty lines and brackets do not hide it', () => {
    const text = lines(0, windowLines);
    const moved = text.replaceAll('const', '\n  }\n   const');
    expect(
      duplicateShare(
        new Map([
          ['a.js', text],
          ['b.js', moved],
        ]),
      ),
    ).toBe(1);
  });
});

test('likeness to a reference is told for the whole and for the file that is most alike', () => {
  writeFileSync(join(dir, 'reference.c'), lines(0, 40));
  writeFileSync(join(dir, 'reference.txt'), lines(500, 40));
  const found = likenessOf(
    new Map([
      ['copied.c', lines(0, 40)],
      ['own.c', lines(500, 40)],
    ]),
    [dir],
  );
  expect(found.most).toEqual({ path: 'copied.c', share: 1 });
  expect(found.share).toBeCloseTo(0.5, 1);
  expect(likenessOf(new Map([['own.c', lines(900, 40)]]), [dir])).toEqual({ share: 0, most: undefined });
});

describe('dependencies', () => {
  const found = (files: Record<string, string>, allow: string[] = []): string[] =>
    violationsOf(new Map(Object.entries(files)), allow).map(({ path, dependency }) => `${path}: ${dependency}`);

  test('of scripts: what is imported, without what belongs to the language or the tree', () => {
    const code = "import fs from 'node:fs';\nimport { x } from 'fs/promises';\nimport a from './a.js';\n// import b from 'commented';\n"; // prettier-ignore
    expect(found({ 'a.js': code })).toEqual([]);
    expect(found({ 'a.js': `${code}import p from "pg";\nconst s = require('@scope/sql/deep');` })).toEqual([
      'a.js: pg',
      'a.js: @scope/sql',
    ]);
    expect(found({ 'a.js': "await import('pg')" }, ['pg'])).toEqual([]);
    expect(found({ 'a.js': "import {\n  a,\n} from 'pg';\nexport * from 'sql';import 'left-pad'" })).toHaveLength(3);
    // Words of a program that only look like it.
    expect(found({ 'a.js': "const t = take('from') ? name('a table') : f('import') + g('x');" })).toEqual([]);
  });

  test('of manifests: npm, Cargo, Go, Python', () => {
    const cargo = '[package]\nname = "engine"\n[dependencies]\nparser = { path = "../parser" }\nrusqlite = "0.3"\n[dev-dependencies.rand]\nversion = "1"\n'; // prettier-ignore
    expect(found({ 'Cargo.toml': cargo })).toEqual(['Cargo.toml: rusqlite', 'Cargo.toml: rand']);
    expect(found({ 'package.json': '{"dependencies":{"pg":"1","own":"file:../own"},"devDependencies":{"vitest":"4"}}' })).toEqual(['package.json: pg', 'package.json: vitest']); // prettier-ignore
    expect(found({ 'go.mod': 'module x\nrequire github.com/a/sqlite v1.2.3\n' })).toEqual(['go.mod: github.com/a/sqlite']); // prettier-ignore
    expect(found({ 'requirements.txt': 'sqlglot==1\n# none\n', 'src/a.rs': 'extern crate std;\nextern crate libsqlite3;' })).toEqual(['requirements.txt: sqlglot', 'src/a.rs: libsqlite3']); // prettier-ignore
    expect(found({ 'Cargo.toml': '[dependencies]\nparser = "1"', 'parser/Cargo.toml': '[package]\nname = "parser"' })).toEqual([]); // prettier-ignore
  });
});

test('lines, the longest files, and the lines that came to a tree', () => {
  const tree = new Map([
    ['a', 'x\ny\n'],
    ['b', 'x\n'],
    ['c', ''],
  ]);
  expect(sizeOf(tree, 2)).toEqual({
    files: 3,
    lines: 3,
    largest: [
      { path: 'a', lines: 2 },
      { path: 'b', lines: 1 },
    ],
  });
  expect(addedLines(new Map([['a', 'y\ngone\n']]), tree)).toBe(2);
});
