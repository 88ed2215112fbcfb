import { absent, any, openRepo, seededRandom, version, type Repo } from '@mound/vcs';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { deflateRawSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { mound, moundBin, start } from './kit/process.ts';
import { agent, setup, tempDir, tempRepo } from './kit/temp.ts';

const secret = 'AKIA-9f8e7d6c5b4a-not-for-anyone';
const noise = (seed: number, bytes: number): string =>
  Buffer.from(
    Uint8Array.from({ length: bytes }, (_, i) => (Math.imul(i + 1, seed * 2654435761 + 40503) >>> 13) & 255),
  ).toString('base64');
const lines = (count: number, seed: number): string[] =>
  Array.from({ length: count }, (_, i) => `${noise(seed + i, 24)}\n`);

/** A history in which the secret stands in versions, deltas, a copy, a long body, a conflict, a parked intent, a stage. */
async function leaky(dir: string): Promise<Repo> {
  const repo = await tempRepo(dir);
  const clean = lines(60, 3);
  await repo.put('config.txt', clean.join(''), { author: setup });
  await repo.put('config.txt', clean.with(5, `key=${secret}\n`).join(''), { author: agent('x'), expect: version(1) });
  await repo.put('config.txt', clean.with(5, `key=${secret}\n`).with(40, 'more\n').join(''), {
    author: agent('x'),
    expect: version(2),
  });
  // Clean again: stored as a delta on what holds the secret.
  await repo.put('config.txt', clean.with(40, 'more\n').join(''), { author: agent('x'), expect: version(3) });
  await repo.put('config.txt', clean.with(40, 'more\n').with(41, 'even more\n').join(''), {
    author: agent('x'),
    expect: version(4),
  });
  const long = lines(1500, 90).with(700, `${secret}\n`).join('');
  await repo.put('long.txt', long, { author: setup });
  await repo.put('long.txt', long.replace(secret, 'nothing'), { author: setup, expect: version(6) });
  const told = (n: number): string => clean.with(5, `key=${secret}${n}\n`).join('');
  await repo.put('config.txt', told(1), { author: agent('y'), expect: version(1), onStale: 'merge' });
  const conflict = await repo.put('config.txt', told(2), { author: agent('z'), expect: version(1) });
  expect(conflict.kind).toBe('conflicted');
  await repo.freeze('frozen.txt', { author: setup, reason: 'split' });
  await repo.put('frozen.txt', `${secret} parked\n`, { author: agent('p') });
  await repo.stage(`staged ${secret}\n`);
  return repo;
}

const fileOf = (dir: string): Buffer => readFileSync(join(dir, '.mound/store/data.mdb'));

test('a purge removes the bytes everywhere, says so, and leaves all else as it was', async () => {
  const dir = tempDir();
  const repo = await leaky(dir);
  const before = new Map<string, string>();
  for (const { seq } of repo.log()) {
    for (const { path, version: at } of repo.snapshot(seq).list())
      before.set(`${path}@${at}`, repo.snapshot(seq).readText(path) ?? '');
  }
  const commits = [...repo.log()].map(({ commit }) => commit);
  const whole = repo.snapshot(6).read('long.txt') ?? Buffer.alloc(0);
  const packed = deflateRawSync(whole, { level: 1 });
  // A stretch of the deflated body that no clean version has as well.
  const deflated = packed.subarray(Math.floor(packed.length * 0.6)).subarray(0, 100);
  expect(deflateRawSync(repo.snapshot(7).read('long.txt') ?? '', { level: 1 }).includes(deflated)).toBe(false);
  expect(fileOf(dir).includes(secret)).toBe(true);
  expect(fileOf(dir).includes(deflated)).toBe(true);

  const dry = await repo.purge({ author: setup, reason: 'leaked', containing: Buffer.from(secret), dryRun: true });
  expect(dry.blobs.length).toBeGreaterThan(5);
  expect(fileOf(dir).includes(secret)).toBe(true);
  const report = await repo.purge({ author: agent('keeper'), reason: 'leaked', containing: Buffer.from(secret) });
  expect(report).toEqual({ ...dry, dryRun: false });
  expect(report.staged).toHaveLength(1);

  expect(fileOf(dir).includes(secret)).toBe(false);
  expect(fileOf(dir).includes(deflated)).toBe(false);
  expect(repo.fsck()).toMatchObject({ ok: true, errors: [] });
  expect([...repo.log()].map(({ commit }) => commit)).toEqual(commits);
  let purged = 0;
  for (const [key, content] of before) {
    const [path = '', at] = key.split('@');
    const read = (): string | undefined => repo.snapshot(Number(at)).readText(path);
    if (!content.includes(secret)) expect(read()).toBe(content);
    else {
      purged++;
      expect(read).toThrow(expect.objectContaining({ code: 'purged' }));
    }
  }
  expect(purged).toBeGreaterThan(2);
  // The conflict and the parked intent stand, without the bytes.
  expect(repo.conflicts()[0]?.paths[0]?.path).toBe('config.txt');
  expect(repo.conflicts()[0]?.paths[0]?.incoming.content?.toString()).toMatch(/^purged [0-9a-f]{64}\n$/);
  expect([...repo.events()].filter(({ kind }) => kind === 'object.purged')).toMatchObject([
    { author: 'keeper', reason: 'leaked', blobs: report.blobs },
  ]);

  // Work goes on, here and in a new process, on what was purged as well.
  expect((await repo.put('config.txt', 'new\n', { author: setup, expect: any })).kind).toBe('landed');
  await repo.close();
  const again = await openRepo(dir);
  expect((await again.put('long.txt', 'new\n', { author: setup, expect: any })).kind).toBe('landed');
  expect(again.fsck()).toMatchObject({ ok: true, errors: [] });
  await again.close();
});

test('by command and by name, in a compacted log too; messages and records are reported', async () => {
  const dir = tempDir();
  const repo = await leaky(dir);
  await repo.land({
    author: setup,
    message: `about ${secret}`,
    records: [{ key: 'k/1', expect: absent, value: secret }],
  });
  await repo.compact({ keep: 0 });
  const blob = repo.snapshot(2).head('config.txt')?.blob ?? '';
  await repo.close();
  const named = await mound(['--repo', dir, 'purge', '--blob', blob, '--reason', 'leaked', '--json']);
  expect(named.code).toBe(0);
  expect(JSON.parse(named.stdout)).toMatchObject({ blobs: [blob], seqs: [2], mentions: [] });
  writeFileSync(join(dir, 'secret'), `${secret}\n`);
  const all = await mound([
    '--repo',
    dir,
    'purge',
    '--containing',
    join(dir, 'secret'),
    '--reason',
    'leaked',
    '--json',
  ]);
  expect(all.code).toBe(0);
  expect((JSON.parse(all.stdout) as { mentions: object[] }).mentions).toMatchObject([
    { where: 'message' },
    { where: 'record k/1' },
  ]);
  expect((await mound(['--repo', dir, 'fsck'])).code).toBe(0);
  const read = await mound(['--repo', dir, 'cat', 'config.txt', '--at', '2']);
  expect(read.code).toBe(42);
  expect(read.stderr).toContain('was purged');
  expect((await mound(['--repo', dir, 'purge', '--reason', 'x'])).code).toBe(2);
});

test('a purge that is killed leaves a store that reads as before or says purged, and the next one ends it', async () => {
  const dir = tempDir();
  const repo = await leaky(dir);
  await repo.close();
  writeFileSync(join(dir, 'secret'), secret);
  const args = ['--repo', dir, 'purge', '--containing', join(dir, 'secret'), '--reason', 'leaked'];
  for (const waitMs of [120, 150, 180, 210, 240]) {
    const { child, finished } = start(process.execPath, [moundBin, ...args]);
    await sleep(waitMs);
    child.kill('SIGKILL');
    await finished;
    const after = await openRepo(dir);
    expect(after.fsck()).toMatchObject({ ok: true, errors: [] });
    expect(after.snapshot(7).readText('long.txt')).toContain('nothing');
    await after.close();
  }
  expect((await mound(args)).code).toBe(0);
  expect(fileOf(dir).includes(secret)).toBe(false);
});

test('writers go on while a purge runs, and nothing lands on what was taken away', async () => {
  const dir = tempDir();
  const repo = await leaky(dir);
  const other = await openRepo(dir);
  const base = other.snapshot(3).readText('config.txt') ?? '';
  const writing = (async () => {
    for (let i = 0; i < 40; i++) {
      await other.put(`copy/${i}.txt`, base.replaceAll(secret, `clean ${i}`), { author: agent('w') });
      await other.put('busy.txt', `${i}\n`, { author: agent('w'), expect: any });
    }
  })();
  await repo.purge({ author: setup, reason: 'leaked', containing: Buffer.from(secret) });
  await writing;
  await other.close();
  expect(repo.fsck()).toMatchObject({ ok: true, errors: [] });
  for (let i = 0; i < 40; i++) expect(repo.snapshot().readText(`copy/${i}.txt`)).toContain(`clean ${i}`);
});

test('a kept intent that builds on what goes away keeps its own content', async () => {
  const dir = tempDir();
  const repo = await tempRepo(dir);
  const clean = lines(60, 3);
  const leaked = clean.with(5, `key=${secret}\n`);
  await repo.put('config.txt', leaked.join(''), { author: setup });
  await repo.put('config.txt', clean.with(5, 'key=one\n').join(''), { author: agent('x'), expect: version(1) });
  // Its edit takes the secret out, so it holds none of it, but as a delta it stands on what does.
  const two = clean.with(5, 'key=two\n').join('');
  const conflict = await repo.put('config.txt', two, { author: agent('y'), expect: version(1) });
  const id = conflict.kind === 'conflicted' ? conflict.conflict : '';
  expect(repo.conflict(id).paths[0]?.incoming.content?.toString()).toBe(two);
  const bytesBefore = repo.conflict(id);
  await repo.purge({ author: setup, reason: 'leaked', containing: Buffer.from(secret) });
  expect(fileOf(dir).includes(secret)).toBe(false);
  expect(repo.conflict(id).paths[0]?.incoming.content?.toString()).toBe(two);
  // A view from before the purge makes its contents when it is asked for them.
  expect(bytesBefore.paths[0]?.incoming.content?.toString()).toBe(two);
  expect(repo.fsck()).toMatchObject({ ok: true, errors: [] });
  // One that was offered before the purge and is kept after it.
  await repo.put('other.txt', `${secret}\n${two}`, { author: setup });
  const seq = repo.snapshot().seq;
  await repo.put('other.txt', `x\n${two}`, { author: agent('x'), expect: version(seq) });
  const [late] = await Promise.all([
    repo.put('other.txt', `y\n${two}`, { author: agent('y'), expect: version(seq) }),
    repo.purge({ author: setup, reason: 'leaked again', containing: Buffer.from(secret) }),
  ]);
  const kept = late.kind === 'conflicted' ? repo.conflict(late.conflict) : undefined;
  expect(kept?.paths[0]?.incoming.content?.toString()).toBe(`y\n${two}`);
  expect(fileOf(dir).includes(secret)).toBe(false);
  expect(repo.fsck()).toMatchObject({ ok: true, errors: [] });
});

test('what leans on a purged version and is written whole leaves the shelf of its neighbours alone', async () => {
  const repo = await tempRepo(tempDir());
  const random = seededRandom(5);
  const textOf = (bytes: number): string => Buffer.from(random.bytes(bytes)).toString('base64');
  const large = (head: string): string => `${head}\n${textOf(12_000)}`;
  const before = Array.from({ length: 30 }, (_, at) => large(at === 0 ? secret : 'before'));
  const put = (at: number, content: string) => ({ kind: 'put', path: `wide/${at}.txt`, content }) as const;
  await repo.land({
    author: setup,
    message: 'before',
    changes: before.map((text, at) => ({ ...put(at, text), expect: absent })),
  });
  // Deltas that stand on a shelf; that of the first is written whole by the purge, and is too long for one then.
  const after = before.map((text) => text.replace(/^.*$/m, textOf(900)));
  await repo.land({
    author: setup,
    message: 'after',
    changes: after.map((text, at) => ({ ...put(at, text), expect: version(1) })),
  });
  await repo.purge({ author: setup, reason: 'leaked', containing: Buffer.from(secret) });
  const snapshot = repo.snapshot();
  for (const [at, text] of after.entries()) expect(snapshot.readText(`wide/${at}.txt`)).toBe(text);
  expect(repo.fsck()).toMatchObject({ ok: true, errors: [] });
});

test('of a wide landing one file goes and the others stay, also those that share its part', async () => {
  const dir = tempDir();
  const repo = await tempRepo(dir);
  const contentOf = (at: number): string =>
    at === 0 || at === 7 ? `${secret} ${at}\n${noise(at, 900)}` : noise(at, 900);
  const changes = Array.from(
    { length: 60 },
    (_, at) => ({ kind: 'put', path: `wide/${at}.txt`, content: contentOf(at), expect: absent }) as const,
  );
  await repo.land({ author: setup, message: 'wide', changes });
  expect(fileOf(dir).includes(noise(8, 900).slice(0, 40))).toBe(false);
  await repo.compact({ keep: 0 });
  const packed = deflateRawSync(Buffer.from(contentOf(7)), { level: 1 }).subarray(300, 400);
  expect(fileOf(dir).includes(packed)).toBe(true);
  expect(repo.fsck()).toMatchObject({ ok: true, errors: [] });
  await repo.purge({ author: setup, reason: 'leaked', containing: Buffer.from(secret) });
  expect(fileOf(dir).includes(packed)).toBe(false);
  const snapshot = repo.snapshot(1);
  for (const [at, { path, content }] of changes.entries()) {
    if (at === 0 || at === 7) expect(() => snapshot.read(path)).toThrow(expect.objectContaining({ code: 'purged' }));
    else expect(snapshot.readText(path)).toBe(content);
  }
  expect(repo.fsck()).toMatchObject({ ok: true, errors: [] });
  await repo.close();
  expect((await tempRepo(dir)).fsck()).toMatchObject({ ok: true, errors: [] });
});
