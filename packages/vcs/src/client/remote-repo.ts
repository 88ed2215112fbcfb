import { randomUUID } from 'node:crypto';
import { createInterface } from 'node:readline';
import type { Cursor, RepoEvent } from '../core/event.ts';
import { formatCursor, startCursor } from '../core/event.ts';
import type { BlobId, FileVersion, RepoPath, Seq } from '../core/ids.ts';
import { isMoundError, MoundError } from '../core/errors.ts';
import type { Mode } from '../core/mode.ts';
import type { Outcome } from '../core/outcome.ts';
import { blobIdOf } from '../format/hash.ts';
import type { BranchView, FileHead, Resolution } from '../repo/api.ts';
import type { BlameLine, CommitView, LogOptions } from '../views/types.ts';
import { intentFields, outcomeOf, resolutionFields, type WireIntent } from '../wire/index.ts';
import { Connection, type ServerPlace } from './connection.ts';

/** What a server says of itself and of the token. */
export interface RemoteState {
  readonly repoId: string;
  readonly formatVersion: number;
  readonly seq: Seq;
  readonly durableSeq: Seq;
  readonly token: { readonly name: string; readonly grants: readonly string[] };
}

/** A file as of a snapshot, with its bytes. */
export interface RemoteFile {
  readonly path: RepoPath;
  readonly version: FileVersion;
  readonly blob: BlobId;
  readonly mode: Mode;
  /** Verified against `blob`. */
  readonly content: Buffer;
}

/** Of which snapshot something is read; default: the newest of `main`. */
export interface RemoteAt {
  readonly at?: number;
  readonly branch?: string;
}

/** How long a follower waits before it asks a server again that went away. */
const againMs = 500;

const query = (fields: object): string => {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(fields)) if (value !== undefined) parameters.set(name, String(value));
  return parameters.size === 0 ? '' : `?${parameters.toString()}`;
};

/**
 * A repository behind `mound serve`. What it does is what {@link Repo} does in this process, but each call goes over a
 * connection. Errors: those of `Repo`, and `server-unreachable`, `not-authorised`, `forbidden`.
 */
export class RemoteRepo {
  readonly #connection: Connection;

  constructor(place: ServerPlace) {
    this.#connection = new Connection(place);
  }

  state(): Promise<RemoteState> {
    return this.#connection.json('GET', '/v1/repo');
  }

  /**
   * As `Repo.land`; the author is the token's where none is given. An intent without an operation id is given one, so
   * that it lands once, even where its answer is lost and it is sent again.
   */
  async land(intent: WireIntent): Promise<Outcome> {
    const { operationId = `remote-${randomUUID()}` } = intent;
    return outcomeOf(await this.#connection.json('POST', '/v1/land', intentFields({ ...intent, operationId })));
  }

  async stage(content: Uint8Array | string): Promise<BlobId> {
    const bytes = typeof content === 'string' ? Buffer.from(content) : Buffer.from(content);
    const answer = await this.#connection.ask('POST', '/v1/objects', bytes);
    return this.#connection.read<{ blob: BlobId }>(answer).blob;
  }

  async outcome(operationId: string): Promise<Outcome | undefined> {
    const told = await this.#connection.json<{ outcome: string | null }>('GET', `/v1/outcome${query({ operationId })}`);
    return told.outcome === null ? undefined : outcomeOf(told);
  }

  /** undefined where the path is absent. Errors: `object-damaged` where the bytes are not those of the id. */
  async file(path: string, at: RemoteAt = {}): Promise<RemoteFile | undefined> {
    const answer = await this.#connection.bytes(`/v1/file${query({ path, ...at })}`);
    if (answer === undefined) return undefined;
    const { headers, body: content } = answer;
    const blob = String(headers['etag']).replaceAll('"', '') as BlobId;
    if (blobIdOf(content) !== blob) {
      throw new MoundError('object-damaged', `the bytes of ${path} are not those of ${blob}`, { path, blob });
    }
    const version = Number(headers['mound-version']) as FileVersion;
    return { path: path as RepoPath, version, blob, mode: String(headers['mound-mode']) as Mode, content };
  }

  /** In byte order of the paths, as of one seq. */
  async files(options: RemoteAt & { readonly prefix?: string } = {}): Promise<{ seq: Seq; files: FileHead[] }> {
    const files: FileHead[] = [];
    let { at } = options;
    for (let after: string | undefined; ;) {
      const part = await this.#connection.json<{ seq: Seq; files: FileHead[]; hasMore: boolean }>(
        'GET',
        `/v1/files${query({ ...options, at, after })}`,
      );
      files.push(...part.files);
      if (!part.hasMore) return { seq: part.seq, files };
      at = part.seq;
      after = part.files.at(-1)?.path;
    }
  }

  /** Newest first; 100 unless told. */
  async log(options: LogOptions = {}): Promise<CommitView[]> {
    return (await this.#connection.json<{ entries: CommitView[] }>('GET', `/v1/log${query(options)}`)).entries;
  }

  async blame(path: string, at: RemoteAt = {}): Promise<BlameLine[]> {
    return (await this.#connection.json<{ lines: BlameLine[] }>('GET', `/v1/blame${query({ path, ...at })}`)).lines;
  }

  async branches(): Promise<BranchView[]> {
    return (await this.#connection.json<{ branches: BranchView[] }>('GET', '/v1/branches')).branches;
  }

  fork(name: string, options: { readonly from?: string; readonly at?: number } = {}): Promise<BranchView> {
    return this.#connection.json('POST', '/v1/fork', { name, ...options });
  }

  async merge(branch: string, options: { readonly message?: string } = {}): Promise<Outcome> {
    return outcomeOf(await this.#connection.json('POST', '/v1/merge', { branch, ...options }));
  }

  /** The sides of a conflict in the JSON form of `mound conflicts show --json`. */
  conflict(id: string): Promise<Readonly<Record<string, unknown>>> {
    return this.#connection.json('GET', `/v1/conflict${query({ id })}`);
  }

  async resolve(id: string, resolution: Omit<Resolution, 'author' | 'records'>): Promise<Outcome> {
    return outcomeOf(await this.#connection.json('POST', '/v1/resolve', { id, ...resolutionFields(resolution) }));
  }

  /** Events after the cursor that exist now, and then those to come, until the signal aborts; a lost connection is made anew. */
  async *follow(from: Cursor = startCursor, signal?: AbortSignal): AsyncGenerator<RepoEvent> {
    let at = from;
    while (signal?.aborted !== true) {
      try {
        const path = `/v1/events${query({ from: formatCursor(at) })}`;
        const stream = await this.#connection.stream('GET', path, { headers: { accept: 'text/event-stream' }, signal });
        for await (const line of createInterface({ input: stream, crlfDelay: Infinity })) {
          if (!line.startsWith('data:')) continue;
          const event = JSON.parse(line.slice(5)) as RepoEvent;
          yield event;
          at = event;
        }
      } catch (error) {
        if (isAborted(signal)) return;
        if (isMoundError(error) && error.code !== 'server-unreachable') throw error;
      }
      await new Promise((resolve) => setTimeout(resolve, againMs));
    }
  }

  /** Ends the connections; the server goes on. */
  close(): void {
    this.#connection.close();
  }
}

const isAborted = (signal: AbortSignal | undefined): boolean => signal?.aborted === true;
