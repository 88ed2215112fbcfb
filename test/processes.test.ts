import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openRepo, type Repo } from '@mound/vcs';
import { expect, test } from 'vitest';
import { start, type Running } from './kit/process.ts';
import { setup, tempDir, tempRepo } from './kit/temp.ts';

const writerScript = fileURLToPath(new URL('./kit/writer.js', import.meta.url));

interface Acknowledgement {
  readonly operationId: string;
  readonly path: string;
  readonly line: string;
  readonly kind: string;
  readonly seq: number;
}

function startWriter(dir: string, name: string, count: number, width: number): { running: Running; ackFile: string } {
  const ackFile = join(dir, `acks-${name}`);
  return { running: start(process.execPath, [writerScript, dir, name, `${count}`, `${width}`, ackFile]), ackFile };
}

/** Whole lines only: a kill may cut the last one. */
function readAcks(file: string): Acknowledgement[] {
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, 'utf8').split('\n').slice(0, -1);
  return lines.map((line) => JSON.parse(line) as Acknowledgement);
}

/** Each acknowledged landing is in the log at its seq and its line in the file's history; nothing else is. */
function verify(repo: Repo, acks: readonly Acknowledgement[], unknownMax: number): void {
  const landed = acks.filter(({ kind }) => kind === 'landed' || kind === 'merged');
  for (const ack of landed) {
    const view = repo.commit(ack.seq);
    expect(view.operationId).toBe(ack.operationId);
    expect(view.changes.map(({ path }) => path)).toEqual([ack.path]);
    expect(repo.outcome(ack.operationId)).toMatchObject({ kind: ack.kind, seq: ack.seq });
    expect(repo.snapshot().readText(ack.path)?.split('\n')).toContain(ack.line.trim());
  }
  const inLog = [...repo.log()].filter(({ operationId }) => operationId !== undefined).length;
  expect(inLog).toBeGreaterThanOrEqual(landed.length);
  // A killed writer may have landed what it did not live to acknowledge: at most one per agent.
  expect(inLog - landed.length).toBeLessThanOrEqual(unknownMax);
  expect(repo.fsck()).toMatchObject({ ok: true, errors: [] });
}

test('several processes commit at once: every acknowledgement is in the log, the shared file lost no line', async () => {
  const dir = tempDir();
  const repo = await openRepo(dir, { create: true });
  await repo.put('shared/list.txt', '', { author: setup });
  await repo.close();
  const writers = ['p', 'q', 'r', 's'].map((name) => startWriter(dir, name, 150, 10));
  const finished = await Promise.all(writers.map(({ running }) => running.finished));
  expect(finished.map(({ code, stderr }) => ({ code, stderr }))).toEqual(finished.map(() => ({ code: 0, stderr: '' })));
  const reopened = await tempRepo(dir);
  const acks = writers.flatMap(({ ackFile }) => readAcks(ackFile));
  expect(acks).toHaveLength(600);
  verify(reopened, acks, 0);
  const sharedLines = reopened.snapshot().readText('shared/list.txt')?.split('\n').length ?? 0;
  const sharedLanded = acks.filter(({ path, kind }) => path.startsWith('shared/') && kind === 'landed').length;
  expect(sharedLines - 1).toBe(sharedLanded);
});

test('kill -9 in the middle of landing loses no acknowledgement and blocks nobody', async () => {
  const dir = tempDir();
  const repo = await openRepo(dir, { create: true });
  await repo.put('shared/list.txt', '', { author: setup });
  await repo.close();
  const ackFiles: string[] = [];
  for (let round = 0; round < 5; round++) {
    const { running, ackFile } = startWriter(dir, `k${round}`, 100_000, 8);
    ackFiles.push(ackFile);
    await new Promise<void>((resolve) => running.child.stdout?.once('data', () => resolve()));
    await new Promise((resolve) => setTimeout(resolve, 120 + round * 37));
    running.child.kill('SIGKILL');
    expect((await running.finished).signal).toBe('SIGKILL');
  }
  const reopened = await tempRepo(dir);
  const acks = ackFiles.flatMap(readAcks);
  expect(acks.length).toBeGreaterThan(0);
  verify(reopened, acks, 5 * 8);
  const after = await reopened.put('after.txt', 'x\n', { author: setup });
  expect(after.kind).toBe('landed');
});

test('a follower in another process sees what lands here, in order', async () => {
  const dir = tempDir();
  const repo = await tempRepo(dir);
  await repo.put('a.txt', '0\n', { author: setup });
  const { running } = startWriter(dir, 'f', 40, 4);
  const stop = new AbortController();
  const seqs: number[] = [];
  for await (const event of repo.follow({ seq: 1, index: 1 }, stop.signal)) {
    seqs.push(event.seq);
    // A quarter of the intents may be refused as stale on the shared file; the rest must come.
    if (seqs.length === 30) stop.abort();
  }
  expect(seqs).toEqual(seqs.toSorted((a, b) => a - b));
  expect((await running.finished).code).toBe(0);
});
