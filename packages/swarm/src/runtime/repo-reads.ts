import type { Repo } from '@mound/vcs';
import type { FileView, ReadOperations } from '../tools/operations.ts';

/** Reads of one agent: always from the snapshot that it stands on. */
export class RepoReads implements ReadOperations {
  readonly #repo: Repo;
  #base: number;

  constructor(repo: Repo, base: number) {
    this.#repo = repo;
    this.#base = base;
  }

  get base(): number {
    return this.#base;
  }

  /** After an own landing, so that an agent sees its own work. */
  advance(seq: number): void {
    this.#base = Math.max(this.#base, seq);
  }

  read(path: string): FileView | undefined {
    const snapshot = this.#repo.snapshot(this.#base);
    const head = snapshot.head(path);
    const bytes = head && snapshot.read(path);
    if (head === undefined || bytes === undefined) return undefined;
    return { path, version: head.version, mode: head.mode, size: head.size, text: textOf(bytes) };
  }

  list(prefix: string): ReturnType<ReadOperations['list']> {
    return this.#repo.snapshot(this.#base).list(prefix.replace(/\/+$/, ''));
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
