import { any, fsckRepo, isMoundError, openRepo, repairRepo, seededRandom, steppingClock, version } from '@mound/vcs';
import { cpSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { mound, moundBin, start } from './kit/process.ts';
import { RandomHistory } from './kit/random-history.ts';
import { tamper } from './kit/tamper.ts';
import { agent, setup, tempDir, tempDirForAll } from './kit/temp.ts';

const lines = Array.from({ length: 2500 }, (_, i) => `line ${i} ${Math.imul(i, 0x9e3779b1) >>> 0}\n`);

test('damage is named once, with the object and every commit whose versions run through it', async () => {
  const dir = tempDir();
  const repo = await openRepo(dir, { create: true });
  await repo.put('other.txt', 'untouched\n', { author: setup });
  await repo.put('big.txt', lines.join(''), { author: setup });
  for (let i = 1; i <= 14; i++) {
    await repo.put('big.txt', lines.with(i, `edit ${i}\n`).join(''), { author: agent('x'), expect: version(i + 1) });
  }
  // Moves store nothing anew: they stand on the same whole body, too.
  const names = ['big.txt', ...Array.from({ length: 11 }, (_, i) => `m${i}.txt`), 'moved.txt'];
  for (const [i, to] of names.slice(1).entries()) {
    const path = names[i] ?? '';
    await repo.land({ author: setup, message: 'moved', changes: [{ kind: 'move', path, to, expect: any }] });
  }
  const blob = repo.snapshot(2).head('big.txt')?.blob;
  await repo.close();
  // A bit of the whole body that the deltas stand on.
  await tamper(dir, 'parts', (rows) => {
    const [row] = rows.getRange({ limit: 1 });
    if (row === undefined) throw new Error('no part');
    const value = Buffer.from(row.value);
    value[100] = (value[100] ?? 0) ^ 4;
    rows.putSync(row.key, value);
  });
  const report = await fsckRepo(dir);
  expect(report).toMatchObject({ ok: false, errorCount: 1 });
  const [finding] = report.errors;
  expect(finding).toMatchObject({ code: 'object-damaged', seq: 2, path: 'big.txt', blob });
  // The landing itself, 14 edits and 12 moves.
  expect(finding?.neededBy?.count).toBe(27);
  expect(finding?.neededBy?.commits).toHaveLength(20);
  const damaged = await openRepo(dir);
  expect(finding?.neededBy?.commits[0]).toBe(damaged.commit(2).commit);
  expect(() => damaged.snapshot().read('moved.txt')).toThrow(/damaged|checksum/);
  expect(damaged.snapshot().readText('other.txt')).toBe('untouched\n');
  await damaged.close();

  const shown = await mound(['--repo', dir, 'fsck']);
  expect(shown.code).toBe(1);
  expect(shown.stdout).toContain('needed by 27 commits');
  // The log is not damaged, so indexes can be rebuilt; the object cannot.
  expect((await mound(['--repo', dir, 'fsck', '--repair', '--json'])).code).toBe(1);
});

describe('a wrong row in an index', async () => {
  const sound = join(tempDirForAll(), 'sound');
  const past = await openRepo(sound, { create: true, clock: steppingClock(1_700_000_000_000, 1000) });
  await new RandomHistory(past, seededRandom(5)).run(150);
  await past.close();
  // Freezes of that time are over by now, and what they parked is decided.
  const repo = await openRepo(sound);
  await repo.freeze('a', { author: setup, reason: 'split' });
  await repo.tag('v1', 1);
  const before = [...repo.log()];
  await repo.close();

  const tables = [
    'heads', 'paths', 'path-names', 'folds', 'authors', 'author-ids', 'branches', 'branch-names',
    'records', 'conflicts', 'parked', 'freezes', 'redirects', 'tags',
  ]; // prettier-ignore
  test.each(tables)('of %s is found and mended', async (table) => {
    for (const how of ['lost', 'changed', 'too many'] as const) {
      const dir = join(tempDir(), 'r');
      cpSync(sound, dir, { recursive: true });
      await tamper(dir, table, (rows) => {
        const all = [...rows.getRange({})].map(({ key, value }) => ({
          key: Buffer.from(key),
          value: Buffer.from(value),
        }));
        const { key, value } = all.at(-1) ?? { key: Buffer.of(9, 9, 9, 9), value: Buffer.alloc(6) };
        const last = value.length - 1;
        if (how === 'changed') value[last] = (value[last] ?? 0) ^ 1;
        if (how === 'lost') rows.removeSync(key);
        else rows.putSync(how === 'changed' ? key : Buffer.concat([key.subarray(0, -1), Buffer.of(254)]), value);
      });
      const report = await fsckRepo(dir);
      // A name may be learnt back from its other table; every other loss and change is seen as one of this table.
      expect(report.ok, `${table} ${how}`).toBe(false);
      const repaired = await repairRepo(dir).catch((error: unknown) => error);
      if (isMoundError(repaired)) throw repaired;
      expect(repaired, `${table} ${how}`).toMatchObject({ fsck: { ok: true, errors: [] } });
      const mended = await openRepo(dir);
      expect([...mended.log()]).toEqual(before);
      await mended.close();
    }
  });

  test('or in the counters is found, refused by every command, and mended', async () => {
    const dir = join(tempDir(), 'r');
    cpSync(sound, dir, { recursive: true });
    await tamper(dir, 'meta', (rows) => {
      // lastSeq 3 in place of the true one: whoever appended would write over the log.
      const value = Buffer.from(rows.getBinary(Buffer.from('counters')) ?? Buffer.alloc(0));
      rows.putSync(
        Buffer.from('counters'),
        Buffer.concat([value.subarray(0, 1), Buffer.of(3), value.subarray(value[1] === 0xcd ? 4 : 2)]),
      );
    });
    expect((await mound(['--repo', dir, 'log'])).code).toBe(42);
    expect((await mound(['--repo', dir, 'fsck'])).code).toBe(1);
    const mended = await mound(['--repo', dir, 'fsck', '--repair', '--json']);
    expect(mended.code).toBe(0);
    expect((await mound(['--repo', dir, 'log'])).code).toBe(0);
  });

  test('is mended whole or not at all when the repair is killed', async () => {
    for (const waitMs of [40, 80, 120, 160, 200, 240, 280, 320]) {
      const dir = join(tempDir(), 'r');
      cpSync(sound, dir, { recursive: true });
      await tamper(dir, 'heads', (rows) => {
        for (const key of [...rows.getKeys({})].map((found) => Buffer.from(found))) rows.removeSync(key);
      });
      const { child, finished } = start(process.execPath, [moundBin, '--repo', dir, 'fsck', '--repair']);
      await sleep(waitMs);
      child.kill('SIGKILL');
      await finished;
      const { errors } = await fsckRepo(dir);
      expect(errors.every(({ table }) => table === 'heads')).toBe(true);
      expect((await repairRepo(dir)).fsck.ok).toBe(true);
    }
  });
});

test('fsck runs beside writers and finds nothing', async () => {
  const dir = tempDir();
  await (await openRepo(dir, { create: true })).close();
  const writer = join(import.meta.dirname, 'kit/writer.js');
  const writers = ['p', 'q'].map((name) => start(process.execPath, [writer, dir, name, '600', '8', join(dir, name)]));
  let runs = 0;
  let isOver = false;
  const over = Promise.all(writers.map(({ finished }) => finished)).then((ends) => {
    isOver = true;
    return ends;
  });
  while (!existsSync(join(dir, 'p'))) await sleep(10);
  const repo = await openRepo(dir);
  while (!isOver) {
    expect(await fsckRepo(dir)).toMatchObject({ ok: true, errors: [] });
    expect(repo.fsck()).toMatchObject({ ok: true, errors: [] });
    runs++;
    await sleep(1);
  }
  await repo.close();
  expect(runs).toBeGreaterThan(2);
  expect((await over).map(({ code }) => code)).toEqual([0, 0]);
});
