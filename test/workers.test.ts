import { fileURLToPath } from 'node:url';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { openRepo } from '@mound/vcs';
import { expect, test } from 'vitest';
import { onCleanup, setup, tempDir, tempRepo } from './kit/temp.ts';
import { readFileSync } from 'node:fs';

const writerScript = fileURLToPath(new URL('./kit/writer.js', import.meta.url));

test('worker threads of one process commit at once, beside its main thread', async () => {
  const dir = tempDir();
  const first = await openRepo(dir, { create: true });
  await first.put('shared/list.txt', '', { author: setup });
  await first.close();
  const repo = await tempRepo(dir);
  const ended = ['a', 'b', 'c'].map((name) => {
    const worker = new Worker(writerScript, {
      argv: [dir, name, '60', '6', join(dir, `acks-${name}`)],
      stdout: true,
      execArgv: [],
    });
    onCleanup(async () => void (await worker.terminate()));
    return new Promise<number>((resolve, reject) => {
      worker.once('error', reject);
      worker.once('exit', resolve);
    });
  });
  const own = await Promise.all(
    Array.from({ length: 60 }, (_, i) => repo.put(`main/${i}.txt`, `${i}\n`, { author: setup })),
  );
  expect(await Promise.all(ended)).toEqual([0, 0, 0]);
  expect(own.every(({ kind }) => kind === 'landed')).toBe(true);
  const acks = ['a', 'b', 'c'].flatMap((name) =>
    readFileSync(join(dir, `acks-${name}`), 'utf8')
      .trim()
      .split('\n'),
  );
  expect(acks).toHaveLength(180);
  const landed = acks.map((line) => JSON.parse(line) as { kind: string; operationId: string; seq: number });
  for (const ack of landed.filter(({ kind }) => kind === 'landed')) {
    expect(repo.commit(ack.seq).operationId).toBe(ack.operationId);
  }
  expect(repo.fsck()).toMatchObject({ ok: true });
});
