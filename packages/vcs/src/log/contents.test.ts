import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Contents } from './contents.ts';
import { firstLink, Version } from './version.ts';
import { seededRandom } from '../core/ports.ts';

const versionAt = (seq: number, size: number): Version =>
  new Version({ seq, index: 0 }, undefined, firstLink, { chain: 0, size });
const headAt = (seq: number, size: number): Version => {
  const version = versionAt(seq, size);
  version.headOf = 1;
  return version;
};
const supersede = (contents: Contents, version: Version): void => {
  version.headOf = 0;
  contents.pass(version);
};
const contentOf = (seed: number, size: number): Buffer => Buffer.alloc(size, `${seed},`);

test('whatever is held and let go, a view shows the bytes of its own version', () => {
  const step = fc.record({ seed: fc.nat(1000), size: fc.oneof(fc.nat(3000), fc.nat(90_000)), drop: fc.boolean() });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 400 }), (steps) => {
      // So small that blocks are let go, used again and, when sizes change, cut anew.
      const contents = new Contents(6 * 1024 * 1024);
      const known: { version: Version; content: Buffer }[] = [];
      for (const [at, { seed, size, drop }] of steps.entries()) {
        const version = seed % 3 === 0 ? versionAt(at + 1, size) : headAt(at + 1, size);
        const content = contentOf(seed, size);
        contents.hold(version, content);
        known.push({ version, content });
        const other = known[seed % known.length];
        if (drop && other) supersede(contents, other.version);
        for (const { version: one, content: bytes } of known.slice(-20)) {
          const view = contents.view(one);
          if (view !== undefined) expect(view.equals(bytes)).toBe(true);
        }
      }
      expect(known.filter(({ version }) => contents.view(version) !== undefined).length > 0 || steps.length === 0).toBe(
        true,
      );
    }),
    { numRuns: 60 },
  );
});

test('versions that were superseded are let go after a while, those that were not stay', () => {
  const contents = new Contents(160 * 1024 * 1024);
  const stays = headAt(1, 4000);
  contents.hold(stays, contentOf(1, 4000));
  const gone = Array.from({ length: 5000 }, (_, i) => headAt(i + 2, 4000));
  for (const version of gone) {
    contents.hold(version, contentOf(version.place.seq, 4000));
    supersede(contents, version);
  }
  expect(contents.view(stays)?.equals(contentOf(1, 4000))).toBe(true);
  expect(gone.filter((version) => contents.view(version) !== undefined)).toHaveLength(4096);
});

test('old versions that are read again and again take nothing from those of heads', () => {
  const contents = new Contents(24 * 1024 * 1024);
  const heads = Array.from({ length: 3000 }, (_, i) => headAt(i + 1, 4000));
  for (const version of heads) contents.hold(version, contentOf(version.place.seq, 4000));
  // Of several sizes, 17 MiB together.
  const old = Array.from({ length: 4000 }, (_, i) => versionAt(i + 10_000, 4000 + 300 * (i % 4)));
  for (let round = 0; round < 3; round++) {
    for (const version of old) contents.hold(version, contentOf(version.place.seq, version.size));
  }
  expect(heads.filter((version) => contents.view(version) === undefined)).toHaveLength(0);
  const held = old.filter((version) => contents.view(version) !== undefined);
  const bytes = held.reduce((sum, { size }) => sum + size, 0);
  expect(bytes).toBeLessThanOrEqual(3 * 1024 * 1024);
  expect(bytes).toBeGreaterThan(2 * 1024 * 1024);
});

test('an old version that becomes a head stays', () => {
  const contents = new Contents(24 * 1024 * 1024);
  const version = versionAt(1, 4000);
  contents.hold(version, contentOf(1, 4000));
  version.headOf = 1;
  for (let seq = 2; seq < 2000; seq++) contents.hold(versionAt(seq, 4000), contentOf(seq, 4000));
  expect(contents.view(version)?.equals(contentOf(1, 4000))).toBe(true);
});

test('contents whose sizes drift from one block size to others stay held while there is room for them', () => {
  const contents = new Contents(24 * 1024 * 1024);
  const random = seededRandom(7);
  let seq = 0;
  const held = (round: number): Version => {
    const size = 3900 + 40 * (round % 10) + random.below(400);
    const version = headAt(++seq, size);
    contents.hold(version, contentOf(seq, size));
    return version;
  };
  // 12 MiB, and 3 of superseded ones, of the 18 MiB for blocks.
  const heads = Array.from({ length: 2900 }, () => held(0));
  for (let edit = 0; edit < 20_000; edit++) {
    const at = random.below(heads.length);
    const before = heads[at];
    heads[at] = held(Math.floor(edit / 1000));
    if (before) supersede(contents, before);
  }
  const views = heads.map((version) => contents.view(version));
  expect(views.filter((view) => view !== undefined).length).toBeGreaterThan(heads.length * 0.9);
  for (const [at, view] of views.entries()) {
    const version = heads[at];
    if (view && version) expect(view.equals(contentOf(version.place.seq, version.size))).toBe(true);
  }
});
