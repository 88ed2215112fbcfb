import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { mound, type Finished } from './kit/process.ts';
import { put } from './kit/land.ts';
import { tempDir, tempRepo } from './kit/temp.ts';

const json = ({ stdout }: Finished): Record<string, unknown> => JSON.parse(stdout) as Record<string, unknown>;
const oneLine = /^mound: [^\n]+\n$/;
const big = Array.from({ length: 20 }, (_, i) => `line ${i}\n`);

/** A repository with `big.ts` at seq 1, and files with its halves beside it. */
async function withBig(): Promise<{ dir: string; one: string; two: string }> {
  const dir = tempDir();
  const repo = await tempRepo(dir);
  await put(repo, 'big.ts', big.join(''));
  await repo.close();
  const [one, two] = [join(dir, 'one'), join(dir, 'two')];
  writeFileSync(one, big.slice(0, 10).join(''));
  writeFileSync(two, big.slice(10).join(''));
  return { dir, one, two };
}

const at = (dir: string, ...args: string[]): Promise<Finished> => mound(['--repo', dir, ...args]);
const edit = (dir: string, line: number, text: string): Promise<Finished> => {
  const input = big.with(line, `${text}\n`).join('');
  return mound(['--repo', dir, 'put', 'big.ts', '--expect', '1', '-m', 'm', '--json'], { input });
};

test('a file is flagged, frozen and thawed, and what was parked is told with what came of it', async () => {
  const { dir } = await withBig();
  const flagged = await at(dir, 'flag', 'big.ts', '--reason', 'too large', '--json');
  expect([flagged.code, json(flagged)]).toEqual([0, { path: 'big.ts', state: 'flagged', parked: [] }]);
  const frozen = await at(dir, 'freeze', 'big.ts', '--reason', 'split', '--owner', 'ada', '--seconds', '90', '--json');
  expect([frozen.code, json(frozen)]).toEqual([0, { path: 'big.ts', state: 'frozen', parked: [] }]);
  expect(json(await at(dir, 'freeze', '--json'))).toMatchObject({
    freezes: [{ path: 'big.ts', branch: 'main', owner: 'ada', reason: 'split', until: expect.any(Number) as number }],
  });
  expect((await at(dir, 'freeze')).stdout).toBe('big.ts  ada  split\n');
  const parked = await edit(dir, 3, 'three');
  expect([parked.code, json(parked)]).toMatchObject([3, { outcome: 'parked', parked: 'p4', paths: ['big.ts'] }]);
  const thawed = await at(dir, 'thaw', 'big.ts', '--json');
  expect([thawed.code, json(thawed)]).toMatchObject([
    0,
    { path: 'big.ts', state: 'thawed', parked: [{ id: 'p4', outcome: { kind: 'landed', seq: 6 } }] },
  ]);
  const both = await at(dir, 'flag', 'big.ts', '--freeze', '--json');
  expect(json(both)).toEqual({ path: 'big.ts', state: 'frozen', parked: [] });
  expect((await at(dir, 'thaw', 'big.ts')).stdout).toBe('big.ts is thawed; 0 parked intents were decided\n');
  const events = (await at(dir, 'events')).stdout.split('\n').filter((line) => line.includes('"file.'));
  expect(events.map((line) => (JSON.parse(line) as { kind: string }).kind)).toEqual(
    ['flagged', 'frozen', 'thawed', 'flagged', 'frozen', 'thawed'].map((name) => `file.${name}`),
  );
});

test('a file is split, and what was parked goes to its modules', async () => {
  const { dir, one, two } = await withBig();
  await at(dir, 'freeze', 'big.ts', '--owner', 'ada');
  expect((await edit(dir, 15, 'fifteen')).code).toBe(3);
  const into = ['--into', `big/one.ts=${one}`, `big/two.ts=${two}`];
  const foreign = await at(dir, 'split', 'big.ts', ...into, '--json', '--author', 'bob');
  expect([foreign.code, json(foreign)]).toMatchObject([
    4,
    { path: 'big.ts', state: 'rejected', parked: [], outcome: 'rejected', code: 'frozen' },
  ]);
  const split = await at(dir, 'split', 'big.ts', ...into, '--json', '--author', 'ada');
  expect([split.code, json(split)]).toMatchObject([
    0,
    {
      path: 'big.ts',
      state: 'split',
      outcome: 'landed',
      seq: 4,
      commit: expect.any(String) as string,
      parked: [{ id: 'p3', outcome: { kind: 'merged', merged: [{ path: 'big/two.ts' }] } }],
    },
  ]);
  expect((await at(dir, 'cat', 'big/two.ts')).stdout).toContain('fifteen\n');
  expect((await at(dir, 'cat', 'big.ts')).code).not.toBe(0);
  const gone = await at(dir, 'split', 'big.ts', ...into);
  expect([gone.code, gone.stdout, oneLine.test(gone.stderr)]).toEqual([4, '', true]);
});

test('what cannot be is one line that says what was wrong, and nothing is written', async () => {
  const { dir, one } = await withBig();
  writeFileSync(join(dir, 'all'), big.join(''));
  const wrong: [args: string[], code: number, words: string][] = [
    [['flag'], 2, 'path'],
    [['flag', '../x'], 2, '../x'],
    [['flag', 'big.ts', '--owner', 'ada'], 2, '--freeze'],
    [['freeze', 'a//b'], 2, 'empty segment'],
    [['freeze', 'big.ts', '--seconds', 'soon'], 2, "'soon'"],
    [['freeze', 'big.ts', '--seconds', '0'], 2, '0 ms'],
    [['freeze', 'big.ts', '--branch', 'none'], 1, 'none'],
    [['thaw'], 2, 'path'],
    [['thaw', '/etc/passwd'], 2, '/etc/passwd'],
    [['split', 'big.ts'], 2, '--into'],
    [['split', 'big.ts', '--into', 'x'], 2, 'PATH=FILE'],
    [['split', 'big.ts', '--into', `a=${dir}/none`], 2, 'ENOENT'],
    [['split', 'big.ts', '--into', `big.ts=${one}`], 4, 'big.ts'],
    [['split', 'big.ts', '--into', `a=${one}`, '--remains', join(dir, 'all')], 2, 'no line'],
    [['split', 'none.ts', '--into', `a=${one}`], 4, 'none.ts'],
    [['split', 'big.ts', '--into', `a=${one}`, '--expect', '99'], 4, '99'],
  ];
  const finished = await Promise.all(wrong.map(([args]) => at(dir, ...args)));
  const told = finished.map(({ code, stdout, stderr }, index) => {
    const [args, , words = ''] = wrong[index] ?? [];
    return [args, code, stdout, oneLine.test(stderr) && stderr.includes(words) ? '' : stderr];
  });
  expect(told).toEqual(wrong.map(([args, code]) => [args, code, '', '']));
  expect(json(await at(dir, 'stats', '--json'))).toMatchObject({ seq: 1 });
  expect((await mound(['--repo', join(dir, 'nowhere'), 'freeze', 'a'])).code).toBe(42);
});
