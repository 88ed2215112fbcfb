import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { limits, openRepo, type Outcome, type Repo } from '@mound/vcs';
import { afterEach, expect, test } from 'vitest';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { mound, start, type Running } from './kit/process.ts';
import { agent, onCleanup, tempDir, tempRepo } from './kit/temp.ts';

const script = fileURLToPath(new URL('./kit/stopping-writer.js', import.meta.url));
const author = agent('a');
const bounds: { writerWaitMsMax: number } = limits;
const { writerWaitMsMax } = limits;
afterEach(() => {
  bounds.writerWaitMsMax = writerWaitMsMax;
});

const isLinux = process.platform === 'linux';

function isStopped(pid: number): boolean {
  return /^State:\s*T/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
}

/** A writer that stands still at a step of its commit. */
async function stoppedAt(dir: string, step: string): Promise<Running & { readonly pid: number }> {
  const running = start(process.execPath, [script, dir, step]);
  const pid = running.child.pid ?? 0;
  while (!isStopped(pid)) await sleep(20);
  return { ...running, pid };
}

const put = (repo: Repo, path: string): Promise<Outcome> => repo.put(path, 'x\n', { author, operationId: path });

test.runIf(isLinux)('the bound for a stopped holder of the writer mutex is five seconds', () => {
  expect(limits.writerWaitMsMax).toBe(5000);
});

test.runIf(isLinux).each([
  ['batch-begun', 'SIGCONT'],
  ['decided', 'SIGKILL'],
  ['entry-written', 'SIGCONT'],
  ['heads-written', 'SIGKILL'],
  ['batch-written', 'SIGCONT'],
  ['batch-written', 'SIGKILL'],
] as const)('a writer stopped inside its batch, at %s, is named; all goes on after %s', async (step, signal) => {
  const dir = tempDir();
  const repo = await tempRepo(dir);
  await put(repo, 'mine.txt');
  bounds.writerWaitMsMax = 300;
  const { child, pid, finished } = await stoppedAt(dir, step);

  const error = await put(repo, 'refused.txt').catch((cause: unknown) => cause);
  expect(error).toMatchObject({ code: 'writer-stalled', fields: { pid, state: 'stopped' } });
  expect(String(error)).toContain('stopping-writer.js');
  expect(String(error)).toContain(`kill -CONT ${pid}`);
  // Those that come later are answered at once, those that were queued as well.
  const others = await Promise.allSettled(['b.txt', 'c.txt', 'd.txt'].map((path) => put(repo, path)));
  expect(others.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);

  expect(repo.snapshot().readText('mine.txt')).toBe('x\n');
  expect(repo.snapshot().readText('stopping/before.txt')).toBe('x\n');

  child.kill(signal);
  await finished;
  expect((await put(repo, 'after.txt')).kind).toBe('landed');
  expect(repo.outcome('refused.txt')).toBeUndefined();
  const paths = repo.snapshot().list();
  const found = paths.map(({ path }) => String(path));
  const carriedOn = signal === 'SIGCONT' ? ['stopping/stopped.txt'] : [];
  expect(found).toEqual(['after.txt', 'mine.txt', 'stopping/before.txt', ...carriedOn]);
  expect((await put(repo, 'refused.txt')).kind).toBe('landed');
  expect(repo.fsck()).toMatchObject({ ok: true });
});

test.runIf(isLinux).each(['prepared', 'committed', 'told'])('a writer stopped at %s holds nobody up', async (step) => {
  const dir = tempDir();
  const repo = await tempRepo(dir);
  bounds.writerWaitMsMax = 300;
  const { child, finished } = await stoppedAt(dir, step);
  expect((await put(repo, 'a.txt')).kind).toBe('landed');
  const isFlushed = step === 'committed' || step === 'told';
  expect(repo.snapshot().readText('stopping/stopped.txt')).toBe(isFlushed ? 'x\n' : undefined);
  child.kill('SIGCONT');
  expect((await finished).stdout).toContain('landed');
});

test.runIf(isLinux)('a process that comes while the holder is stopped reads, and writes when it goes on', async () => {
  const dir = tempDir();
  await put(await tempRepo(dir), 'mine.txt');
  const { child, finished } = await stoppedAt(dir, 'batch-written');
  const [cat, refused, late] = await Promise.all([
    mound(['cat', 'mine.txt', '--repo', dir]),
    mound(['put', 'refused.txt', '-m', 'm', '--repo', dir], { input: 'x\n' }),
    openRepo(dir),
  ]);
  onCleanup(() => late.close());
  expect(cat).toMatchObject({ code: 0, stdout: 'x\n' });
  expect(refused.code).toBe(1);
  expect(refused.stderr).toContain('kill -CONT');
  child.kill('SIGCONT');
  await finished;
  expect((await put(late, 'late.txt')).kind).toBe('landed');
  expect(late.snapshot().list()).toHaveLength(4);
});

test.runIf(isLinux)('a turn that its owner never gives up is passed over', async () => {
  const dir = tempDir();
  const repo = await tempRepo(dir);
  const { dev, ino } = statSync(join(dir, '.mound/store/data.mdb'));
  const squatter = createServer(() => undefined).listen({ path: `\0mound/${dev}:${ino}` });
  onCleanup(() => void squatter.close());
  // Turns are taken among several processes only.
  const { child } = await stoppedAt(dir, 'committed');
  expect((await put(repo, 'a.txt')).kind).toBe('landed');
  child.kill('SIGKILL');
});

test.runIf(isLinux)(
  'one that is stopped while it makes the lock file anew is named to those who open',
  async (context) => {
    const dir = tempDir();
    await (await openRepo(dir, { create: true })).close();
    // As LMDB does in the first process that opens the environment.
    const hold = `import fcntl, os, signal, sys
file = open(sys.argv[1], 'r+b')
fcntl.lockf(file, fcntl.LOCK_EX, 1, 0)
os.kill(os.getpid(), signal.SIGSTOP)`;
    const holder = start('python3', ['-c', hold, join(dir, '.mound/store/lock.mdb')]);
    const pid = holder.child.pid;
    if (pid === undefined) {
      await holder.finished.catch(() => undefined);
      console.warn('skipped: there is no python3 to hold a POSIX lock');
      return context.skip();
    }
    while (!isStopped(pid)) await sleep(20);
    bounds.writerWaitMsMax = 300;
    await expect(openRepo(dir)).rejects.toMatchObject({ code: 'writer-stalled', fields: { pid, state: 'stopped' } });
    holder.child.kill('SIGCONT');
    await (await openRepo(dir)).close();
  },
);
