import { inflateRawSync } from 'node:zlib';
import { isMoundError } from '../core/errors.ts';
import type { BlobId, RepoPath } from '../core/ids.ts';
import type { Precondition } from '../core/intent.ts';
import { bytesOfPath, pathOfBytes } from '../core/path.ts';
import { authorTuple, decodeAuthor } from '../format/author.ts';
import { formNumberOf, formOfNumber } from '../format/body-form.ts';
import { pack, unpackRow, type Packable } from '../format/codec.ts';
import type { Body, ConflictEntry, ParkedEntry, Place } from '../format/entry.ts';
import { modeNumberOf, modeOfNumber } from '../format/mode-number.ts';
import type { AdmittedIntent, Edit, RecordEdit } from '../intent/edit.ts';
import { decodeBody, noBody } from '../log/body.ts';
import type { LogReader } from '../log/log-reader.ts';

/**
 * The whole of an intent that is conflicted or parked, with its contents: it has not landed, so nothing else holds
 * them. Each stands as a landing would store it, mostly as a delta on the version that its author had seen.
 */

const packExpect = (expect: Precondition): Packable =>
  expect.kind === 'version' ? expect.seq : expect.kind === 'absent' ? 'absent' : 'any';

const unpackExpect = (packed: Packable): Precondition =>
  typeof packed === 'number' ? { kind: 'version', seq: packed } : { kind: packed === 'any' ? 'any' : 'absent' };

const pathOrNull = (path: RepoPath | undefined): Packable => (path === undefined ? null : bytesOfPath(path));

const packBody = ({ form, base, size, bytes }: Body): Packable => [
  formNumberOf(form),
  base.seq,
  base.index,
  size,
  bytes,
];

function packEdit(edit: Edit, body: Body): Packable {
  const head = [bytesOfPath(edit.path), packExpect(edit.expect)];
  switch (edit.kind) {
    case 'put': {
      const content = edit.content === undefined ? null : packBody(body);
      return ['put', ...head, content, modeNumberOf(edit.mode), pathOrNull(edit.movedFrom)];
    }
    case 'delete':
      return ['delete', ...head, pathOrNull(edit.movedTo)];
    case 'chmod':
      return ['chmod', ...head, modeNumberOf(edit.mode)];
  }
}

type StoredContent = Uint8Array | readonly Packable[] | null;

/** A store of format 1 has the bytes themselves. */
function unpackContent(packed: StoredContent, contentAt: (place: Place) => Buffer): Buffer | undefined {
  if (packed === null) return undefined;
  if (packed instanceof Uint8Array) return Buffer.from(packed);
  const [form, seq, index, size, bytes] = packed as [number, number, number, number, Uint8Array];
  const base: Place = { seq, index };
  const body: Body = { ...noBody, form: formOfNumber(form), base, size, bytes };
  const content = decodeBody(body, Buffer.from(bytes), seq === 0 ? noBytes : contentAt(base));
  // What was stored as it is must not keep the whole entry in memory.
  return body.form === 'raw' ? Buffer.from(content) : content;
}

const noBytes = Buffer.alloc(0);

type ContentOf = (stored: StoredContent, index: number) => Buffer | undefined;

function unpackEdit(packed: Packable, index: number, contentOf: ContentOf): Edit {
  const [kind, pathBytes, expectPacked, ...rest] = packed as readonly [string, Uint8Array, Packable, ...Packable[]];
  const path = pathOfBytes(pathBytes);
  const expect = unpackExpect(expectPacked);
  if (kind === 'put') {
    const [stored, mode, from] = rest as [StoredContent, number, Uint8Array | null];
    let made: { readonly content: Buffer | undefined } | undefined;
    return {
      kind,
      path,
      expect,
      // Many readers do not want it, and it may take a chain of versions to make.
      get content() {
        made ??= { content: contentOf(stored, index) };
        return made.content;
      },
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

/** `bodies`: how the content of each edit is stored, as a landing would. */
export function encodeKept(intent: AdmittedIntent, bodies: readonly Body[]): Buffer {
  return pack([
    intent.branch,
    pack(authorTuple(intent.author)),
    intent.message,
    intent.rationale ?? null,
    intent.task ?? null,
    intent.breakage ?? null,
    intent.edits.map((edit, at) => packEdit(edit, bodies[at] ?? noBody)),
    intent.records.map((record) => [record.key, packExpect(record.expect), record.value, record.objects]),
    intent.reads.map((read) => [read.path, read.version]),
    intent.operationId ?? null,
    intent.onStaleRead,
    intent.onStale,
    intent.mergedSeq,
    intent.asOf ?? null,
  ]);
}

/** Head of a packed array of 14; no deflated bytes begin so, with which format 1 has all of it. */
const packedHead = 0x9e;

const unpackKept = (bytes: Uint8Array): readonly Packable[] =>
  unpackRow(bytes[0] === packedHead ? bytes : inflateRawSync(bytes));

function decodeKept(fields: readonly Packable[], contentOf: ContentOf): AdmittedIntent {
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
    edits: (edits as Packable[]).map((edit, index) => unpackEdit(edit, index, contentOf)),
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

interface Keeper {
  readonly seq: number;
  readonly kept: Uint8Array;
  readonly keptParts: number;
}

const bytesOf = (reader: LogReader, { seq, kept, keptParts }: Keeper): Uint8Array =>
  keptParts > 0 ? reader.parts({ seq, index: 0 }, keptParts) : kept;

/**
 * The intent that a conflict or parked entry keeps. Its contents are made when they are asked for.
 * Errors: `object-damaged`.
 */
export function keptOf(reader: LogReader, entry: Keeper): AdmittedIntent {
  const contentAt = (place: Place): Buffer => reader.content(place);
  return decodeKept(unpackKept(bytesOf(reader, entry)), (stored, index) => {
    try {
      return unpackContent(stored, contentAt);
    } catch (error) {
      if (!isMoundError(error, 'purged')) throw error;
      // What it stood on was purged since, and before that it was written whole.
      const edits = editsOf(reader, reader.freshEntry(entry.seq) as ConflictEntry | ParkedEntry);
      return unpackContent(edits[index]?.[3] as StoredContent, contentAt);
    }
  });
}

const editsOf = (reader: LogReader, entry: Keeper): readonly (readonly Packable[])[] =>
  unpackKept(bytesOf(reader, entry))[6] as readonly (readonly Packable[])[];

/** Versions that a kept intent's contents are made of. */
export function basesOfKept(reader: LogReader, entry: Keeper): Place[] {
  return editsOf(reader, entry).flatMap((edit): Place[] => {
    const stored = edit[3];
    if (edit[0] !== 'put' || !Array.isArray(stored)) return [];
    const [, seq, index] = stored as [number, number, number];
    return seq === 0 ? [] : [{ seq, index }];
  });
}
