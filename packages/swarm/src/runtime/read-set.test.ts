import { expect, test } from 'vitest';
import { any, type Repo } from '@mound/vcs';
import { ReadSet } from './read-set.ts';
import { human, newRepo, numbered } from './swarm.test.kit.ts';

const put = async (repo: Repo, path: string, content: string | null): Promise<void> => {
  const change = content === null ? ({ kind: 'delete', path, expect: any } as const) : undefined;
  const changes = [change ?? ({ kind: 'put', path, content: content ?? '', expect: any } as const)];
  await repo.land({ author: human, message: `change ${path}`, changes });
};

function readAll(repo: Repo): ReadSet {
  const set = new ReadSet(repo);
  for (const { path, version } of repo.snapshot().list()) set.note(path, version);
  return set;
}

test('what changed is told once, as a difference, with who did it', async () => {
  const repo = await newRepo({ a: numbered(30), b: 'b\n', gone: 'x\n', unread: 'u\n' });
  const set = new ReadSet(repo);
  for (const path of ['a', 'b', 'gone']) set.note(path, repo.snapshot().head(path)?.version ?? 0);
  expect(set.delta(repo.snapshot())).toBeUndefined();
  await put(repo, 'a', numbered(30).replace('line 7\n', 'seven\n'));
  await put(repo, 'gone', null);
  await put(repo, 'unread', 'v\n');
  const delta = set.delta(repo.snapshot());
  expect(delta).toMatch(/a is at version \d+ now, by Ada: change a\n@@ .* @@/);
  expect(delta).toContain('-line 7\n+seven\n');
  expect(delta).toContain('gone was deleted.');
  expect(delta).not.toContain('unread');
  expect(set.delta(repo.snapshot())).toBeUndefined();
  // The content in its context is the old one still, though it was told.
  expect(set.readVersion('a')).toBeLessThan(repo.snapshot().head('a')?.version ?? 0);
  expect(set.reads(new Set(['b'])).map(({ path }) => path)).toEqual(['a', 'gone']);
});

test('however much changed, an agent is told a bounded amount, and what is left out by name', async () => {
  const files = Object.fromEntries(Array.from({ length: 60 }, (_, at) => [`f${at}`, numbered(400)]));
  const repo = await newRepo(files);
  const set = readAll(repo);
  const changes = Object.keys(files).map((path) => ({
    kind: 'put' as const,
    path,
    content: numbered(400).replaceAll('line', 'changed'),
    expect: any,
  }));
  await repo.land({ author: human, message: 'all', changes });
  const delta = set.delta(repo.snapshot()) ?? '';
  expect(delta.length).toBeLessThan(17_000);
  expect(delta).toContain('(cut; read it again)');
  expect(delta).toMatch(/Changed too, read them again: .*f9/s);
  for (const path of Object.keys(files)) expect(delta).toContain(path);
});

test('who has read a file that is split is told of its parts; its own landings are no news', async () => {
  const repo = await newRepo({ hot: 'a1\na2\nb1\nb2\n', own: 'o\n' });
  const set = readAll(repo);
  const modules = ['a', 'b'].map((name) => ({ path: `m/${name}`, content: `${name}1\n${name}2\n` }));
  await repo.split('hot', { author: human, modules, remains: null });
  await put(repo, 'own', 'mine\n');
  set.wrote(['own'], repo.snapshot().seq);
  expect(set.delta(repo.snapshot())?.split('\n').slice(1)).toEqual(['hot was split; its parts are in m/a, m/b.']);
});
