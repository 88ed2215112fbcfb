import {
  absent,
  any,
  limits,
  openRepo,
  steppingClock,
  version,
  type BlobId,
  type Outcome,
  type Repo,
} from '@mound/vcs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { mound, start } from './kit/process.ts';
import { agent, onCleanup, setup, tempDir, tempRepo } from './kit/temp.ts';

const dayMs = 24 * 60 * 60 * 1000;

/** A repository whose clock is set by hand. */
async function timedRepo(dir = tempDir()): Promise<{ repo: Repo; clock: { nowMs: number } }> {
  const clock = { nowMs: 1_700_000_000_000 };
  const repo = await openRepo(dir, { create: true, clock: { now: () => clock.nowMs } });
  onCleanup(() => repo.close());
  return { repo, clock };
}

const keep = (repo: Repo, key: string, objects: readonly BlobId[]): Promise<Outcome> =>
  repo.land({ author: setup, message: 'keep', records: [{ key, expect: any, value: 'x', objects }] });

test('a staged object is durable, verified, and lands by its name', async () => {
  const dir = tempDir();
  const repo = await tempRepo(dir);
  const small = await repo.stage('hello\n');
  const large = Buffer.alloc(3 * 1024 * 1024);
  for (let at = 0; at < large.length; at += 4) large.writeUInt32LE(Math.imul(at, 0x9e3779b1) >>> 0, at);
  const big = await repo.stage(large);
  const empty = await repo.stage('');
  await repo.close();

  const again = await tempRepo(dir);
  expect(again.readObject(small).toString()).toBe('hello\n');
  expect(again.readObject(big).equals(large)).toBe(true);
  expect(again.readObject(empty)).toHaveLength(0);
  expect(() => again.readObject('0'.repeat(64) as BlobId)).toThrow(/is not staged/);
  const landed = await again.land({
    author: agent('a'),
    message: 'by name',
    operationId: 'op',
    changes: [
      { kind: 'put', path: 'a.txt', blob: small, expect: absent },
      { kind: 'put', path: 'b.bin', blob: big, expect: absent, mode: 'executable' },
    ],
  });
  expect(landed.kind).toBe('landed');
  expect(again.snapshot().head('b.bin')).toMatchObject({ blob: big, mode: 'executable' });
  expect(again.snapshot().read('b.bin')?.equals(large)).toBe(true);
  expect(again.fsck()).toMatchObject({ ok: true, objects: 5 });
  // What landed stays when the staged copy goes, and the same operation answers the same without it.
  expect(await again.gc({ graceMs: 0 })).toMatchObject({ objects: 3 });
  expect(again.snapshot().readText('a.txt')).toBe('hello\n');
  const repeated = await again.land({
    author: agent('a'),
    message: 'by name',
    operationId: 'op',
    changes: [
      { kind: 'put', path: 'a.txt', blob: small, expect: absent },
      { kind: 'put', path: 'b.bin', blob: big, expect: absent, mode: 'executable' },
    ],
  });
  expect(repeated).toEqual(landed);
  const gone = { kind: 'put', path: 'c.txt', blob: small, expect: absent } as const;
  expect(await again.land({ author: agent('a'), message: 'late', changes: [gone] })).toMatchObject({
    kind: 'rejected',
    code: 'no-such-object',
  });
});

test('a collection removes what nothing names and is old, says what it kept and why, and frees the bytes', async () => {
  const dir = tempDir();
  const { repo, clock } = await timedRepo(dir);
  const [named, renamed, inConflict, parked, loose, renewed] = await Promise.all(
    ['named', 'renamed', 'in conflict', 'parked', 'loose', 'renewed'].map((text) => repo.stage(text)),
  );
  const objects = [named, renamed, inConflict, parked, loose, renewed].map((blob) => blob ?? ('' as BlobId));
  const [n, r, c, p, l, w] = objects as [BlobId, BlobId, BlobId, BlobId, BlobId, BlobId];
  expect((await keep(repo, 'k/1', [n])).kind).toBe('landed');
  expect((await keep(repo, 'k/2', [r])).kind).toBe('landed');
  // Written over: an older snapshot still names it.
  expect((await keep(repo, 'k/2', [])).kind).toBe('landed');
  expect(repo.snapshot(2).record('k/2')?.objects).toEqual([r]);
  expect(repo.snapshot().record('k/1')?.objects).toEqual([n]);
  await repo.put('f.txt', 'one\n', { author: setup });
  const { seq } = repo.snapshot();
  await repo.put('f.txt', 'two\n', { author: setup, expect: version(seq) });
  const withObject = (content: string, key: string, blob: BlobId): Promise<Outcome> =>
    repo.land({
      author: agent('x'),
      message: 'm',
      changes: [{ kind: 'put', path: 'f.txt', content, expect: version(seq) }],
      records: [{ key, expect: absent, value: 'x', objects: [blob] }],
    });
  const conflicted = await withObject('three\n', 'k/3', c);
  expect(conflicted.kind).toBe('conflicted');
  await repo.freeze('g.txt', { author: setup, reason: 'split' });
  const frozen = await repo.land({
    author: agent('x'),
    message: 'm',
    changes: [{ kind: 'put', path: 'g.txt', content: 'g\n', expect: absent }],
    records: [{ key: 'k/4', expect: absent, value: 'x', objects: [p] }],
  });
  expect(frozen.kind).toBe('parked');

  expect(await repo.gc()).toMatchObject({ objects: 0, kept: { young: 6 } });
  clock.nowMs += limits.objectGraceMs + 1;
  await repo.stage('renewed');
  const dry = await repo.gc({ dryRun: true });
  expect(dry).toMatchObject({ dryRun: true, objects: 1, kept: { young: 1, record: 2, conflict: 1, parked: 1 } });
  expect(dry.bytes).toBeGreaterThan(5);
  expect(repo.readObject(l).toString()).toBe('loose');
  expect(await repo.gc()).toMatchObject({ dryRun: false, objects: 1, bytes: dry.bytes });
  expect(() => repo.readObject(l)).toThrow(/is not staged/);
  for (const blob of [n, r, c, p, w]) expect(repo.readObject(blob).length).toBeGreaterThan(0);
  expect(repo.fsck()).toMatchObject({ ok: true, errors: [] });

  // A record cannot name what is gone; the kept intents still land with theirs.
  expect(await keep(repo, 'k/5', [l])).toMatchObject({ kind: 'rejected', code: 'no-such-object' });
  const resolved = await repo.resolve(conflicted.kind === 'conflicted' ? conflicted.conflict : '', {
    author: agent('m'),
    results: [{ path: 'f.txt', content: 'two three\n' }],
    otherwise: { fate: 'transformed' },
  });
  expect(resolved.kind).toBe('landed');
  expect((await repo.thaw('g.txt', { author: setup, reason: 'done' })).parked).toMatchObject([
    { outcome: { kind: 'landed' } },
  ]);
  expect(repo.snapshot().record('k/4')?.objects).toEqual([p]);
  await repo.close();
  clock.nowMs += dayMs;
  const command = await mound(['--repo', dir, 'gc', '--grace', '0', '--json']);
  expect(command.code).toBe(0);
  expect(JSON.parse(command.stdout)).toMatchObject({ objects: 1, kept: { record: 4 } });
});

test('a record that lands while a collection runs has its object, or is refused', async () => {
  const dir = tempDir();
  const repo = await tempRepo(dir);
  const collector = start(process.execPath, [join(import.meta.dirname, 'kit/gc-loop.js'), dir], { holdStdin: true });
  const outcomes = new Map<string, number>();
  const kept: BlobId[] = [];
  for (let i = 0; i < 250; i++) {
    const blob = await repo.stage(`object ${i}`);
    const outcome = await keep(repo, `k/${i}`, [blob]);
    const code = outcome.kind === 'rejected' ? outcome.code : outcome.kind;
    outcomes.set(code, (outcomes.get(code) ?? 0) + 1);
    if (outcome.kind === 'landed') kept.push(blob);
  }
  collector.child.stdin?.end();
  expect((await collector.finished).code).toBe(0);
  expect([...outcomes.keys()].filter((code) => code !== 'landed' && code !== 'no-such-object')).toEqual([]);
  expect(kept.length).toBeGreaterThan(0);
  for (const blob of kept) expect(repo.readObject(blob).toString()).toMatch(/^object/);
  expect(repo.fsck()).toMatchObject({ ok: true, errors: [] });
});

test('a collection that is killed has removed whole objects only', async () => {
  const dir = tempDir();
  const repo = await openRepo(dir, { create: true, clock: steppingClock(1_000_000_000_000) });
  const blobs = await Promise.all(Array.from({ length: 1500 }, (_, i) => repo.stage(Buffer.alloc(1500, `${i} `))));
  await repo.close();
  for (const waitMs of [90, 110, 130, 150]) {
    const { child, finished } = start(process.execPath, [
      join(import.meta.dirname, '../packages/vcs/bin/mound.js'), '--repo', dir, 'gc', '--grace', '0',
    ]); // prettier-ignore
    await sleep(waitMs);
    child.kill('SIGKILL');
    await finished;
    const after = await openRepo(dir);
    expect(after.fsck()).toMatchObject({ ok: true, errors: [] });
    await after.close();
  }
  const last = await openRepo(dir);
  onCleanup(() => last.close());
  await last.gc({ graceMs: 0 });
  for (const blob of blobs) expect(() => last.readObject(blob)).toThrow(/is not staged/);
});

test('counts and sizes are told without a scan of the history', async () => {
  const dir = tempDir();
  const repo = await tempRepo(dir);
  await repo.put('f.txt', 'one\n', { author: setup });
  await repo.put('f.txt', 'two\n', { author: setup, expect: version(1) });
  const conflict = await repo.put('f.txt', 'three\n', { author: agent('x'), expect: version(1) });
  await repo.freeze('g.txt', { author: setup, reason: 'split' });
  await repo.put('g.txt', 'g\n', { author: agent('x') });
  expect(repo.stats()).toMatchObject({ conflictsOpen: 1, parkedOpen: 1 });
  const before = repo.stats().bytesByKind;
  await repo.stage(Buffer.alloc(200_000, Buffer.from(Array.from({ length: 4001 }, (_, i) => (i * i) % 251))));
  const after = repo.stats().bytesByKind;
  expect(after.staged).toBeGreaterThan(before.staged);
  expect(after.log).toBe(before.log);
  await repo.resolve(conflict.kind === 'conflicted' ? conflict.conflict : '', {
    author: agent('m'),
    results: [{ path: 'f.txt', content: 'two three\n' }],
    otherwise: { fate: 'transformed' },
  });
  await repo.thaw('g.txt', { author: setup, reason: 'done' });
  expect(repo.stats()).toMatchObject({ conflictsOpen: 0, parkedOpen: 0 });
  expect(repo.fsck()).toMatchObject({ ok: true, errors: [] });
  expect((await mound(['--repo', dir, 'stats'])).stdout).toMatch(/^bytes\.log {2}\d+$/m);
});
