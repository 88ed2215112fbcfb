import { deflateRawSync, inflateRawSync } from 'node:zlib';
import type { BlobId, RepoPath } from '../core/ids.ts';
import type { Precondition } from '../core/intent.ts';
import { bytesOfPath, pathOfBytes } from '../core/path.ts';
import { authorTuple, decodeAuthor } from '../format/author.ts';
import { pack, unpack, type Packable } from '../format/codec.ts';
import { modeNumberOf, modeOfNumber } from '../format/mode-number.ts';
import type { AdmittedIntent, Edit, RecordEdit } from '../intent/edit.ts';

/**
 * The whole of an intent that is conflicted or parked, with its contents: it
 * has not landed, so nothing else holds them.
 */

const packExpect = (expect: Precondition): Packable =>
  expect.kind === 'version' ? expect.seq : expect.kind === 'absent' ? 'absent' : 'any';

const unpackExpect = (packed: Packable): Precondition =>
  typeof packed === 'number' ? { kind: 'version', seq: packed } : { kind: packed === 'any' ? 'any' : 'absent' };

const pathOrNull = (path: RepoPath | undefined): Packable => (path === undefined ? null : bytesOfPath(path));

function packEdit(edit: Edit): Packable {
  const head = [bytesOfPath(edit.path), packExpect(edit.expect)];
  switch (edit.kind) {
    case 'put':
      return ['put', ...head, edit.content ?? null, modeNumberOf(edit.mode), pathOrNull(edit.movedFrom)];
    case 'delete':
      return ['delete', ...head, pathOrNull(edit.movedTo)];
    case 'chmod':
      return ['chmod', ...head, modeNumberOf(edit.mode)];
  }
}

function unpackEdit(packed: Packable): Edit {
  const [kind, pathBytes, expectPacked, ...rest] = packed as readonly [string, Uint8Array, Packable, ...Packable[]];
  const path = pathOfBytes(pathBytes);
  const expect = unpackExpect(expectPacked);
  if (kind === 'put') {
    const [content, mode, from] = rest as [Uint8Array | null, number, Uint8Array | null];
    return {
      kind,
      path,
      expect,
      content: content === null ? undefined : Buffer.from(content),
      mode: modeOfNumber(mode),
      ...(from !== null && { movedFrom: pathOfBytes(from) }),
    };
  }
  if (kind === 'delete') {
    const [to] = rest as [Uint8Array | null];
    return { kind, path, expect, ...(to !== null && { movedTo: pathOfBytes(to) }) };
  }
  return { kind: 'chmod', path, expect, mode: modeOfNumber(rest[0] as number) ?? 'file' };
}

export function encodeKept(intent: AdmittedIntent): Buffer {
  const packed = pack([
    intent.branch,
    pack(authorTuple(intent.author)),
    intent.message,
    intent.rationale ?? null,
    intent.task ?? null,
    intent.breakage ?? null,
    intent.edits.map(packEdit),
    intent.records.map((record) => [record.key, packExpect(record.expect), record.value, record.objects]),
    intent.reads.map((read) => [read.path, read.version]),
    intent.operationId ?? null,
    intent.onStaleRead,
    intent.onStale,
    intent.mergedSeq,
    intent.asOf ?? null,
  ]);
  return deflateRawSync(packed, { level: 1 });
}

export function decodeKept(bytes: Uint8Array): AdmittedIntent {
  const fields = unpack(inflateRawSync(bytes)) as readonly Packable[];
  const [
    branch,
    author,
    message,
    rationale,
    task,
    breakage,
    edits,
    records,
    reads,
    operationId,
    onStaleRead,
    onStale,
    merged,
    asOf,
  ] = fields;
  return {
    branch: branch as string,
    author: decodeAuthor(author as Uint8Array),
    message: message as string,
    rationale: (rationale as string | null) ?? undefined,
    task: (task as string | null) ?? undefined,
    breakage: (breakage as string | null) ?? undefined,
    edits: (edits as Packable[]).map(unpackEdit),
    records: (records as [string, Packable, Uint8Array | null, BlobId[]][]).map(
      ([key, expect, value, objects]): RecordEdit => ({
        key,
        expect: unpackExpect(expect),
        value: value === null ? null : Buffer.from(value),
        objects,
      }),
    ),
    reads: (reads as [string, number][]).map(([path, version]) => ({ path, version })),
    operationId: (operationId as string | null) ?? undefined,
    onStale: onStale as 'merge' | 'reject',
    mergedSeq: merged as number,
    // It has taken the place of the other already.
    replaces: 0,
    asOf: (asOf as number | null) ?? undefined,
    onStaleRead: onStaleRead as 'record' | 'reject',
  };
}
