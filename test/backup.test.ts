import { any, openRepo } from '@mound/vcs';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { mound, moundBin, start, type Running } from './kit/process.ts';
import { onCleanup, setup, tempDir, tempRepo } from './kit/temp.ts';

interface Ack {
  readonly operationId: string;
  readonly path: string;
  readonly line: string;
  readonly kind: string;
  readonly seq: number;
}

const writer = fileURLToPath(new URL('kit/writer.js', import.meta.url));

function acksIn(file: string): Ack[] {
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, 'utf8').split('\n').slice(0, -1);
  return lines.map((line) => JSON.parse(line) as Ack).filter(({ kind }) => kind === 'landed' || kind === 'merged');
}

test('a backup taken while several processes write is a whole repository, and writes go on in it', async () => {
  const dir = tempDir();
  const repo = await tempRepo(dir);
  const ackFile = (name: string): string => join(dir, `${name}.acks`);
  const names = ['p', 'q'];
  const writers = names.map((name): Running => start(process.execPath, [writer, dir, name, '400', '4', ackFile(name)]));
  while (names.some((name) => acksIn(ackFile(name)).length < 20)) await sleep(20);

  for (const round of [1, 2]) {
    const target = join(dir, 'backups', String(round));
    const before = names.flatMap((name) => acksIn(ackFile(name)));
    const { seq, bytes } = await repo.backup(target);
    expect(bytes).toBeGreaterThan(4096);
    expect(readdirSync(join(target))).toEqual(['.mound']);

    const copy = await openRepo(target);
    onCleanup(() => copy.close());
    expect(copy.repoId).toBe(repo.repoId);
    expect(copy.snapshot().seq).toBe(seq);
    expect(copy.fsck()).toMatchObject({ ok: true, entries: seq });
    expect(Math.max(...before.map((ack) => ack.seq))).toBeLessThanOrEqual(seq);
    for (const { operationId, path, line, seq: at } of before) {
      expect(copy.outcome(operationId)).toMatchObject({ seq: at });
      expect(copy.snapshot(at).readText(path)).toContain(line);
    }
    // Writes go on in the copy, and the original does not see them.
    for (let i = 1; i <= 40; i++) {
      const outcome = await copy.put('only-here.txt', `${i}\n`.repeat(2000), { author: setup, expect: any });
      expect(outcome).toMatchObject({ kind: 'landed', seq: seq + i });
    }
    expect(copy.fsck().ok).toBe(true);
    expect(repo.snapshot().head('only-here.txt')).toBeUndefined();
  }
  for (const { finished } of writers) expect((await finished).code).toBe(0);
  expect(repo.fsck().ok).toBe(true);
});

test('the command makes it, a damaged original is replaced by it, and exit codes tell what went wrong', async () => {
  const dir = tempDir();
  const repo = await tempRepo(join(dir, 'r'));
  await repo.put('a.txt', 'kept\n', { author: setup, operationId: 'op-1' });
  await repo.close();
  const made = await mound(['--repo', join(dir, 'r'), 'backup', join(dir, 'b'), '--json']);
  expect(made.code).toBe(0);
  expect(JSON.parse(made.stdout)).toMatchObject({ backup: join(dir, 'b'), seq: 1 });

  // Restore: the copy is used where it stands.
  writeFileSync(join(dir, 'r/.mound/store/data.mdb'), 'lost');
  expect((await mound(['--repo', join(dir, 'r'), 'log'])).code).toBe(42);
  const log = await mound(['--repo', join(dir, 'b'), 'log', '--json']);
  expect((JSON.parse(log.stdout) as { entries: object[] }).entries).toHaveLength(1);
  const restored = await openRepo(join(dir, 'b'));
  expect(restored.outcome('op-1')).toMatchObject({ kind: 'landed', seq: 1 });
  await restored.put('a.txt', 'goes on\n', { author: setup, expect: any });
  await expect(restored.backup(join(dir, 'b'))).rejects.toMatchObject({ code: 'already-a-repository' });
  writeFileSync(join(dir, 'file'), '');
  await expect(restored.backup(join(dir, 'file'))).rejects.toMatchObject({ code: 'invalid-argument' });
  await restored.close();
  expect((await mound(['--repo', join(dir, 'b'), 'backup', join(dir, 'b')])).code).toBe(1);
});

test('a backup that is killed leaves no repository behind, one that runs after it does', async () => {
  const dir = tempDir();
  const repo = await tempRepo(join(dir, 'r'));
  const noise = Buffer.alloc(24 * 1024 * 1024);
  for (let at = 0; at < noise.length; at += 4) noise.writeUInt32LE(Math.imul(at, 0x9e3779b1) >>> 0, at);
  await repo.put('big.bin', noise, { author: setup });
  let isCaught = false;
  for (let attempt = 0; attempt < 10 && !isCaught; attempt++) {
    const target = join(dir, `b${attempt}`);
    const { child, finished } = start(process.execPath, [moundBin, '--repo', join(dir, 'r'), 'backup', target]);
    while (child.exitCode === null && !(existsSync(target) && readdirSync(target).length > 0)) await sleep(1);
    child.kill('SIGKILL');
    const { signal } = await finished;
    isCaught = signal === 'SIGKILL' && !existsSync(join(target, '.mound'));
    if (existsSync(join(target, '.mound'))) continue;
    const { seq } = await repo.backup(target);
    const copy = await openRepo(target);
    expect(copy.snapshot().read('big.bin')?.equals(noise)).toBe(true);
    expect(copy.snapshot().seq).toBe(seq);
    await copy.close();
  }
  expect(isCaught).toBe(true);
});

/** A file system of 2 MiB, where the user may mount one. */
function tinyDisk(): string | undefined {
  const dir = join(tempDir(), 'disk');
  mkdirSync(dir);
  if (spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=2m', 'tmpfs', dir]).status !== 0) return undefined;
  onCleanup(() => void spawnSync('umount', ['-l', dir]));
  return dir;
}

test('a full disk is a typed error, and nothing of the copy stays', async (context) => {
  const repo = await tempRepo();
  const noise = Buffer.alloc(4 * 1024 * 1024);
  for (let at = 0; at < noise.length; at += 4) noise.writeUInt32LE(Math.imul(at, 0x9e3779b1) >>> 0, at);
  await repo.put('big.bin', noise, { author: setup });
  const disk = tinyDisk();
  if (disk === undefined) return context.skip('no file system can be mounted here');
  await expect(repo.backup(join(disk, 'b'))).rejects.toMatchObject({ code: 'disk-full' });
  expect(readdirSync(join(disk, 'b'))).toEqual([]);
  expect((await repo.put('a.txt', 'goes on\n', { author: setup })).kind).toBe('landed');
});
