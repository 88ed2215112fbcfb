import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { BlobId, CommitId, Seq } from '../core/ids.ts';
import { modes } from '../core/mode.ts';
import { ByteWriter } from './bytes.ts';
import type { ChangeRow, LandingEntry, Place } from './entry.ts';
import { readLanding, readLandingMarks, writeLanding } from './landing-codec.ts';

const seq = 5_000_000_000;
const nowhere: Place = { seq: 0, index: 0 };
const digest = fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => Buffer.from(bytes).toString('hex'));
const text = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 40 }),
  fc.string({ unit: 'binary-ascii', maxLength: 400 }),
);
const optional = fc.option(text, { nil: undefined });
const id = fc.nat(2 ** 31 - 1);
const place = fc.record({
  seq: fc.oneof(fc.integer({ min: 1, max: 2 ** 31 }), fc.constant(seq - 1)),
  index: fc.oneof(fc.constant(0), fc.nat(100_000)),
});
const bytes = fc.uint8Array({ maxLength: 300 }).map((content) => Buffer.from(content));

const change = fc
  .record({ pathId: id, mode: fc.option(fc.constantFrom(...modes), { nil: undefined }), blob: digest, movedPathId: fc.oneof(fc.constant(0), id), depth: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 2 ** 31 })), previous: place, jump: place, form: fc.constantFrom('raw', 'deflate', 'delta', 'delta-deflate', 'same'), base: place, chain: fc.nat(48), size: id, bytes, parts: fc.nat(3) })
  .map(({ mode, blob, depth, previous, jump, form, base, chain, size, bytes: stored, parts, ...row }): ChangeRow => {
    const isBased = form !== 'raw' && form !== 'deflate';
    const where = isBased ? { base, chain } : { base: nowhere, chain: 0 };
    const body = mode === undefined
      ? { form: 'none' as const, base: nowhere, chain: 0, size: 0, bytes: Buffer.alloc(0), parts: 0 }
      : { form: form as 'raw', ...where, size, bytes: parts > 0 ? Buffer.alloc(0) : stored, parts };
    const link = depth === 0 ? { previous: nowhere, jump: nowhere } : { previous, jump };
    return { ...row, mode, blob: mode === undefined ? undefined : (blob as BlobId), depth, ...link, body };
  }); // prettier-ignore

const landing = fc
  .record({
    time: fc.integer({ min: -(2 ** 40), max: 2 ** 45 }),
    branchId: id, authorId: id, operationId: optional, asked: fc.uint8Array({ minLength: 8, maxLength: 8 }),
    commit: fc.option(digest, { nil: undefined }), parents: fc.array(fc.integer({ min: 1, max: seq - 1 }), { maxLength: 4 }),
    message: text, rationale: optional, task: optional, breakage: optional,
    changes: fc.array(change, { maxLength: 5 }),
    records: fc.array(fc.record({ key: text, value: fc.option(bytes), depth: fc.nat(5), previous: place, jump: place, objects: fc.array(digest as fc.Arbitrary<BlobId>, { maxLength: 2 }) }), { maxLength: 2 }),
    merged: fc.array(fc.record({ pathId: id, driver: text, driverVersion: text, lines: fc.constantFrom(undefined, 'clean' as const, 'conflict' as const), structure: fc.constantFrom(undefined, 'clean' as const, 'unavailable' as const), base: place, current: place }), { maxLength: 2 }),
    staleReads: fc.array(fc.record({ path: text, seen: id, actual: id }), { maxLength: 2 }),
    piled: fc.array(fc.record({ pathId: id, at: place }), { maxLength: 2 }),
    references: fc.array(fc.record({ pathId: id, line: id, id: text, standing: fc.constantFrom('missing' as const, 'outdated' as const) }), { maxLength: 2 }),
    ending: fc.constantFrom('resolution' as const, 'remerge' as const, 'replacement' as const),
    coAuthorIds: fc.array(id, { maxLength: 2 }), resolves: fc.oneof(fc.constant(0), id), unparks: fc.oneof(fc.constant(0), id),
    accounts: fc.option(bytes, { nil: undefined }), gitRaw: fc.option(bytes, { nil: undefined }),
    split: fc.option(fc.record({ pathId: id, ranges: fc.array(fc.record({ start: id, count: id, toPathId: id, toStart: id }), { maxLength: 3 }) }), { nil: undefined }),
  })
  .map(({ asked, commit, operationId, ending, ...rest }): LandingEntry => ({
    kind: 'landing', seq: seq as Seq, ...rest, operationId, ending: rest.resolves > 0 ? ending : 'resolution',
    asked: operationId === undefined ? undefined : Buffer.from(asked), commit: commit as CommitId | undefined,
  })); // prettier-ignore

const written = (entry: LandingEntry): Buffer => {
  const writer = new ByteWriter().begin();
  writeLanding(writer, entry);
  return writer.copied();
};

test('what is written of a landing is read again, whole and in part', () => {
  fc.assert(
    fc.property(landing, (entry) => {
      const stored = written(entry);
      expect(readLanding(seq, stored)).toEqual(entry);
      const { kind, branchId, operationId, commit, unparks } = entry;
      const pathIds = entry.changes.map(({ pathId }) => pathId);
      expect(readLandingMarks(seq, stored)).toMatchObject({
        kind,
        seq,
        branchId,
        operationId,
        commit,
        unparks,
        pathIds,
      });
    }),
    { numRuns: 300 },
  );
});

test('bytes that are cut off are refused, wherever', () => {
  fc.assert(
    fc.property(landing, (entry) => {
      const stored = written(entry);
      for (let end = 1; end < stored.length; end += 1 + (stored.length >> 5)) {
        expect(() => readLanding(seq, stored.subarray(0, end))).toThrow('bytes end too soon');
      }
    }),
    { numRuns: 50 },
  );
});
