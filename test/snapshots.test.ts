import { absent, any, seededRandom, version, type Repo } from '@mound/vcs';
import { expect, test } from 'vitest';
import { setup, tempRepo } from './kit/temp.ts';

const branches = ['main', 'side', 'deep'] as const;
const paths = Array.from({ length: 12 }, (_, i) => (i % 3 === 0 ? `dir/f${i}` : `f${i}`));

/** Puts, deletes and moves on a branch and its forks, `deep` being a fork of the fork. */
async function history(repo: Repo, count: number): Promise<void> {
  const random = seededRandom(5);
  let open = 1;
  for (let i = 0; i < count; i++) {
    if (i === 40) await repo.fork('side', { at: 25 });
    if (i === 80) await repo.fork('deep', { from: 'side' });
    if (i === 40 || i === 80) open++;
    const branch = branches[random.below(open)] ?? 'main';
    const path = paths[random.below(paths.length)] ?? '';
    const to = paths[random.below(paths.length)] ?? '';
    const snapshot = repo.snapshot(undefined, branch);
    const head = snapshot.head(path);
    const isMove = head !== undefined && random.below(8) === 0 && snapshot.head(to) === undefined;
    const change = isMove
      ? ({ kind: 'move', path, to, expect: version(head.version) } as const)
      : head !== undefined && random.below(5) === 0
        ? ({ kind: 'delete', path, expect: any } as const)
        : ({ kind: 'put', path, content: `${i}\n`, expect: head ? version(head.version) : absent } as const);
    const outcome = await repo.land({ author: setup, message: 'm', branch, changes: [change] });
    expect(outcome.kind).toBe('landed');
  }
}

test('all files as of any seq, on forks of forks too, are those that each path has there', async () => {
  const repo = await tempRepo();
  await history(repo, 300);
  const { seq } = repo.stats();
  for (const branch of branches) {
    for (let at = 0; at <= seq; at += 3) {
      const snapshot = repo.snapshot(at, branch);
      const single = paths.toSorted().flatMap((path) => snapshot.head(path) ?? []);
      expect(snapshot.list()).toEqual(single);
      expect(snapshot.list('dir')).toEqual(single.filter(({ path }) => path.startsWith('dir/')));
    }
  }
});

test('a snapshot that is listed again and again while others land stays as it is', async () => {
  const repo = await tempRepo();
  await history(repo, 150);
  const snapshot = repo.snapshot(100);
  const listed = snapshot.list();
  for (let i = 0; i < 30; i++) {
    for (const path of paths.slice(0, 4)) await repo.put(path, `later ${i}\n`, { author: setup, expect: any });
    expect(snapshot.list()).toEqual(listed);
  }
  expect(repo.snapshot().list()).not.toEqual(listed);
});
