import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, expect, test } from 'vitest';
import type { Repo } from '../repo/api.ts';
import { openRepo } from '../repo/open.ts';
import { landingSeqOf } from './branch-names.ts';
import { fsck, git, removeTemporaries, temporaryDir } from './git-fixtures.test.kit.ts';
import { gitWithHelper, startGitWithHelper } from './helper.test.kit.ts';

afterAll(removeTemporaries);

/** A store with one commit and a clone of it whose main is `count` commits ahead. */
async function cloneAhead(
  count: number,
): Promise<{ readonly dir: string; readonly clone: string; readonly tip: string }> {
  const dir = join(temporaryDir(), 'store');
  const made = await openRepo(dir, { create: true });
  await made.put('first.txt', 'first\n', { author: { name: 'Worker', kind: 'agent' }, message: 'first' });
  await made.close();
  const clone = join(temporaryDir(), 'clone');
  expect(gitWithHelper()('/', 'clone', '-q', `mound::${dir}`, clone)).toMatchObject({ code: 0, stderr: '' });
  const parts: string[] = [];
  for (let at = 1; at <= count; at++) {
    const who = `Ada <ada@example.invalid> ${1_700_000_000 + at} +0130`;
    const [message, text] = [`commit ${at}\n`, `${at}\n`.repeat(20)];
    parts.push(`commit refs/heads/main\nauthor ${who}\ncommitter ${who}\ndata ${message.length}\n${message}`);
    if (at === 1) parts.push(`from ${git(clone, ['rev-parse', 'main'])}\n`);
    parts.push(`M 100644 inline d${at % 7}/f${at % 50}\ndata ${text.length}\n${text}\n`);
  }
  git(clone, ['fast-import', '--quiet', '--force'], parts.join(''));
  return { dir, clone, tip: git(clone, ['rev-parse', 'main']) };
}

function headOf(repo: Repo): string | undefined {
  const seq = landingSeqOf(repo, repo.branch('main'));
  return seq === undefined ? undefined : repo.gitMarks.gitIdOf(seq);
}

interface Watched {
  /** Of git itself; null: it was killed. */
  readonly code: number | null;
  /** Every number of commits that stood in the store meanwhile. */
  readonly counts: ReadonlySet<number>;
  readonly ms: number;
}

/** Pushes with the real git, looks at the store all the time, and kills everything at once when that is due. */
async function push(clone: string, watcher: Repo, isDue: (ms: number, commits: number) => boolean): Promise<Watched> {
  const child = startGitWithHelper(clone, 'push', '-q', 'origin', 'main');
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  const startMs = performance.now();
  const counts = new Set<number>();
  let isOver = false;
  void ended.then(() => (isOver = true));
  while (!isOver) {
    const { commits } = watcher.stats();
    counts.add(commits);
    if (child.pid !== undefined && isDue(performance.now() - startMs, commits)) process.kill(-child.pid, 'SIGKILL');
    await sleep(1);
  }
  counts.add(watcher.stats().commits);
  return { code: await ended, counts, ms: performance.now() - startMs };
}

const never = (): boolean => false;

test('a push of hundreds of commits is there whole or not at all, whenever it is killed', async () => {
  const count = 600;
  const whole = await cloneAhead(count);
  const other = await openRepo(whole.dir);
  const unharmed = await push(whole.clone, other, never);
  expect([unharmed.code, [...unharmed.counts]]).toEqual([0, [1, count + 1]]);
  await other.close();

  const { dir, clone, tip } = await cloneAhead(count);
  const watcher = await openRepo(dir);
  const before = headOf(watcher);
  let kills = 0;
  for (const part of [0.2, 0.5, 0.7, 0.8, 0.9, 0.95]) {
    const { code, counts } = await push(clone, watcher, (ms) => ms > unharmed.ms * part);
    if (code === null) kills++;
    expect([before, tip]).toContain(headOf(watcher));
    for (const commits of counts) expect([1, count + 1]).toContain(commits);
  }
  expect(kills).toBeGreaterThan(0);
  expect(await push(clone, watcher, never)).toMatchObject({ code: 0 });
  expect([headOf(watcher), watcher.stats().commits, watcher.fsck().errors]).toEqual([tip, count + 1, []]);
  await watcher.close();
  expect(git(clone, ['rev-parse', 'origin/main'])).toBe(tip);
}, 300_000);

test('a push too long for one transaction goes on where it was killed, and brings each commit once', async () => {
  const count = 2400;
  const { dir, clone, tip } = await cloneAhead(count);
  const watcher = await openRepo(dir);
  const landed: number[] = [];
  for (let kill = 0; kill < 2; kill++) {
    const least = watcher.stats().commits;
    await push(clone, watcher, (_ms, commits) => commits > least);
    landed.push(watcher.stats().commits);
  }
  // The kills meant to fall between transactions did.
  expect(landed.filter((commits) => commits > 1 && commits < count + 1).length).toBeGreaterThan(0);

  // What stands there is a prefix of what was pushed: a caller who looks gets whole commits, and git a true history.
  const run = gitWithHelper();
  const seen = join(temporaryDir(), 'seen');
  expect(run('/', 'clone', '-q', `mound::${dir}`, seen)).toMatchObject({ code: 0, stderr: '' });
  expect(git(clone, ['merge-base', '--is-ancestor', git(seen, ['rev-parse', 'main']), 'main'])).toBe('');

  expect(await push(clone, watcher, never)).toMatchObject({ code: 0 });
  expect([headOf(watcher), watcher.stats().commits, watcher.fsck().errors]).toEqual([tip, count + 1, []]);
  expect(run(clone, 'push', 'origin', 'main')).toMatchObject({ code: 0, stderr: 'Everything up-to-date\n' });
  await watcher.close();
  const copy = join(temporaryDir(), 'copy');
  expect(run('/', 'clone', '-q', `mound::${dir}`, copy)).toMatchObject({ code: 0, stderr: '' });
  expect([git(copy, ['rev-parse', 'main']), git(copy, ['rev-list', '--count', 'main'])]).toEqual([tip, `${count + 1}`]);
  expect(fsck(copy)).toBe('');
}, 300_000);

test('what a helper that was killed left in the repository that git is served from stands in nobody’s way', async () => {
  const { dir, clone } = await cloneAhead(1);
  const run = gitWithHelper();
  const twin = join(dir, '.mound/git');
  const land = async (path: string): Promise<void> => {
    const repo = await openRepo(dir);
    await repo.put(path, path, { author: { name: 'Worker', kind: 'agent' }, message: path });
    await repo.close();
  };
  const fetched = (): void => {
    expect(run(clone, 'fetch', '-q')).toMatchObject({ code: 0, stderr: '' });
    expect(run(clone, 'ls-tree', '-r', '--name-only', 'origin/main').stdout).toContain(last);
  };
  let last = 'one';
  for (const lock of ['refs/heads/main.lock', 'HEAD.lock', 'packed-refs.lock']) {
    last = `for-${lock.replace('/', '-')}`;
    await land(last);
    writeFileSync(join(twin, lock), '');
    fetched();
    rmSync(join(twin, lock), { force: true });
  }
  // Killed as it was made: a directory that is no repository yet.
  last = 'half-made';
  await land(last);
  rmSync(join(twin, 'HEAD'));
  fetched();
}, 300_000);
