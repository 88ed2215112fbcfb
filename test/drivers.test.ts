import { readdirSync } from 'node:fs';
import { absent, any, version, type MergeDriver, type Outcome, type Repo } from '@mound/vcs';
import { openRepo } from '@mound/vcs';
import { describe, expect, test } from 'vitest';
import { agent, onCleanup, setup, tempDir, tempRepo } from './kit/temp.ts';

const put = (path: string, content: string, seq?: number) =>
  ({ kind: 'put', path, content, expect: seq === undefined ? absent : version(seq) }) as const;

async function landed(repo: Repo, ...changes: ReturnType<typeof put>[]): Promise<number> {
  const outcome = await repo.land({ author: setup, message: 'set up', changes });
  expect(outcome.kind).toBe('landed');
  return (outcome as Outcome & { kind: 'landed' }).seq;
}

/** Two agents change a path from one version; what the second one's intent came to. */
async function race(
  repo: Repo,
  path: string,
  base: string,
  current: string,
  incoming: string,
  between?: () => Promise<unknown>,
): Promise<Outcome> {
  const seq = await landed(repo, put(path, base));
  await landed(repo, put(path, current, seq));
  await between?.();
  return repo.land({ author: agent('bob'), message: 'too late', changes: [put(path, incoming, seq)] });
}

const textOf = (repo: Repo, path: string): string | undefined => repo.snapshot().readText(path);

describe('the driver of a path is chosen by .gitattributes as of the head', () => {
  test('union, by the nearest file; the merge says which driver, in outcome, event and log', async () => {
    const repo = await tempRepo();
    await landed(repo, put('.gitattributes', '*.log -merge\n'), put('a/.gitattributes', '*.log merge=union\n'));
    const outcome = await race(repo, 'a/x.log', 'a\n', 'a\nmine\n', 'a\nother\n');
    const note = { driver: 'union', driverVersion: '1', lines: 'conflict', structure: undefined };
    expect(outcome).toMatchObject({ kind: 'merged', merged: [{ path: 'a/x.log', ...note }] });
    expect(textOf(repo, 'a/x.log')).toBe('a\nmine\nother\n');
    expect([...repo.events()].find(({ kind }) => kind === 'file.merged')).toMatchObject(note);
    expect((await race(repo, 'x.log', 'a\n1\n2\n3\nb\n', 'A\n1\n2\n3\nb\n', 'a\n1\n2\n3\nB\n')).kind).toBe(
      'conflicted',
    );
    const [conflict] = repo.conflicts();
    expect(conflict?.paths[0]).toMatchObject({ reason: 'binary', driver: 'binary' });
    expect(conflict?.paths[0]?.hunks).toHaveLength(1);
  });

  test('a change of the attributes counts from its landing on', async () => {
    const repo = await tempRepo();
    expect((await race(repo, 'one', 'a\n', 'b\n', 'c\n')).kind).toBe('conflicted');
    const seq = await landed(repo, put('.gitattributes', '* merge=union\n'));
    expect((await race(repo, 'two', 'a\n', 'b\n', 'c\n')).kind).toBe('merged');
    await landed(repo, put('.gitattributes', '* merge=union\ntwo !merge\nthree merge\n', seq));
    expect((await race(repo, 'three', 'a\n', 'b\n', 'c\n')).kind).toBe('conflicted');
  });

  test('also within one batch, in which merges before it had another driver', async () => {
    const repo = await tempRepo();
    const seq = await landed(repo, put('one', 'a\n1\n2\n3\nb\n4\n5\n6\nc\n'));
    const land = (name: string, change: ReturnType<typeof put>): Promise<Outcome> =>
      repo.land({ author: agent(name), message: `by ${name}`, changes: [change] });
    const outcomes = await Promise.all([
      land('ann', put('one', 'A\n1\n2\n3\nb\n4\n5\n6\nc\n', seq)),
      land('bob', put('one', 'a\n1\n2\n3\nB\n4\n5\n6\nc\n', seq)),
      land('cleo', put('.gitattributes', '* merge=union\n')),
      land('dan', put('one', 'a\n1\n2\n3\nb\n4\n5\n6\nC\n', seq)),
    ]);
    const drivers = outcomes.map((outcome) => (outcome.kind === 'merged' ? outcome.merged[0]?.driver : outcome.kind));
    expect(drivers).toEqual(['landed', 'text', 'landed', 'union']);
    expect(textOf(repo, 'one')).toBe('A\n1\n2\n3\nB\n4\n5\n6\nC\n');
  });

  test('also where they change between the merge and its landing', async () => {
    let interrupt: (() => void) | undefined;
    const steps = {
      reach(step: string): void {
        if (step !== 'merge-planned') return;
        interrupt?.();
        interrupt = undefined;
      },
    };
    const repo = await openRepo(tempDir(), { create: true, steps });
    onCleanup(() => repo.close());
    let attributes: Promise<unknown> | undefined;
    interrupt = () => {
      attributes = landed(repo, put('.gitattributes', '* -merge\n'));
    };
    const clean = ['a\n1\n2\n3\nb\n', 'A\n1\n2\n3\nb\n', 'a\n1\n2\n3\nB\n'] as const;
    // A file that landed just now would be merged at once.
    const other = { author: setup, message: '-', records: [{ key: 'other', expect: any, value: '' }] };
    const rest = (): Promise<unknown> => Promise.all(Array.from({ length: 600 }, () => repo.land(other)));
    expect((await race(repo, 'x', ...clean, rest)).kind).toBe('conflicted');
    await attributes;
    interrupt = () => void repo.land({ author: setup, message: '-', changes: [{ ...put('.gitattributes', '* merge\n'), expect: any }] }); // prettier-ignore
    expect((await race(repo, 'y', ...clean, rest)).kind).toBe('merged');
  });

  test('of a link of that name nothing is read, and a driver that nobody registered is the text driver', async () => {
    const repo = await tempRepo();
    const link = { ...put('.gitattributes', '* merge=union'), mode: 'symlink' } as const;
    await landed(repo, link, put('a/.gitattributes', '* merge=nobodys-driver\n'));
    expect((await race(repo, 'x', 'a\n', 'b\n', 'c\n')).kind).toBe('conflicted');
    const outcome = await race(repo, 'a/x', 'a\n1\n2\n3\nb\n', 'A\n1\n2\n3\nb\n', 'a\n1\n2\n3\nB\n');
    expect(outcome).toMatchObject({ kind: 'merged', merged: [{ driver: 'text' }] });
  });
});

describe('JSON and lock files by their names', () => {
  test('JSON merges key by key; two different files added at one path stay JSON', async () => {
    const repo = await tempRepo();
    const outcome = await race(
      repo,
      'a.json',
      '{\n  "a": 1\n}\n',
      '{\n  "a": 1,\n  "b": 2\n}\n',
      '{\n  "a": 1,\n  "c": 3\n}\n',
    );
    expect(outcome).toMatchObject({ merged: [{ driver: 'json', lines: 'conflict', structure: 'clean' }] });
    expect(textOf(repo, 'a.json')).toBe('{\n  "a": 1,\n  "b": 2,\n  "c": 3\n}\n');
    await landed(repo, put('new.json', '{"x": 1}'));
    const added = await repo.land({ author: agent('bob'), message: 'add', changes: [put('new.json', '{"y": 2}')] });
    expect(added.kind).toBe('merged');
    expect(JSON.parse(textOf(repo, 'new.json') ?? '')).toEqual({ x: 1, y: 2 });
  });

  test('a driver that refuses what merges clean by line shows one hunk, which a resolution accounts for', async () => {
    const repo = await tempRepo();
    const lines = (...keys: string[]): string => `{\n${keys.join(',\n')}\n}\n`;
    const [a, b, c, d] = ['"a": 1', '"b": 2', '"c": 3', '"d": 4'] as const;
    const outcome = await race(
      repo,
      'a.json',
      lines(a, b, c, d),
      lines('"x": 1', a, b, c, d),
      lines(a, b, c, '"x": 2', d),
    );
    expect(outcome.kind).toBe('conflicted');
    const [conflict] = repo.conflicts();
    const [path] = conflict?.paths ?? [];
    expect(path).toMatchObject({ driver: 'json', lines: 'clean', structure: 'conflict', reason: 'content' });
    expect(path?.hunks).toHaveLength(1);
    expect(Buffer.from(path?.hunks[0]?.current.text ?? '').toString()).toBe('"x": 1,\n"a": 1,\n"b": 2,\n"c": 3,\n');
    const results = [{ path: 'a.json' as const, content: lines(a, b, c, d, '"x": 3') }];
    const resolution = { author: agent('m'), asOf: conflict?.asOf ?? 0, results };
    const bare = await repo.resolve(conflict?.id ?? '', resolution);
    expect(bare).toMatchObject({ kind: 'rejected', code: 'resolution-unaccounted' });
    const otherwise = { fate: 'transformed', reason: 'x is 3 now' } as const;
    expect((await repo.resolve(conflict?.id ?? '', { ...resolution, otherwise })).kind).toBe('landed');
  });

  test('the conflict of a lock file says how to write it anew', async () => {
    const repo = await tempRepo();
    const outcome = await race(repo, 'Cargo.lock', 'a\n', 'b\n', 'c\n');
    expect(outcome.kind).toBe('conflicted');
    expect(repo.conflicts()[0]?.paths[0]).toMatchObject({
      driver: 'lock',
      hint: expect.stringContaining('cargo') as string,
    });
  });
});

describe('source files merge by structure where the lines are not enough', () => {
  const fn = (name: string, body = 'return 1;'): string => `function ${name}() {\n  ${body}\n}\n`;
  const file = (...parts: string[]): string => parts.join('\n');

  test('functions added at one place merge; both verdicts and the version of the grammar are recorded', async () => {
    const repo = await tempRepo();
    const outcome = await race(repo, 'a.ts', fn('a'), file(fn('a'), fn('b')), file(fn('a'), fn('c')));
    const note = { driver: 'structural', driverVersion: '3+tree-sitter-typescript-0.23.2' };
    expect(outcome).toMatchObject({ merged: [{ ...note, lines: 'conflict', structure: 'clean' }] });
    expect(textOf(repo, 'a.ts')).toBe(file(fn('a'), fn('b'), fn('c')));
  });

  test('one function added by both sides is a conflict over what holds it', async () => {
    const repo = await tempRepo();
    const base = file(fn('a'), fn('b'), fn('c'), fn('d'));
    const current = file(fn('a'), fn('x'), fn('b'), fn('c'), fn('d'));
    const incoming = file(fn('a', 'return 9;'), fn('b'), fn('c'), fn('x'), fn('d'));
    expect((await race(repo, 'a.ts', base, current, incoming)).kind).toBe('conflicted');
    const [path] = repo.conflicts()[0]?.paths ?? [];
    expect(path).toMatchObject({ driver: 'structural', lines: 'clean', structure: 'conflict' });
    expect(path?.refused).toEqual({ start: 4, count: 8 });
    expect(path?.hunks).toHaveLength(1);
  });

  test('many late intents on one file: the merge inside the batch is the one outside', async () => {
    const repo = await tempRepo();
    const seq = await landed(repo, put('hot.ts', file(fn('first'), fn('last'))));
    const names = Array.from({ length: 8 }, (_, n) => `f${n}`);
    const outcomes = await Promise.all(
      names.map((name) =>
        repo.land({
          author: agent(name),
          message: 'add',
          changes: [put('hot.ts', file(fn('first'), fn(name), fn('last')), seq)],
        }),
      ),
    );
    expect(outcomes.map(({ kind }) => kind).toSorted()).toEqual(['landed', ...Array<string>(7).fill('merged')]);
    const found = [...(textOf(repo, 'hot.ts') ?? '').matchAll(/function (\w+)/g)].map((match) => match[1] ?? '');
    expect(found).toHaveLength(10);
    expect(new Set(found)).toEqual(new Set(['first', ...names, 'last']));
  });
});

describe("a program's own driver", () => {
  const longest: MergeDriver = {
    id: 'longest',
    version: '7',
    takesBinary: true,
    merge: ({ current, incoming }) => ({
      kind: 'clean',
      content: current.length >= incoming.length ? current : incoming,
    }),
  };

  async function repoWith(drivers: readonly MergeDriver[]): Promise<Repo> {
    const repo = await openRepo(tempDir(), { create: true, drivers });
    onCleanup(() => repo.close());
    return repo;
  }

  test('merges what .gitattributes gives it, binary contents too, and stands in the log with its version', async () => {
    const repo = await repoWith([longest]);
    await landed(repo, put('.gitattributes', '*.bin merge=longest\n'));
    const outcome = await race(repo, 'x.bin', '\0', '\0a', '\0bc');
    expect(outcome).toMatchObject({ merged: [{ driver: 'longest', driverVersion: '7', lines: undefined }] });
    expect(textOf(repo, 'x.bin')).toBe('\0bc');
  });

  test('merges each of many intents on one path, all of which were late', async () => {
    const appending: MergeDriver = {
      ...longest,
      merge: ({ base, current, incoming }) => ({
        kind: 'clean',
        content: Buffer.concat([current, incoming.subarray(base?.length)]),
      }),
    };
    const repo = await repoWith([appending]);
    await landed(repo, put('.gitattributes', '* merge=longest\n'));
    const seq = await landed(repo, put('hot', ''));
    const letters = 'abcdefghijklmnopqrst'.split('');
    const outcomes = await Promise.all(
      letters.map((letter) => repo.land({ author: agent(letter), message: 'add', changes: [put('hot', letter, seq)] })),
    );
    expect(outcomes.map(({ kind }) => kind).toSorted()).toEqual(['landed', ...Array<string>(19).fill('merged')]);
    expect((textOf(repo, 'hot') ?? '').split('').toSorted()).toEqual(letters);
  });

  test('with an id that is taken is refused when the repo is opened', async () => {
    const dir = tempDir();
    await expect(openRepo(dir, { create: true, drivers: [{ ...longest, id: 'union' }] })).rejects.toMatchObject({
      code: 'invalid-argument',
    });
    expect(readdirSync(dir)).toEqual([]);
  });
});
