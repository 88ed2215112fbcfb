import { fileURLToPath } from 'node:url';
import { absent, openRepo, seededRandom, version, type Repo } from '@mound/vcs';
import { expect, test } from 'vitest';
import { start } from './kit/process.ts';
import { agent, setup, tempDir, tempRepo } from './kit/temp.ts';

const writerScript = fileURLToPath(new URL('./kit/writer.js', import.meta.url));
const compacterScript = fileURLToPath(new URL('./kit/compacter.js', import.meta.url));

/** What a reader can see of a repository: each file at each seq, each commit, each event. */
function everything(repo: Repo): unknown {
  const { seq } = repo.stats();
  const contents = Array.from({ length: seq + 1 }, (_, at) =>
    repo
      .snapshot(at)
      .list()
      .map(({ path, blob, mode, version: of }) => [path, blob, mode, of, repo.snapshot(at).readText(path)]),
  );
  return { contents, log: [...repo.log()], events: [...repo.events()], conflicts: repo.conflicts() };
}

async function randomHistory(repo: Repo, count: number): Promise<void> {
  const random = seededRandom(11);
  for (let i = 0; i < count; i++) {
    const path = `f${random.below(7)}`;
    const head = repo.snapshot().head(path);
    const before = repo.snapshot().readText(path) ?? '';
    const content = i % 50 === 49 ? 'x'.repeat(20_000 + i) : `${before}line ${i}\n`.slice(-4000);
    const options = { author: agent(`a${i % 5}`), message: `Add line ${i} to ${path}`, operationId: `op-${i}` };
    const outcome = await repo.put(path, content, { ...options, expect: head ? version(head.version) : absent });
    expect(outcome.kind).toBe('landed');
  }
}

test('a compacted log reads as it did, is sound, smaller, and goes on', async () => {
  const dir = tempDir();
  let repo = await tempRepo(dir);
  await randomHistory(repo, 300);
  const before = everything(repo);
  const report = await repo.compact({ keep: 20 });
  expect(report.entries).toBe(repo.stats().seq - 20);
  expect(report.bytesAfter).toBeLessThan(report.bytesBefore * 0.8);
  expect(everything(repo)).toEqual(before);
  expect(repo.fsck()).toMatchObject({ ok: true, errors: [] });
  expect(await repo.compact({ keep: 20 })).toMatchObject({ entries: 0 });
  await repo.close();
  repo = await openRepo(dir);
  expect(everything(repo)).toEqual(before);
  expect(repo.outcome('op-3')).toMatchObject({ kind: 'landed', seq: 4 });
  const head = repo.snapshot().head('f1');
  const next = await repo.put('f1', 'after\n', { author: setup, expect: version(head?.version ?? 0) });
  expect(next.kind).toBe('landed');
  await repo.close();
});

test('compaction that is killed again and again beside a writer loses nothing', async () => {
  const dir = tempDir();
  const repo = await tempRepo(dir);
  await repo.put('shared/list.txt', '', { author: setup });
  let kills = 0;
  // One writer after another until there were enough: on a busy machine a compacter takes as long to start as a writer works.
  for (let round = 0; kills <= 2; round++) {
    const { finished } = start(process.execPath, [writerScript, dir, `w${round}`, '1500', '20', `${dir}/acks`]);
    let isWriting = true;
    void finished.then(() => (isWriting = false));
    while (isWriting) {
      const { child, finished: ended } = start(process.execPath, [compacterScript, dir, '50']);
      await new Promise<void>((resolve) => child.stdout?.once('data', () => resolve()));
      await new Promise((resolve) => setTimeout(resolve, 5 + (kills % 7) * 9));
      child.kill('SIGKILL');
      await ended;
      kills++;
    }
    expect(await finished).toMatchObject({ code: 0, stderr: '' });
  }
  const report = await repo.compact({ keep: 0 });
  expect(report.entries).toBeGreaterThan(0);
  expect(repo.fsck()).toMatchObject({ ok: true, errors: [] });
  expect(repo.stats().commits).toBeGreaterThan(1000);
  expect([...repo.log()]).toHaveLength(repo.stats().commits);
});
