import { randomBytes } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { git, removeTemporaries, temporaryDir } from './git-fixtures.test.kit.ts';
import { ObjectReader } from './object-reader.ts';
import { encodeDelta } from './pack-delta.ts';
import { PackWriter } from './pack-writer.ts';

afterAll(removeTemporaries);

function bareRepo(): string {
  const dir = join(temporaryDir(), 'bare');
  git('/', ['init', '-q', '--bare', dir]);
  return dir;
}

async function expectAll(dir: string, contents: ReadonlyMap<string, Buffer>): Promise<void> {
  const reader = new ObjectReader(dir);
  for (const [id, content] of contents) expect((await reader.content(id, 'blob')).equals(content)).toBe(true);
  await reader.close();
}

test('objects of every size class come back from a pack, and each is written once', async () => {
  const dir = bareRepo();
  const writer = new PackWriter(dir);
  const contents = new Map<string, Buffer>();
  const sizes = [...Array.from({ length: 150 }, (_, index) => index), 2047, 2048, 4095, 4096, 70_000, 1_100_000];
  for (const size of sizes) {
    const content = randomBytes(size);
    contents.set(writer.add('blob', content), content);
    writer.add('blob', content);
  }
  await writer.finish();
  expect(git(dir, ['count-objects', '-v'])).toContain(`in-pack: ${contents.size}`);
  await expectAll(dir, contents);
});

test('few objects become loose ones', async () => {
  const dir = bareRepo();
  const writer = new PackWriter(dir);
  const id = writer.add('blob', Buffer.from('one'));
  await writer.finish();
  expect(readdirSync(join(dir, 'objects/pack'))).toEqual([]);
  expect(git(dir, ['cat-file', '-p', id])).toBe('one');
});

test('a long chain of versions is written as deltas of bounded depth', async () => {
  const dir = bareRepo();
  const writer = new PackWriter(dir);
  const contents = new Map<string, Buffer>();
  let content = randomBytes(200_000);
  let id: string | undefined;
  for (let version = 0; version < 200; version++) {
    content = Buffer.from(content);
    content.writeUInt32LE(version, (version * 977) % 199_000);
    id = writer.add('blob', content, id);
    contents.set(id, content);
  }
  await writer.finish();
  await expectAll(dir, contents);
  const pack = readdirSync(join(dir, 'objects/pack')).find((name) => name.endsWith('.idx')) ?? '';
  const chains = git(dir, ['verify-pack', '-v', join(dir, 'objects/pack', pack)]);
  expect(Math.max(...[...chains.matchAll(/chain length = (\d+)/g)].map(([, depth]) => Number(depth)))).toBe(50);
  expect(chains.includes('non delta: 4 objects')).toBe(true);
});

test('a delta gives back what it was made from', () => {
  const dir = bareRepo();
  const piece = fc.constantFrom('a', 'b', 'ab'.repeat(300), 'x'.repeat(513), 'y'.repeat(20));
  const text = fc.array(piece, { maxLength: 12 }).map((pieces) => Buffer.from(pieces.join('')));
  fc.assert(
    fc.property(text, text, (base, target) => {
      const delta = encodeDelta(base, target);
      expect(delta === undefined || applyDelta(base, delta).equals(target)).toBe(true);
      // Git takes a shorter one for a broken one.
      expect(delta?.length ?? 4).toBeGreaterThan(3);
    }),
    { numRuns: 2000 },
  );
  expect(git(dir, ['rev-parse', '--is-bare-repository'])).toBe('true');
});

test('copies longer than an operation can name are split', () => {
  const base = Buffer.alloc(0x1000000 + 70_000, 7);
  const target = Buffer.concat([base, Buffer.from('!')]);
  expect(applyDelta(base, encodeDelta(base, target) ?? Buffer.alloc(0)).equals(target)).toBe(true);
});

/** git's delta format read back, as an oracle. */
function applyDelta(base: Buffer, delta: Buffer): Buffer {
  let position = 0;
  const size = (): number => {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = delta[position++] ?? 0;
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) return value;
    }
  };
  expect(size()).toBe(base.length);
  const total = size();
  const pieces: Buffer[] = [];
  while (position < delta.length) {
    const operation = delta[position++] ?? 0;
    if (operation < 0x80) {
      if (operation === 0) throw new Error('a reserved operation');
      pieces.push(delta.subarray(position, (position += operation)));
      continue;
    }
    let [offset, length] = [0, 0];
    for (let part = 0; part < 4; part++) if (operation & (1 << part)) offset += (delta[position++] ?? 0) * 256 ** part;
    for (let part = 0; part < 3; part++) if (operation & (16 << part)) length += (delta[position++] ?? 0) * 256 ** part;
    pieces.push(base.subarray(offset, offset + (length || 0x10000)));
  }
  const target = Buffer.concat(pieces);
  expect(target.length).toBe(total);
  return target;
}

test('a pack takes as much memory as it has bytes, however many small objects it holds', async () => {
  const writer = new PackWriter(bareRepo());
  const before = process.memoryUsage().arrayBuffers;
  // zlib allocates 16 KiB for each result unless it is told better.
  for (let at = 0; at < 8000; at++)
    writer.add('blob', Buffer.from(`${at} is a number, and a line of some length\n`.repeat(4)));
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(32 * 1024 * 1024);
  await writer.finish();
});
