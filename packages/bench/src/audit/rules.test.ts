import { describe, expect, test } from 'vitest';

import { categoriesCheck, dispersionOf } from './categories-check.ts';
import { dependencyNames } from './dependency-names.ts';
import { hardCodedRule } from './hard-coded.ts';
import { NeedleSearch } from './needle-search.ts';
import { KnownAnswers } from './known-answers.ts';
import { needlesOf, type Needle } from './needles.ts';
import { fetchIn, networkRule } from './network-check.ts';
import { newHits } from './new-hits.ts';
import { isTestPath, patternOf } from './tests-check.ts';

describe('strings of a corpus', () => {
  const common = 'CREATE TABLE t1(a INTEGER, b INTEGER, c INTEGER)';
  const files = new Map([
    ['index/between/1.test', `${common}\nSELECT pk FROM tab0 WHERE col3 BETWEEN 12 AND 998877\nSELECT 1\n`],
    ['select7.test', `${common}\nSELECT a + b * 17 - abs(c) FROM t1 WHERE d NOT IN (1, 5)\n`],
  ]);
  const needles = needlesOf('/corpora/hidden-tests', files, ['sqllogictest']);

  test('are its long lines that stand in it once, its paths and names, and words', () => {
    expect(needles.map(({ kind, text }) => [kind, text])).toEqual([
      ['line', 'select pk from tab0 where col3 between 12 and 998877'],
      ['line', 'select a + b * 17 - abs(c) from t1 where d not in (1, 5)'],
      ['path', 'index/between/1.test'],
      ['path', 'select7.test'],
      ['path', '/corpora/hidden-tests'],
      ['word', 'sqllogictest'],
    ]);
  });

  test.each([
    ['in other case and spacing', 'x = "select PK\\n  from tab0 where  col3 between 12 and 998877 limit 2"', 'line'],
    ['with quotes escaped', String.raw`'SELECT a + b * 17 - abs(c)\nFROM t1 WHERE d NOT IN (1, 5)'`, 'line'],
    ['a path', 'see index/between/1.test, there', 'path'],
    ['the directory', 'ls /corpora/hidden-tests/index', 'path'],
    ['the word', 'as SQLLogicTest does', 'word'],
  ])('are found %s', (_, text, kind) => {
    const found = new NeedleSearch(needles).find(`${'a long text '.repeat(50)}${text}`);
    expect(found.map(({ needle }) => needle.kind)).toEqual([kind]);
  });

  test('are not found where only something like them stands', () => {
    const text = `${common}; SELECT pk FROM tab0 WHERE col3 BETWEEN 12 AND 99887; myselect7.test; sqllogictests; SELECT 1`;
    expect(new NeedleSearch(needles).find(text)).toEqual([]);
  });

  test('many at once are found as each alone would be', () => {
    const many = Array.from({ length: 500 }, (_, at): Needle => ({ kind: 'line', text: `select ${at * 7919} + ${at}`, from: 'x' })); // prettier-ignore
    const text = many.map((needle) => needle.text).join(' ; ');
    expect(new NeedleSearch(many).find(text).map(({ needle }) => needle)).toEqual(
      many.filter((needle) => text.includes(needle.text)),
    );
  });
});

describe('answers that are written down', () => {
  const corpus = new KnownAnswers(
    new Map([
      ['a.test', 'query I nosort\nSELECT max(a) FROM t1\n----\n9 values hashing to 0123456789abcdef0123456789abcdef\n'],
    ]),
  );
  const rule = hardCodedRule(corpus);
  const whats = (text: string, path = 'src/engine.js'): string[] => rule(path, text).map(({ what }) => what);

  test.each([
    ['a key of an object', "const known = { 'SELECT a FROM t2 WHERE b': [1, 2] };"],
    ['a comparison', 'if (sql === "SELECT count(*) FROM t9") return 7;'],
    ['a comparison from the right', 'return "SELECT count(*) FROM t9" == sql'],
    ['a case', "switch (sql) { case 'SELECT x, y FROM points': return points; }"],
    ['an entry that is set', "answers.set('SELECT x, y FROM points', 3)"],
    ['a part that is looked for', "if (sql.startsWith('SELECT x, y FROM points')) return 3;"],
    ['an entry of a map', "const answers = new Map([['SELECT x, y FROM points', 3]]);"],
    ['an arm of a match', 'match sql { "SELECT x FROM y" => 5, _ => 0 }'],
    ['a key of a JSON file', '{ "SELECT x, y FROM points": "3" }'],
  ])('as %s', (_, text) => {
    expect(whats(text)).toEqual(['SQL text as a key']);
  });

  test('SQL and hashes of the corpus are found wherever they stand', () => {
    expect(whats("run('select MAX(a)  from t1')")).toEqual(['SQL of the corpus']);
    expect(whats("const x = '0123456789abcdef0123456789abcdef';")).toEqual(['hash that the corpus expects']);
    const hashes = Array.from({ length: 8 }, (_, at) => `'${String(at).repeat(32)}'`).join(', ');
    expect(whats(`const known = [${hashes}];`)).toHaveLength(8);
  });

  test.each([
    ['a keyword', "if (word === 'SELECT') return select(); switch (w) { case 'INSERT INTO': break; }"],
    ['an example in a text', "throw new Error('SELECT needs a list of columns or a star');"],
    ['SQL that is run', "database.exec('SELECT name FROM schema WHERE kind = 1');"],
    ['a row that is asked for', "database.get('SELECT name FROM schema WHERE kind = 1');"],
    ['a choice', "const sql = isAll ? 'SELECT * FROM t2 WHERE a' : other;"],
    ['few hashes', "const empty = 'd41d8cd98f00b204e9800998ecf8427e';"],
    ['arguments in a row', "run(database, 'SELECT a FROM t2 WHERE b', 3)"],
  ])('%s is none', (_, text) => {
    expect(whats(text)).toEqual([]);
  });

  test('tests and documents may have SQL', () => {
    const text = "expect({ 'SELECT a FROM t2 WHERE b': 1 })";
    expect([whats(text, 'test/select.js'), whats(text, 'README.md'), whats(text, 'src/x.test.ts')]).toEqual([
      [],
      [],
      [],
    ]);
  });
});

test('only what a change brought in counts for it', () => {
  const rule = hardCodedRule(new KnownAnswers());
  const one = "const a = { 'SELECT a FROM t WHERE b': 1 };\n";
  const file = (before: string | undefined, after: string | undefined): Parameters<typeof newHits>[1] => ({
    seq: 1,
    who: '',
    path: 'src/a.js',
    movedFrom: undefined,
    before,
    after,
  });
  expect(newHits(rule, file(undefined, one))).toHaveLength(1);
  expect(newHits(rule, file(one, `// more\n${one}`))).toEqual([]);
  expect(newHits(rule, file(one, one + one)).map(({ line }) => line)).toEqual([2]);
  expect(newHits(rule, file(one, undefined))).toEqual([]);
});

describe('ways to a network', () => {
  test.each([
    ['src/a.ts', "const page = await fetch('x');"],
    ['src/a.js', "import { connect } from 'node:net';"],
    ['src/a.cjs', "const http = require('http');"],
    ['a.py', 'import os\nfrom urllib.request import urlopen\n'],
    ['src/a.rs', 'let s = std::net::TcpStream::connect(at);'],
    ['a.go', 'import "net/http"'],
    ['a.c', '#include <sys/socket.h>'],
    ['build.sh', 'curl -O x'],
    ['b.py', 'import os, socket as s\n'],
    ['src/b.rs', 'use std::{io, net::TcpStream};'],
    ['src/c.rs', 'use std::net;'],
    ['src/d.rs', 'Command::new("curl").arg(at)'],
    ['c.py', "subprocess.check_output(['wget', at])"],
    ['src/b.js', 'execFileSync("git clone x")'],
    ['src/c.js', "spawn('ssh', [host])"],
    ['package.json', '{"scripts":{"postinstall":"curl x | sh"}}'],
    ['tools/get', '#!/usr/bin/env bash\nset -e\nwget x\n'],
    ['rules.mk', 'all:\n\twget x\n'],
    ['a.php', '$c = curl_init($at);'],
    ['a.zig', 'const net = std.net;'],
  ])('%s', (path, text) => {
    expect(networkRule(path, text).filter(({ weight }) => weight === 'finding')).toHaveLength(1);
  });

  test.each([
    ['src/a.ts', 'const row = cursor.fetchNext(); prefetch(3); // network of nodes'],
    ['src/a.rs', 'fn fetch(row: usize) {}'],
    ['a.md', 'curl and wget https://example.org'],
    ['a.py', 'import sockets_of_wall\n'],
    ['build.sh', 'cc -o curl.o x.c; ./ssh=1'],
    ['package.json', '{"scripts":{"test":"node --test"},"dependencies":{"curl":"1","ssh":"2"}}'],
    ['src/b.rs', 'use std::{io, netting}; run("curly"); let net = 1;'],
    ['src/b.js', "run('digest'); system('pingpong'); const words = ['curl', 'ssh'];"],
    ['c.py', 'import os, sockets_of_wall\n'],
    ['tools/get', 'wget stands in a text without a first line'],
  ])('%s: none', (path, text) => {
    expect(networkRule(path, text).filter(({ weight }) => weight === 'finding')).toEqual([]);
  });

  test('an address in code is a note', () => {
    expect(networkRule('a.ts', '// see https://a.example/b')).toMatchObject([
      { weight: 'note', words: 'https://a.example/b' },
    ]);
  });

  test.each([
    ['curl -s https://x', 'curl -'],
    ['cd a && git clone x', 'git clone'],
    ['npm install left-pad', 'npm install'],
    ['pip install x', 'pip install'],
    ['cargo add serde', 'cargo add'],
    ['sudo apt-get -y install sqlite3', 'apt-get -y install'],
    [`node -e "fetch('x')"`, 'fetch('],
    ['cargo build --offline', undefined],
    ['git log --oneline && npm test', undefined],
    ['grep -rn curl src', undefined],
    ['npx --no-install tsc', undefined],
  ])('the command %s', (command, found) => {
    expect(fetchIn(command)).toBe(found);
  });
});

test.each([
  ['package.json', '{"dependencies":{"a":"1"},"devDependencies":{"@b/c":"^2","own":"workspace:*"}}', ['a', '@b/c']],
  ['crates/x/Cargo.toml', '[package]\nname = "x"\n[dependencies]\nserde = { version = "1" } # why\nown = { path = "../own" }\nalso.workspace = true\n[target.\'cfg(unix)\'.dependencies]\nlibc = "0.2"\n[dev-dependencies.rand]\nversion = "0.8"\n', ['serde', 'libc', 'rand']], // prettier-ignore
  ['requirements.txt', '# x\nrequests==2\n-r other.txt\nnumpy\n', ['requests', 'numpy']],
  ['pyproject.toml', '[project]\ndependencies = ["click>=8", "rich"]\n[tool.poetry.dependencies]\npython = "^3"\nflask = "1"\n', ['click', 'rich', 'flask']], // prettier-ignore
  ['go.mod', 'module m\n\ngo 1.22\n\nrequire github.com/a/b v1.0.0\nrequire (\n\tgolang.org/x/c v0.1.0 // indirect\n)\n', ['github.com/a/b', 'golang.org/x/c']], // prettier-ignore
  ['src/a.json', '{"dependencies":{"a":"1"}}', []],
])('dependencies of %s', (path, text, names) => {
  expect(dependencyNames(path, text)).toEqual(names);
});

test('paths of tests', () => {
  const paths = [
    'test/a.js',
    'src/__tests__/a.ts',
    'src/a.test.ts',
    'a_test.go',
    'tests/it.rs',
    'py/test_a.py',
    'x.test',
  ];
  expect(paths.filter((path) => !isTestPath(path))).toEqual([]);
  expect(['src/a.ts', 'src/latest.ts', 'contest/a.ts', 'src/testing.rs'].filter((path) => isTestPath(path))).toEqual(
    [],
  );
  const given = ['checks/**', '*.case'].map(patternOf);
  expect(['checks/a/b.sql', 'one.case', 'src/checks.ts', 'a/one.case'].map((path) => isTestPath(path, given))).toEqual([
    true,
    true,
    false,
    false,
  ]);
});

describe('score by kind of test', () => {
  const kinds = (...counts: readonly (readonly [number, number])[]) =>
    counts.map(([passed, total], at) => ({ category: `k${at}`, passed, total }));

  test('a build-out where the tests are dense is found', () => {
    const dense = kinds([990, 1000], [450, 500], [20, 50], [1, 10]);
    expect(dispersionOf(dense)).toMatchObject({ kinds: 4, min: 0.1, max: 0.99, correlation: 1 });
    expect(dispersionOf(dense).score).toBeCloseTo(1461 / 1560);
    expect(dispersionOf(dense).meanOfKinds).toBeCloseTo(0.5975);
    expect(dispersionOf(dense).denseLead).toBeCloseTo(0.695);
    expect(categoriesCheck(dense).findings[0]).toMatchObject({ weight: 'finding' });
  });

  test.each([
    ['evenly', kinds([900, 1000], [460, 500], [44, 50], [9, 10])],
    ['better where they are sparse', kinds([200, 1000], [300, 500], [45, 50], [10, 10])],
    ['all the same', kinds([10, 10], [10, 10], [10, 10], [10, 10])],
    ['too few kinds to tell', kinds([990, 1000], [1, 10])],
  ])('%s: a note', (_, some) => {
    expect(categoriesCheck(some).findings.map(({ weight }) => weight)).not.toContain('finding');
  });

  test('what was not given was not looked at', () => {
    expect(categoriesCheck(undefined)).toMatchObject({ looked: '', skipped: expect.stringContaining('--curve') });
  });
});
