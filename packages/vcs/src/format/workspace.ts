import type { BlobId, RepoPath } from '../core/ids.ts';
import type { Mode } from '../core/mode.ts';
import { bytesOfPath, pathOfBytes } from '../core/path.ts';
import { pack, unpackRow, type Packable } from './codec.ts';
import { pathKey } from './keys.ts';
import { modeNumberOf, modeOfNumber } from './mode-number.ts';
import { sealed, unsealed } from './seal.ts';

/** A workspace is found by its name; its id keeps its rows apart from those of an earlier one of that name. */
export interface WorkspaceRow {
  readonly name: string;
  /** 8 random bytes in hex. */
  readonly id: string;
  readonly branchId: number;
  /** The snapshot that it stands on. */
  readonly seq: number;
  /** Where its files are; undefined: it has none. */
  readonly dir: string | undefined;
  /** Globs of the paths that are in place there; none: all. */
  readonly sparse: readonly string[];
  /** Raised by every change of its rows. */
  readonly generation: number;
  /** Seq of a sync that has begun on disk; 0: none. */
  readonly syncTo: number;
  readonly state: WorkspaceState;
  /** The process that adds or removes it: pid, start, boot id. */
  readonly doer: string;
  /** Milliseconds since 1970 at which it was made. */
  readonly time: number;
}

export type WorkspaceState = 'adding' | 'ready' | 'removing';

/** What is kept of an edit that would not merge with what a sync brought. */
export interface LocalConflictRow {
  /** Path whose versions it is about: the row's own, or the one that it was moved from. */
  readonly at: RepoPath;
  /** Seqs as of which base and current stand; 0: absent. */
  readonly base: number;
  readonly current: number;
  readonly reason: string;
  /** The edit; undefined: a delete. */
  readonly incoming: { readonly blob: BlobId; readonly mode: Mode } | undefined;
}

/** What one path holds in a workspace; see docs/spec/workspace.md. */
export interface OverlayRow {
  readonly path: RepoPath;
  readonly kind: 'pin' | 'put' | 'delete';
  /** A pin stands as of this seq; an edit was made on what stood as of it (maybe a tombstone), 0: on nothing. */
  readonly base: number;
  /** Of a put. */
  readonly content: { readonly blob: BlobId; readonly mode: Mode } | undefined;
  readonly movedFrom: RepoPath | undefined;
  /** Seq of the conflict or parked intent that took the edit in; 0: none. */
  readonly kept: number;
  readonly conflict: LocalConflictRow | undefined;
}

const states = ['adding', 'ready', 'removing'] as const;
const kinds = ['pin', 'put', 'delete'] as const;

export const workspaceKey = (name: string): Buffer => Buffer.from(name);

export function encodeWorkspace(row: WorkspaceRow): Buffer {
  const { id, branchId, seq, dir, sparse, generation, syncTo, state, doer, time } = row;
  return sealed(
    pack([id, branchId, seq, dir ?? null, [...sparse], generation, syncTo, states.indexOf(state), doer, time]),
  );
}

/** Errors: `object-damaged`. */
export function decodeWorkspace(key: Buffer, bytes: Buffer): WorkspaceRow {
  const [id, branchId, seq, dir, sparse, generation, syncTo, state, doer, time] = unpackRow(
    unsealed(bytes),
  ) as readonly [string, number, number, string | null, string[], number, number, number, string, number];
  return {
    name: key.toString('utf8'),
    id,
    branchId,
    seq,
    dir: dir ?? undefined,
    sparse,
    generation,
    syncTo,
    state: states[state] ?? 'ready',
    doer,
    time,
  };
}

export const overlayKey = (id: string, path: RepoPath): Buffer =>
  Buffer.concat([Buffer.from(id, 'hex'), pathKey(bytesOfPath(path))]);

/** The range of keys that holds all rows of one workspace. */
export function overlayRange(id: string): { readonly start: Buffer; readonly end: Buffer } {
  const start = Buffer.from(id, 'hex');
  return { start, end: Buffer.concat([start, Buffer.alloc(8, 255)]) };
}

export const idOfOverlayKey = (key: Buffer): string => key.toString('hex', 0, 8);

type PackedContent = [blob: Uint8Array, mode: number] | null;

const packContent = (content: OverlayRow['content']): Packable =>
  content === undefined ? null : [Buffer.from(content.blob, 'hex'), modeNumberOf(content.mode)];

function unpackContent(packed: PackedContent): OverlayRow['content'] {
  if (packed === null) return undefined;
  return { blob: Buffer.from(packed[0]).toString('hex') as BlobId, mode: modeOfNumber(packed[1]) ?? 'file' };
}

export function encodeOverlay({ path, kind, base, content, movedFrom, kept, conflict }: OverlayRow): Buffer {
  const packedConflict: Packable =
    conflict === undefined
      ? null
      : [bytesOfPath(conflict.at), conflict.base, conflict.current, conflict.reason, packContent(conflict.incoming)];
  const from = movedFrom === undefined ? null : bytesOfPath(movedFrom);
  return sealed(pack([bytesOfPath(path), kinds.indexOf(kind), base, packContent(content), from, kept, packedConflict]));
}

/** Errors: `object-damaged`. */
export function decodeOverlay(bytes: Buffer): OverlayRow {
  const [path, kind, base, content, from, kept, conflict] = unpackRow(Buffer.from(unsealed(bytes))) as readonly [
    Uint8Array,
    number,
    number,
    PackedContent,
    Uint8Array | null,
    number,
    [Uint8Array, number, number, string, PackedContent] | null,
  ];
  return {
    path: pathOfBytes(path),
    kind: kinds[kind] ?? 'put',
    base,
    content: unpackContent(content),
    movedFrom: from === null ? undefined : pathOfBytes(from),
    kept,
    conflict:
      conflict === null
        ? undefined
        : {
            at: pathOfBytes(conflict[0]),
            base: conflict[1],
            current: conflict[2],
            reason: conflict[3],
            incoming: unpackContent(conflict[4]),
          },
  };
}

/** Every object that a row names. */
export function blobsOfOverlay({ content, conflict }: OverlayRow): BlobId[] {
  return [content?.blob, conflict?.incoming?.blob].filter((blob) => blob !== undefined);
}
