import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { absent, openRepo, version } from '@mound/vcs';
import { describe, expect, test } from 'vitest';
import { mound, moundBin, run, type Finished } from './kit/process.ts';
import { setup, tempDir } from './kit/temp.ts';

const json = ({ stdout }: Finished): Record<string, unknown> => JSON.parse(stdout) as Record<string, unknown>;
const oneLine = /^mound: [^\n]+\n$/;

/** A repository, made here: each start of the command takes as long as all else of most tests. */
async function initialised(...texts: (readonly [path: string, content: string | Uint8Array, expect: number])[]) {
  const dir = tempDir();
  const repo = await openRepo(dir, { create: true });
  for (const [path, content, seq] of texts) {
    await repo.put(path, content, { author: setup, expect: seq === 0 ? absent : version(seq) });
  }
  await repo.close();
  return dir;
}

const put = (dir: string, path: string, input: string | Uint8Array, ...args: string[]): Promise<Finished> =>
  mound(['--repo', dir, 'put', path, '-m', 'm', '--json', ...args], { input });

test('a landing rule is set, enforced, listed and removed', async () => {
  const dir = await initialised();
  const rules = (...args: string[]): Promise<Finished> => mound(['--repo', dir, 'rules', ...args, '--json']);
  const rule = { kind: 'scope', paths: ['src'] };
  const set = await mound(['--repo', dir, 'rules', 'set', 'src-only', '--json'], { input: JSON.stringify(rule) });
  expect(json(set)).toMatchObject({ outcome: 'landed', seq: 1 });
  const refused = await put(dir, 'a.txt', 'x\n');
  expect(refused.code).toBe(4);
  expect(json(refused)).toMatchObject({
    outcome: 'rejected',
    code: 'rule-violated',
    rule: 'src-only',
    paths: ['a.txt'],
  });
  expect(json(await rules())).toEqual({ rules: [{ name: 'src-only', rule }] });
  const malformed = await mound(['--repo', dir, 'rules', 'set', 'x'], { input: '{"kind":"x"}' });
  expect([malformed.code, oneLine.test(malformed.stderr)]).toEqual([2, true]);
  const tuned = await mound(['--repo', dir, 'signals', 'set'], { input: '{"oscillation":{"versions":3}}' });
  expect(tuned.code).toBe(0);
  expect(json(await mound(['--repo', dir, 'signals', '--json']))).toMatchObject({
    oscillation: { versions: 3 },
    pileOn: true,
  });
  expect((await rules('remove', 'src-only')).code).toBe(0);
  expect((await put(dir, 'a.txt', 'x\n')).code).toBe(0);
});

test('a file goes in, is merged, conflicts, and is read back', async () => {
  const dir = await initialised();
  expect(json(await put(dir, 'a.txt', 'one\ntwo\nthree\n'))).toMatchObject({ outcome: 'landed', seq: 1 });
  expect(json(await put(dir, 'a.txt', 'ONE\ntwo\nthree\n', '--expect', '1'))).toMatchObject({
    outcome: 'landed',
    seq: 2,
  });
  const merged = await put(dir, 'a.txt', 'one\ntwo\nTHREE\n', '--expect', '1');
  expect(json(merged)).toMatchObject({ outcome: 'merged', seq: 3 });
  const conflicted = await put(dir, 'a.txt', 'uno\ntwo\nthree\n', '--expect', '1');
  expect(conflicted.code).toBe(3);
  expect(json(conflicted)).toMatchObject({ outcome: 'conflicted', conflict: 'c4' });
  const stale = await put(dir, 'a.txt', 'x\n', '--expect', '1', '--on-stale', 'reject');
  expect(stale.code).toBe(4);
  expect(json(stale)).toMatchObject({ outcome: 'rejected', code: 'stale' });
  expect((await mound(['--repo', dir, 'cat', 'a.txt'])).stdout).toBe('ONE\ntwo\nTHREE\n');
  expect((await mound(['--repo', dir, 'cat', 'a.txt', '--at', '1'])).stdout).toBe('one\ntwo\nthree\n');
  expect(json(await mound(['--repo', dir, 'log', '--json']))['entries']).toHaveLength(3);

  const shown = await mound(['--repo', dir, 'conflicts', 'show', 'c4']);
  expect(shown.stdout).toContain('<<<<<<< current\nONE\n||||||| base\none\n=======\nuno\n>>>>>>> incoming\n');
  const results = [{ path: 'a.txt', content: 'ONE uno\ntwo\nTHREE\n' }];
  const resolve = (body: object): Promise<Finished> =>
    mound(['--repo', dir, 'conflicts', 'resolve', 'c4', '--json'], { input: JSON.stringify(body) });
  expect((await resolve({ results })).code).toBe(4);
  expect(json(await resolve({ results, otherwise: { fate: 'transformed' } }))).toMatchObject({ outcome: 'landed' });
  expect(json(await mound(['--repo', dir, 'conflicts', '--json']))['conflicts']).toEqual([]);
  const events = (await mound(['--repo', dir, 'events', '--from', '3'])).stdout.trim().split('\n');
  expect(events.map((line) => (JSON.parse(line) as { kind: string }).kind)).toEqual([
    'conflict.opened',
    'intent.landed',
    'conflict.resolved',
  ]);
  expect(json(await mound(['--repo', dir, 'fsck', '--json']))).toMatchObject({ ok: true, errors: [] });
});

test('a git history comes in and goes out with the same ids', async () => {
  const dir = await initialised();
  const git = tempDir();
  const commit = 'git -c user.name=A -c user.email=a@example.invalid commit -q';
  const script = `git init -q -b main . && echo 1 > a && git add . && ${commit} -m one && echo 2 > b && git add . && ${commit} -m two`;
  expect((await run('sh', ['-c', script], { cwd: git })).code).toBe(0);
  const head = (await run('git', ['rev-parse', 'HEAD'], { cwd: git })).stdout.trim();
  expect(json(await mound(['--repo', dir, 'import', git, '--json']))).toMatchObject({ commits: 2, head });
  await put(dir, 'c', '3\n');
  const out = join(tempDir(), 'out.git');
  expect(json(await mound(['--repo', dir, 'export', out, '--json']))).toMatchObject({ commits: 3 });
  const exported = await run('git', ['-C', out, 'rev-parse', 'main~1']);
  expect(exported.stdout.trim()).toBe(head);
  expect((await run('git', ['-C', out, 'fsck', '--strict'])).code).toBe(0);
});

describe('a resolution on standard input', () => {
  test.each([
    ['a result without content', { results: [{ path: 'a.txt' }] }],
    ['a misspelt field', { results: [{ path: 'a.txt', contents: 'x' }] }],
    ['two contents', { results: [{ path: 'a.txt', content: 'x', contentBase64: 'eA==' }] }],
    ['an unknown fate', { results: [{ path: 'a.txt', content: 'x' }], otherwise: { fate: 'lost' } }],
    ['an unknown field', { results: [{ path: 'a.txt', content: 'x' }], asof: 3 }],
  ])('%s is refused, and the conflict and the file stay', async (_name, body) => {
    const dir = await initialised(['a.txt', 'one\n', 0], ['a.txt', 'two\n', 1], ['a.txt', 'three\n', 1]);
    const input = JSON.stringify(body);
    const finished = await mound(['--repo', dir, 'conflicts', 'resolve', 'c3'], { input });
    expect(finished).toMatchObject({ code: 42, stdout: '' });
    expect(finished.stderr).toMatch(oneLine);
    const repo = await openRepo(dir);
    expect(repo.snapshot().readText('a.txt')).toBe('two\n');
    expect(repo.stats()).toMatchObject({ seq: 3, conflictsOpen: 1 });
    await repo.close();
  });
});

test('a flipped bit in a kept intent, a record or a mark is found', async () => {
  const dir = await initialised();
  await put(dir, 'a.txt', 'one\n');
  await put(dir, 'a.txt', 'two\n', '--expect', '1');
  await put(dir, 'a.txt', 'keepmewhole\n', '--expect', '1');
  await mound(['--repo', dir, 'freeze', 'b.txt', '--reason', 'splitthisfile']);
  const file = join(dir, '.mound/store/data.mdb');
  const sound = readFileSync(file);
  const at = sound.lastIndexOf('splitthisfile');
  expect(at).toBeGreaterThan(0);
  const damaged = Buffer.from(sound);
  for (let from = damaged.indexOf('splitthisfile'); from >= 0; from = damaged.indexOf('splitthisfile', from + 1)) {
    damaged.writeUInt8(damaged.readUInt8(from + 2) ^ 1, from + 2);
  }
  writeFileSync(file, damaged);
  const found = await mound(['--repo', dir, 'fsck', '--json']);
  expect(found.code).toBe(1);
  expect(json(found)).toMatchObject({ ok: false, errors: [{ seq: 4 }] });
  writeFileSync(file, sound);
  expect((await mound(['--repo', dir, 'fsck'])).code).toBe(0);
});

describe('bad input: one clear line, the documented exit code, nothing half made', () => {
  test('a directory that is no repository', async () => {
    const dir = tempDir();
    for (const args of [['ls'], ['log'], ['cat', 'a'], ['fsck'], ['events'], ['export', join(dir, 'x.git')]]) {
      const finished = await mound(['--repo', dir, ...args]);
      expect(finished, args.join(' ')).toMatchObject({ code: 42, stdout: '' });
      expect(finished.stderr).toMatch(oneLine);
    }
    expect(readdirSync(dir)).toEqual([]);
  });

  test.each([
    ['cut off in its first page', (file: string) => truncateSync(file, 100)],
    ['cut off in the middle', (file: string) => truncateSync(file, 600_000)],
    ['cut off by its last pages', (file: string) => truncateSync(file, statSync(file).size - 20 * 4096)],
    ['empty', (file: string) => truncateSync(file, 0)],
    ['overwritten', (file: string) => writeFileSync(file, 'not a store at all\n'.repeat(1000))],
  ])('a store that is %s', async (_name, damage) => {
    const dir = await initialised(['large.txt', randomBytes(2_000_000), 0]);
    const file = join(dir, '.mound/store/data.mdb');
    expect(statSync(file).size).toBeGreaterThan(1_700_000);
    damage(file);
    const before = readFileSync(file);
    const finished = await mound(['--repo', dir, 'ls']);
    expect(finished).toMatchObject({ code: 42, stdout: '' });
    expect(finished.stderr).toMatch(oneLine);
    expect(readFileSync(file).equals(before)).toBe(true);
  });

  test('a repository that is there already', async () => {
    const dir = tempDir();
    expect(await mound(['init', dir])).toMatchObject({ code: 0 });
    await put(dir, 'a', 'a\n');
    expect(await mound(['init', dir])).toMatchObject({ code: 1 });
    expect((await mound(['--repo', dir, 'cat', 'a'])).stdout).toBe('a\n');
  });

  test.each([
    ['an unknown option', ['ls', '--nope'], 2],
    ['an unknown command', ['nonsense'], 2],
    ['a missing argument', ['cat'], 2],
    ['a number that is none', ['cat', 'a', '--at', 'x'], 2],
    ['a seq to come', ['ls', '--at', '99'], 1],
    ['a path that is not there', ['cat', 'nope'], 1],
    ['a branch that is not there', ['ls', '--branch', 'nope'], 1],
    ['a conflict that is not there', ['conflicts', 'show', 'c9'], 1],
    ['a resolution that is no JSON', ['conflicts', 'resolve', 'c1'], 42],
    ['a repository that is a file', ['--repo', '/etc/passwd', 'ls'], 42],
    ['a branch name that git refuses', ['branch', 'a..b'], 2],
    ['a path out of the repository', ['put', '../x', '-m', 'm'], 4],
    ['a path in git’s own directory', ['put', '.GIT/x', '-m', 'm'], 4],
    ['a git directory that is none', ['import', '/etc'], 42],
  ])('%s', async (_name, args, code) => {
    const dir = await initialised();
    const finished = await mound(['--repo', dir, ...args], { input: 'x\n' });
    expect(finished).toMatchObject({ code, stdout: '' });
    expect(finished.stderr).toMatch(oneLine);
    const repo = await openRepo(dir);
    expect(repo.stats()).toMatchObject({ seq: 0 });
    await repo.close();
  });

  test('git missing, or too old', async () => {
    const dir = await initialised();
    const old = join(tempDir(), 'git');
    writeFileSync(old, '#!/bin/sh\necho git version 1.8.3\n');
    chmodSync(old, 0o755);
    for (const [binary, word] of [
      ['/nonexistent/git', 'git'],
      [old, '1.8.3'],
    ] as const) {
      const finished = await mound(['--repo', dir, 'import', dir], { env: { ...process.env, MOUND_GIT: binary } });
      expect(finished).toMatchObject({ code: 42, stdout: '' });
      expect(finished.stderr).toMatch(oneLine);
      expect(finished.stderr).toContain(word);
    }
  });

  test('no write permission', async (context) => {
    const dir = tempDir();
    chmodSync(dir, 0o755);
    const uid = 65_534;
    const probe = await run(process.execPath, [moundBin, '--version'], { uid, cwd: dir }).catch(() => undefined);
    if (process.getuid?.() !== 0 || probe?.code !== 0) {
      console.warn('skipped: this user cannot run a child as another one');
      return context.skip();
    }
    const made = await run(process.execPath, [moundBin, 'init', dir], { uid, cwd: dir });
    expect(made).toMatchObject({ code: 1, stdout: '' });
    expect(made.stderr).toMatch(/^mound: [^\n]*cannot be written[^\n]*\n$/);
    expect(existsSync(join(dir, '.mound'))).toBe(false);

    const inside = join(dir, 'inside');
    mkdirSync(inside);
    await mound(['init', inside]);
    const read = await run(process.execPath, [moundBin, '--repo', inside, 'ls'], { uid, cwd: dir });
    expect(read).toMatchObject({ code: 0, stderr: '' });
    const written = await run(process.execPath, [moundBin, '--repo', inside, 'put', 'a', '-m', 'm'], { uid, cwd: dir });
    expect(written).toMatchObject({ code: 1, stdout: '' });
    expect(written.stderr).toMatch(/^mound: [^\n]*cannot be written[^\n]*\n$/);
  });
});
