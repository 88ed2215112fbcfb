import type { Repo } from '@mound/vcs';
import type { FileView, ReadOperations, Refusal, SearchAnswer, SearchRequest } from '../tools/operations.ts';
import type { Draft } from './draft.ts';
import type { FieldGuide } from './field-guide.ts';
import type { Message } from '../model/model.ts';
import { ReadSet } from './read-set.ts';
import { recollectionsIn } from './recall-reads.ts';
import { searchText, type Searched } from './search-text.ts';

/** Reads of one agent: always from the snapshot that it stands on, under its own edits. */
export class RepoReads implements ReadOperations {
  readonly #repo: Repo;
  readonly #draft: Draft | undefined;
  readonly #guide: FieldGuide | undefined;
  #base: number;
  /** What the agent has in its context. */
  protected readonly readSet: ReadSet;

  /** `guide`: its files are read as they stand now, and reading one counts. */
  constructor(repo: Repo, base: number, guide: FieldGuide | undefined, draft?: Draft) {
    this.#repo = repo;
    this.#base = base;
    this.#draft = draft;
    this.#guide = guide;
    this.readSet = new ReadSet(repo);
  }

  /** The agent was shown files: by read, or as hits of a search. */
  noteRead(paths: readonly string[]): void {
    const snapshot = this.#repo.snapshot(this.#base);
    for (const path of paths) {
      if (this.#draft?.files.has(path)) continue;
      const head = snapshot.head(path);
      if (head !== undefined) this.readSet.note(path, head.version);
    }
  }

  /** An agent that goes on knows what stands in its transcript; what changed since is told before its next request. */
  recall(messages: readonly Message[]): void {
    for (const one of recollectionsIn(messages)) {
      if (one.kind === 'read') this.readSet.note(one.path, one.version);
      else
        this.readSet.wrote(
          this.#repo.commit(one.seq).changes.map(({ path }) => path),
          one.seq,
        );
    }
  }

  /**
   * What changed in the files that the agent has read, in words, once; from then on it stands on the newest
   * snapshot. undefined where nothing did.
   */
  freshen(): string | undefined {
    const newest = this.#repo.snapshot();
    const delta = this.readSet.delta(newest);
    if (delta !== undefined) this.advance(newest.seq);
    return delta;
  }

  get base(): number {
    return this.#base;
  }

  /** After an own landing, so that an agent sees its own work. */
  advance(seq: number): void {
    this.#base = Math.max(this.#base, seq);
  }

  read(path: string): FileView | undefined {
    const edit = this.#draft?.files.get(path);
    const isGuide = edit === undefined && this.#guide?.isIn(path) === true;
    const snapshot = this.#repo.snapshot(isGuide ? undefined : this.#base);
    const head = snapshot.head(path);
    if (edit !== undefined) {
      const bytes = this.#draft?.read(edit);
      if (bytes === undefined) return undefined;
      const mode = edit.mode ?? head?.mode ?? 'file';
      return { path, version: edit.base, mode, size: bytes.length, text: textOf(bytes), edited: true };
    }
    const bytes = head && snapshot.read(path);
    if (head === undefined || bytes === undefined) return undefined;
    const text = textOf(bytes);
    if (isGuide && text !== undefined) this.#guide?.read(path, text);
    return { path, version: head.version, mode: head.mode, size: head.size, text };
  }

  list(prefix: string): ReturnType<ReadOperations['list']> {
    return this.#files(prefix).map(({ path, version, size }) => ({ path, version, size }));
  }

  async search(request: SearchRequest): Promise<SearchAnswer | Refusal> {
    const answer = await searchText(this.#files(request.prefix), request);
    if (answer.kind === 'found') this.noteRead([...new Set(answer.hits.map(({ path }) => path))]);
    return answer;
  }

  whereabouts(path: string): string | undefined {
    const snapshot = this.#repo.snapshot(this.#base);
    if (snapshot.head(path) !== undefined) {
      const last = snapshot.redirects(path).at(-1);
      const others = last?.modules.filter((module) => module !== path) ?? [];
      return others.length === 0 ? undefined : `${path} was split: most of it is in ${others.join(', ')} now`;
    }
    const went = snapshot.whereabouts(path);
    if (went?.kind === 'moved') return `${path} is ${went.path} now: read that.`;
    if (went?.kind === 'split') return `${path} was split: its parts are in ${went.paths.join(', ')} now. Read those.`;
    return undefined;
  }

  #files(prefix: string): (Searched & { readonly version: number })[] {
    const snapshot = this.#repo.snapshot(this.#base);
    const below = prefix.replace(/\/+$/, '');
    const isBelow = (path: string): boolean => below === '' || path === below || path.startsWith(`${below}/`);
    const single = below === '' ? undefined : snapshot.head(below);
    const heads = single === undefined ? snapshot.list(below) : [single];
    const files = heads.map(({ path, version, size }) => ({ path, version, size, bytes: () => snapshot.read(path) }));
    const draft = this.#draft;
    if (draft === undefined || draft.isEmpty) return files;
    const edits = [...draft.files].filter(([path]) => isBelow(path));
    const edited = edits.flatMap(([path, edit]) => {
      const bytes = draft.read(edit);
      return bytes === undefined ? [] : [{ path, version: edit.base, size: bytes.length, bytes: () => bytes }];
    });
    const names = new Set(edits.map(([path]) => path));
    return [...files.filter(({ path }) => !names.has(path)), ...edited].toSorted((left, right) =>
      Buffer.compare(Buffer.from(left.path), Buffer.from(right.path)),
    );
  }
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Text where the bytes are UTF-8 without a NUL. */
export function textOf(bytes: Uint8Array): string | undefined {
  if (bytes.includes(0)) return undefined;
  try {
    return decoder.decode(bytes);
  } catch {
    return undefined;
  }
}
