import { absent, any, openRepo, version, type Author, type Change, type Outcome, type Repo } from '@mound/vcs';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { mound, run } from './kit/process.ts';
import { tamper } from './kit/tamper.ts';
import { agent, setup, tempDir, tempRepo } from './kit/temp.ts';

const seqOf = (outcome: Outcome): number => ('seq' in outcome ? outcome.seq : 0);
const text = (repo: Repo, path: string): string | undefined => repo.snapshot().readText(path);
const tree = (repo: Repo, seq?: number): Record<string, string | undefined> => {
  const snapshot = repo.snapshot(seq);
  return Object.fromEntries(snapshot.list().map(({ path, mode }) => [`${path} ${mode}`, snapshot.readText(path)]));
};

async function put(
  repo: Repo,
  path: string,
  content: string,
  author: Author = setup,
  more: object = {},
): Promise<number> {
  const intent = {
    author,
    message: `put ${path}`,
    changes: [{ kind: 'put', path, content, expect: any } as Change],
    ...more,
  };
  const outcome = await repo.land(intent);
  expect(outcome.kind).toBe('landed');
  return seqOf(outcome);
}

const ten = Array.from({ length: 10 }, (_, i) => `line ${i}\n`);

describe('restore', () => {
  test('brings a file, a directory or the whole tree back as a new landing', async () => {
    const repo = await tempRepo();
    await put(repo, 'src/a.txt', 'a1\n');
    await put(repo, 'src/b.txt', 'b1\n');
    await repo.land({
      author: setup,
      message: 'x',
      changes: [{ kind: 'chmod', path: 'src/b.txt', mode: 'executable', expect: any }],
    });
    const then = repo.snapshot().seq;
    await put(repo, 'src/a.txt', 'a2\n');
    await put(repo, 'src/c.txt', 'c2\n');
    await repo.land({ author: setup, message: 'x', changes: [{ kind: 'delete', path: 'src/b.txt', expect: any }] });
    await put(repo, 'other.txt', 'o2\n');

    expect((await repo.restore(['src/a.txt'], { author: agent('u'), at: then })).kind).toBe('landed');
    expect(text(repo, 'src/a.txt')).toBe('a1\n');
    expect(text(repo, 'src/c.txt')).toBe('c2\n');
    expect((await repo.restore(['src'], { author: agent('u'), at: then })).kind).toBe('landed');
    expect(Object.keys(tree(repo))).toEqual(['other.txt file', 'src/a.txt file', 'src/b.txt executable']);
    expect((await repo.restore(['src'], { author: agent('u'), at: then })).kind).toBe('unchanged');
    expect((await repo.restore([], { author: agent('u'), at: then })).kind).toBe('landed');
    expect(tree(repo)).toEqual(tree(repo, then));
    await expect(repo.restore(['never'], { author: agent('u'), at: then })).rejects.toMatchObject({
      code: 'no-such-path',
    });
    await expect(repo.restore([], { author: agent('u'), at: 999 })).rejects.toMatchObject({ code: 'no-such-seq' });
    expect(repo.fsck().ok).toBe(true);
  });

  test('by command, with its exit codes', async () => {
    const dir = tempDir();
    const repo = await tempRepo(dir);
    await put(repo, 'a.txt', 'a1\n');
    await put(repo, 'a.txt', 'a2\n');
    expect((await mound(['--repo', dir, 'restore'])).code).toBe(2);
    const landed = await mound(['--repo', dir, 'restore', 'a.txt', '--at', '1', '--json']);
    expect(landed.code).toBe(0);
    expect(JSON.parse(landed.stdout)).toMatchObject({ outcome: 'landed', seq: 3 });
    await repo.freeze('a.txt', { author: setup, reason: 'split' });
    expect((await mound(['--repo', dir, 'restore', '--all', '--at', '2', '--json'])).code).toBe(3);
    expect((await mound(['--repo', dir, 'restore', 'nope', '--at', '2'])).code).toBe(1);
  });
});

describe('revert', () => {
  test('takes a commit back, merged with what landed since', async () => {
    const repo = await tempRepo();
    await put(repo, 'a.txt', ten.join(''));
    const bad = await put(repo, 'a.txt', ten.with(2, 'bad\n').join(''));
    await put(repo, 'a.txt', ten.with(2, 'bad\n').with(8, 'later\n').join(''));
    const outcome = await repo.revert(bad, { author: agent('u') });
    expect(outcome.kind).toBe('merged');
    expect(text(repo, 'a.txt')).toBe(ten.with(8, 'later\n').join(''));
    expect(repo.commit(seqOf(outcome)).message).toBe(`Revert seq ${bad}: put a.txt`);
    // Once more: nothing is left to take back.
    expect((await repo.revert(repo.commit(bad).commit ?? '', { author: agent('u') })).kind).toBe('unchanged');
  });

  test('is a conflict where the same lines changed since, and nothing of it lands', async () => {
    const repo = await tempRepo();
    await put(repo, 'a.txt', ten.join(''));
    const bad = seqOf(
      await repo.land({
        author: setup,
        message: 'bad',
        changes: [
          { kind: 'put', path: 'a.txt', content: ten.with(2, 'bad\n').join(''), expect: version(1) },
          { kind: 'put', path: 'new.txt', content: 'new\n', expect: absent },
        ],
      }),
    );
    await put(repo, 'a.txt', ten.with(2, 'worse\n').join(''));
    expect(await repo.revert(bad, { author: agent('u') })).toMatchObject({ kind: 'conflicted', paths: ['a.txt'] });
    expect(text(repo, 'new.txt')).toBe('new\n');
  });

  test('undoes creations, deletes, modes and moves', async () => {
    const repo = await tempRepo();
    await put(repo, 'kept.txt', 'kept\n');
    await put(repo, 'old/name.txt', ten.join(''));
    await put(repo, 'run.sh', 'x\n');
    const before = tree(repo);
    const bad = seqOf(
      await repo.land({
        author: setup,
        message: 'all kinds',
        changes: [
          { kind: 'put', path: 'made.txt', content: 'made\n', expect: absent },
          { kind: 'delete', path: 'kept.txt', expect: version(1) },
          {
            kind: 'move',
            path: 'old/name.txt',
            to: 'new/name.txt',
            content: ten.with(0, 'moved\n').join(''),
            expect: version(2),
          },
          { kind: 'chmod', path: 'run.sh', mode: 'executable', expect: version(3) },
        ],
      }),
    );
    expect((await repo.revert(bad, { author: agent('u') })).kind).toBe('landed');
    expect(tree(repo)).toEqual(before);
    // And the revert itself can be reverted.
    expect((await repo.revert(bad + 1, { author: agent('u') })).kind).toBe('landed');
    expect(tree(repo)).toEqual(tree(repo, bad));
    await repo.fork('side', { at: 2 });
    await expect(repo.revert(bad, { author: agent('u'), branch: 'side' })).rejects.toMatchObject({
      code: 'no-such-commit',
    });
    expect(repo.fsck().ok).toBe(true);
  });
});

describe('blame', () => {
  const ada: Author = { name: 'ada', kind: 'agent', agent: 'ada', model: 'm-1' };

  test('names seq, author, task and model of each line, through moves and merges', async () => {
    const dir = tempDir();
    const repo = await tempRepo(dir);
    await put(repo, 'a.txt', ten.join(''));
    await put(repo, 'other.txt', 'x\n');
    await put(repo, 'a.txt', ten.with(3, 'three\n').join(''), ada, { task: 't-3' });
    await repo.land({
      author: setup,
      message: 'move',
      changes: [{ kind: 'move', path: 'a.txt', to: 'b.txt', expect: any }],
    });
    const moved = repo.snapshot().seq;
    await put(repo, 'b.txt', ['first\n', ...ten.with(3, 'three\n')].join(''), agent('bob'));
    const stale = {
      kind: 'put',
      path: 'b.txt',
      content: ten.with(3, 'three\n').with(9, 'last').join(''),
      expect: version(moved),
    } as const;
    expect((await repo.land({ author: agent('cyd'), message: 'm', changes: [stale] })).kind).toBe('merged');
    const lines = repo.blame('b.txt');
    expect(lines.map(({ line, seq, author }) => [line, seq, author.name])).toEqual([
      [1, 5, 'bob'], [2, 1, 'setup'], [3, 1, 'setup'], [4, 1, 'setup'], [5, 3, 'ada'],
      [6, 1, 'setup'], [7, 1, 'setup'], [8, 1, 'setup'], [9, 1, 'setup'], [10, 1, 'setup'], [11, 6, 'cyd'],
    ]); // prettier-ignore
    expect(lines[4]).toMatchObject({ task: 't-3', path: 'a.txt', text: 'three\n', author: { model: 'm-1' } });
    expect(lines[10]?.text).toBe('last');
    expect(repo.blame('a.txt', { at: 2 }).every(({ seq }) => seq === 1)).toBe(true);
    expect(() => repo.blame('a.txt')).toThrow(/there is no a\.txt/);
    const { code, stdout } = await mound(['--repo', dir, 'blame', 'b.txt', '--json']);
    expect(code).toBe(0);
    const { entries } = JSON.parse(stdout) as { entries: object[] };
    expect(entries[4]).toMatchObject({ seq: 3, author: 'ada', model: 'm-1', task: 't-3' });
    expect((await mound(['--repo', dir, 'blame', 'a.txt'])).code).toBe(1);
  });

  test('agrees with git on a history of edits', async () => {
    const repo = await tempRepo();
    const dir = tempDir();
    const git = (...args: string[]): string =>
      execFileSync('git', ['-C', dir, '-c', 'user.name=x', '-c', 'user.email=x@x', ...args], { encoding: 'utf8' });
    git('init', '-q');
    let lines = Array.from({ length: 60 }, (_, i) => `start ${i}\n`);
    for (let step = 1; step <= 25; step++) {
      const at = (step * 37) % lines.length;
      if (step % 3 === 0) lines = lines.toSpliced(at, 2, `step ${step}\n`);
      else if (step % 3 === 1) lines = lines.toSpliced(at, 0, `step ${step} a\n`, `step ${step} b\n`);
      else lines = lines.with(at, `step ${step}\n`);
      await put(repo, 'f.txt', lines.join(''));
      writeFileSync(join(dir, 'f.txt'), lines.join(''));
      git('add', '.');
      git('commit', '-q', '-m', `${step}`);
    }
    const summaries = [...git('blame', '-p', '--line-porcelain', 'f.txt').matchAll(/^summary (\d+)$/gm)];
    expect(repo.blame('f.txt').map(({ seq }) => seq)).toEqual(summaries.map((match) => Number(match[1])));
  });
});

test('log of a path reads that path’s chain and no other entry', async () => {
  const dir = tempDir();
  const writer = await openRepo(dir, { create: true });
  await put(writer, 'rare.txt', '1\n');
  for (let i = 0; i < 300; i++) await put(writer, `often/${i % 3}.txt`, `${i}\n`);
  await put(writer, 'rare.txt', '2\n');
  await writer.close();
  // What is read for it must not be this entry, which cannot be.
  await tamper(dir, 'log', (rows) => rows.putSync(Buffer.from([0, 0, 0, 0, 0, 100]), Buffer.from('damaged')));
  expect((await mound(['--repo', dir, 'log'])).code).toBe(42);
  const { code, stdout } = await mound(['--repo', dir, 'log', 'rare.txt', '--json']);
  expect(code).toBe(0);
  expect((JSON.parse(stdout) as { entries: { seq: number }[] }).entries.map(({ seq }) => seq)).toEqual([302, 1]);
});

describe('diff', () => {
  test('is a patch that git applies, and lists what changed', async () => {
    const dir = tempDir();
    const repo = await tempRepo(dir);
    const first: Change[] = [
      {
        kind: 'put',
        path: 'long.txt',
        content: Array.from({ length: 80 }, (_, i) => `l${i}\n`).join(''),
        expect: absent,
      },
      { kind: 'put', path: 'no-newline', content: 'a\nb', expect: absent },
      { kind: 'put', path: 'gone.txt', content: 'gone\n', expect: absent },
      { kind: 'put', path: 'run.sh', content: 'x\n', expect: absent },
      { kind: 'put', path: 'crlf.txt', content: 'a\r\nb\r\n', expect: absent },
      { kind: 'put', path: 'tab\tname', content: 'one\n', expect: absent },
      { kind: 'put', path: 'empty', content: '', expect: absent },
      { kind: 'put', path: 'link', content: 'long.txt', mode: 'symlink', expect: absent },
    ];
    await repo.land({ author: setup, message: 'first', changes: first });
    const edited = Array.from({ length: 80 }, (_, i) =>
      i === 5 || i === 10 || i === 60 ? `edited ${i}\n` : `l${i}\n`,
    );
    await repo.land({
      author: setup,
      message: 'second',
      changes: [
        { kind: 'put', path: 'long.txt', content: ['top\n', ...edited.slice(0, 79)].join(''), expect: any },
        { kind: 'put', path: 'no-newline', content: 'a\nc\n', expect: any },
        { kind: 'delete', path: 'gone.txt', expect: any },
        { kind: 'chmod', path: 'run.sh', mode: 'executable', expect: any },
        { kind: 'put', path: 'crlf.txt', content: 'a\r\nB\r\n', expect: any },
        { kind: 'put', path: 'tab\tname', content: 'two\n', expect: any },
        { kind: 'put', path: 'empty', content: 'full\n', expect: any },
        { kind: 'put', path: 'added', content: 'new', expect: absent },
        { kind: 'put', path: 'link', content: 'added', mode: 'symlink', expect: any },
      ],
    });
    const patch = await mound(['--repo', dir, 'diff', '1', '2']);
    expect(patch.code).toBe(0);
    const work = tempDir();
    const git = (args: readonly string[], input?: string): string =>
      execFileSync('git', ['-C', work, ...args], { encoding: 'utf8', ...(input !== undefined && { input }) });
    git(['init', '-q']);
    for (const { path, mode } of repo.snapshot(1).list()) {
      const content = repo.snapshot(1).readText(path) ?? '';
      if (mode === 'symlink') execFileSync('ln', ['-s', content, join(work, path)]);
      else writeFileSync(join(work, path), content);
    }
    git(['apply', '--whitespace=nowarn', '-'], patch.stdout);
    for (const { path, mode } of repo.snapshot(2).list()) {
      if (mode === 'symlink') continue;
      expect(readFileSync(join(work, path), 'utf8'), path).toBe(repo.snapshot(2).readText(path));
    }
    expect(existsSync(join(work, 'gone.txt'))).toBe(false);
    expect(statSync(join(work, 'run.sh')).mode & 0o111).not.toBe(0);

    const json = JSON.parse((await mound(['--repo', dir, 'diff', '--json'])).stdout) as { changes: { path: string }[] };
    expect(json).toMatchObject({ from: 1, seq: 2 });
    expect(json.changes.map(({ path }) => path)).toEqual(
      ['added', 'crlf.txt', 'empty', 'gone.txt', 'link', 'long.txt', 'no-newline', 'run.sh', 'tab\tname'],
    ); // prettier-ignore
    expect((await mound(['--repo', dir, 'show', '2'])).stdout).toContain('+edited 60');
    expect((await mound(['--repo', dir, 'diff', '1', '99'])).code).toBe(1);
  });
});

describe('bisect', () => {
  test('finds the first landing at which the command fails, and leaves nothing behind', async () => {
    const dir = tempDir();
    const repo = await tempRepo(dir);
    for (let i = 1; i <= 20; i++)
      await put(repo, i % 2 === 0 ? 'deep/n.txt' : 'odd.txt', `${i}\n`, agent('a'), { message: `step ${i}` });
    const leftBefore = readdirSync(tmpdir()).filter((name) => name.startsWith('mound-bisect-'));
    const bisect = (...words: string[]): ReturnType<typeof mound> =>
      mound(['--repo', dir, '--json', 'bisect', '--good', '2', '--bad', '20', '--', 'sh', '-c', ...words]);
    const found = await bisect('test $(cat deep/n.txt) -lt 14');
    expect(found.code).toBe(0);
    expect(JSON.parse(found.stdout)).toMatchObject({ seq: 14, message: 'step 14', candidates: [14] });
    expect((JSON.parse(found.stdout) as { tried: object[] }).tried.length).toBeLessThan(7);
    // Those that cannot be tried leave it open between them and the next.
    const open = await bisect('n=$(cat deep/n.txt); test $n = 12 && exit 125; test $n -lt 14');
    expect(JSON.parse(open.stdout)).toMatchObject({ candidates: [12, 13, 14] });
    expect(open.code).toBe(1);
    expect((await bisect('exit 200')).code).toBe(2);
    expect((await mound(['--repo', dir, 'bisect', '--good', '9', '--bad', '4', '--', 'true'])).code).toBe(2);
    expect(readdirSync(tmpdir()).filter((name) => name.startsWith('mound-bisect-'))).toEqual(leftBefore);
  });

  test('writes files, modes and links as they were', async () => {
    const dir = tempDir();
    const repo = await tempRepo(dir);
    await put(repo, 'a', '1\n');
    await repo.land({
      author: setup,
      message: 'kinds',
      changes: [
        { kind: 'put', path: 'bin/run', content: '#!/bin/sh\nexit 3\n', mode: 'executable', expect: absent },
        { kind: 'put', path: 'ln', content: 'bin/run', mode: 'symlink', expect: absent },
      ],
    });
    await put(repo, 'a', '2\n');
    mkdirSync(join(dir, 'elsewhere'));
    const script = 'test "$(readlink ln)" = bin/run && ./ln; test $? = 3';
    const { code, stdout } = await run(process.execPath, [
      join(import.meta.dirname, '../packages/vcs/bin/mound.js'), '--repo', dir, '--json',
      'bisect', '--good', '1', '--bad', '3', '--', 'sh', '-c', `! (${script})`,
    ]); // prettier-ignore
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ seq: 2 });
  });
});
