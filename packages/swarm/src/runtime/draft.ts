import {
  absent,
  any,
  version,
  type BlobId,
  type Change,
  type Mode,
  type Outcome,
  type Precondition,
  type RecordWrite,
  type Repo,
} from '@mound/vcs';
import type { Author } from '@mound/vcs';
import type { TaskId } from '../core/ids.ts';
import type { RunKeys } from './run-keys.ts';

/** One path of a draft: what the worker wants it to be, and the version that it saw. */
export interface DraftFile {
  /** FileVersion that the edit is based on; 0: absent. */
  readonly base: number;
  /** null deletes. */
  readonly blob: BlobId | null;
  readonly mode?: Mode;
}

/** An edit of one path. */
export interface DraftEdit {
  readonly path: string;
  /** FileVersion that the edit is based on, where the path has none yet; 0: absent. */
  readonly base: number;
  /** null deletes. */
  readonly bytes: Uint8Array | string | null;
  readonly mode?: Mode;
}

interface DraftRecord {
  readonly format: 1;
  readonly files: Readonly<Record<string, DraftFile>>;
}

/** More than one record may name. */
const filesMax = 1000;

/**
 * A worker's edits before they land, kept as a record after each of them, with
 * their bytes as staged objects: a worker that dies leaves them to the next,
 * and one whose task was taken over cannot go on with them.
 */
export class Draft {
  readonly #repo: Repo;
  readonly #key: string;
  readonly #author: Author;
  readonly #message: string;
  readonly #isFenced: boolean;
  #files: ReadonlyMap<string, DraftFile>;
  /** Of the record; 0 where there is none. */
  #version: number;

  /** Takes up what stands in the record. */
  constructor(repo: Repo, keys: RunKeys, task: TaskId, author: Author, isFenced = true) {
    this.#isFenced = isFenced;
    this.#repo = repo;
    this.#key = keys.draft(task);
    this.#author = author;
    this.#message = `edit for ${task}`;
    const head = repo.snapshot().record(this.#key);
    const record = head && (JSON.parse(head.value.toString('utf8')) as DraftRecord);
    this.#files = new Map(Object.entries(record?.files ?? {}));
    this.#version = head?.version ?? 0;
  }

  get files(): ReadonlyMap<string, DraftFile> {
    return this.#files;
  }

  /** Another after each edit; 0 where there is none. */
  get version(): number {
    return this.#version;
  }

  get isEmpty(): boolean {
    return this.#files.size === 0;
  }

  read(file: DraftFile): Buffer | undefined {
    return file.blob === null ? undefined : this.#repo.readObject(file.blob);
  }

  /**
   * All of them or none, durable when it resolves, and done once for one
   * operation id. Rejected (`record-stale`) where the task was taken over.
   */
  async write(edits: readonly DraftEdit[], operationId: string): Promise<Outcome | { readonly kind: 'full' }> {
    const files = new Map(this.#files);
    for (const { path, base, bytes, mode } of edits) {
      const blob = bytes === null ? null : await this.#repo.stage(bytes);
      files.set(path, { base: files.get(path)?.base ?? base, blob, ...(mode && { mode }) });
    }
    if (files.size > filesMax) return { kind: 'full' };
    const outcome = await this.#repo.land({
      author: this.#author,
      message: this.#message,
      records: [this.#write(files)],
      operationId,
    });
    if (outcome.kind === 'landed') {
      this.#files = files;
      this.#version = outcome.seq;
    }
    return outcome;
  }

  /** The changes that land it. */
  changes(): Change[] {
    return [...this.#files].map(([path, { base, blob, mode }]): Change => {
      const expect: Precondition = base === 0 ? absent : version(base);
      return blob === null
        ? { kind: 'delete', path, expect }
        : { kind: 'put', path, blob, expect, ...(mode && { mode }) };
    });
  }

  /** What removes the record in the intent that lands the changes. */
  removal(): RecordWrite[] {
    return this.#version === 0 ? [] : [{ key: this.#key, expect: this.#expect, value: null }];
  }

  /** The changes have landed, with the removal. */
  clear(): void {
    this.#files = new Map();
    this.#version = 0;
  }

  get #expect(): RecordWrite['expect'] {
    if (!this.#isFenced) return any;
    return this.#version === 0 ? absent : version(this.#version);
  }

  #write(files: ReadonlyMap<string, DraftFile>): RecordWrite {
    const record: DraftRecord = { format: 1, files: Object.fromEntries(files) };
    const objects = [...new Set([...files.values()].flatMap(({ blob }) => (blob === null ? [] : [blob])))];
    return { key: this.#key, expect: this.#expect, value: JSON.stringify(record), objects };
  }
}
