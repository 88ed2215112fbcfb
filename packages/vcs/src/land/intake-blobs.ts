import { Slabs } from '../core/allocate.ts';
import { MoundError } from '../core/errors.ts';
import type { BlobId, RepoPath } from '../core/ids.ts';
import { citedSymbolsOf } from '../decisions/index.ts';
import type { Place } from '../format/entry.ts';
import { blobIdOf } from '../format/hash.ts';
import type { LogReader } from '../log/log-reader.ts';
import type { Version } from '../log/version.ts';

/** A blob as it stands in the log, or will stand once its commit has landed. */
export interface IntakeBlob {
  readonly blob: BlobId;
  readonly size: number;
  /** Deltas between it and a whole body. */
  readonly chain: number;
  /** Nowhere until it has landed. */
  place: Place;
  /** Its bytes, as long as there is room. */
  content: Buffer | undefined;
  /** Symbols of decisions that it cites; null: not looked at yet. */
  cites: readonly string[] | undefined | null;
}

/** Blobs whose place is remembered; a forgotten one is read and hashed again. */
const knownMax = 400_000;
/** Contents that are kept to make deltas against. */
const contentBytesMax = 96 * 1024 * 1024;

/** Where git's blobs stand in the log, by their git ids, and the contents of those used last. */
export class IntakeBlobs {
  private readonly reader: LogReader;
  private readonly known = new Map<string, IntakeBlob>();
  /** Those with a content, last used last. */
  private readonly held = new Set<IntakeBlob>();
  private heldBytes = 0;
  private readonly slabs = new Slabs();

  constructor(reader: LogReader) {
    this.reader = reader;
  }

  get(id: string): IntakeBlob | undefined {
    return this.known.get(id);
  }

  /** What `get` gave, given back. */
  owned(content: object): IntakeBlob | undefined {
    return Buffer.isBuffer(content) ? undefined : (content as IntakeBlob);
  }

  set(id: string, blob: IntakeBlob, content?: Buffer): void {
    this.known.set(id, blob);
    if (content !== undefined) this.hold(blob, content);
    if (this.known.size <= knownMax) return;
    for (const [oldest, dropped] of this.known) {
      this.known.delete(oldest);
      this.release(dropped);
      break;
    }
  }

  /** A version that the store holds of the same content, if it came up of late. */
  holder(blob: BlobId): IntakeBlob | undefined {
    const version = this.reader.holderOf(blob);
    return version && blobOfVersion(version);
  }

  /** What a new content of a path is likely to resemble: the blob before it, else what the store has at the path. */
  base(
    branch: string,
    path: RepoPath,
    oldId: string | undefined,
  ): { readonly of: IntakeBlob; readonly content: Buffer } | undefined {
    const of = (oldId === undefined ? undefined : this.known.get(oldId)) ?? this.atPath(branch, path);
    const content = of && this.contentOf(of);
    return of && content && { of, content };
  }

  private atPath(branch: string, path: RepoPath): IntakeBlob | undefined {
    const pathId = this.reader.getPathId(path);
    if (pathId === undefined) return undefined;
    const version = this.reader.heads.cell(this.reader.getBranchId(branch) ?? 0, pathId).version;
    return version && blobOfVersion(version);
  }

  /** Errors: `object-damaged`. */
  private contentOf(blob: IntakeBlob): Buffer | undefined {
    if (blob.content !== undefined) {
      // Last used goes last: the order is the order in which they are let go.
      this.held.delete(blob);
      this.held.add(blob);
      return blob.content;
    }
    if (blob.place.seq === 0) return undefined;
    const read = this.read(blob);
    // A copy: what was read is cut from the same slabs as what is let go at once.
    const content = read && this.slabs.copyOf(read);
    if (content !== undefined) this.hold(blob, content);
    return content;
  }

  /** What a blob cites, read where it was not looked at yet. Errors: `object-damaged`. */
  citesOf(blob: IntakeBlob): readonly string[] | undefined {
    if (blob.cites === null) {
      const content = blob.content ?? (blob.place.seq === 0 ? undefined : this.read(blob));
      blob.cites = content && citedSymbolsOf(content);
    }
    return blob.cites;
  }

  private read({ place, blob }: IntakeBlob): Buffer | undefined {
    try {
      const content = this.reader.decode(place);
      if (blobIdOf(content) === blob) return content;
    } catch (error) {
      if (error instanceof MoundError && error.code === 'purged') return undefined;
      throw error;
    }
    const message = `blob ${blob} (log entry ${place.seq}) is damaged on disk; run 'mound fsck'`;
    throw new MoundError('object-damaged', message, { blob, seq: place.seq });
  }

  private hold(blob: IntakeBlob, content: Buffer): void {
    blob.content = content;
    this.held.add(blob);
    this.heldBytes += content.length;
    for (const oldest of this.held) {
      if (this.heldBytes <= contentBytesMax) break;
      this.release(oldest);
    }
  }

  private release(blob: IntakeBlob): void {
    if (!this.held.delete(blob)) return;
    this.heldBytes -= blob.content?.length ?? 0;
    blob.content = undefined;
  }
}

function blobOfVersion({ blob, size, chain, place }: Version): IntakeBlob | undefined {
  return blob === undefined ? undefined : { blob, size, chain, place, content: undefined, cites: null };
}
