import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
  type Stats,
} from 'node:fs';
import { dirname, join } from 'node:path';
import type { BlobId, Mode, Repo } from '@mound/vcs';
import type { Draft } from './draft.ts';

/** A file in place, and by what one sees that it was not touched since. */
interface Placed {
  readonly blob: BlobId;
  readonly mode: Mode;
  readonly stat: string;
}

export interface ChangedFile {
  readonly path: string;
  /** null where the command removed it. */
  readonly bytes: Buffer | null;
  readonly mode: Mode;
}

const statText = (stat: Stats): string => `${stat.ino} ${stat.size} ${stat.mtimeMs} ${stat.ctimeMs} ${stat.mode}`;

/**
 * A directory with the files of one snapshot and a worker's own edits on it:
 * what its commands see. It follows from one snapshot to the next by the
 * differences; files that are not of the tree (what builds leave) stay.
 */
export class Checkout {
  readonly directory: string;
  readonly #repo: Repo;
  readonly #placed: Map<string, Placed> = new Map();

  constructor(repo: Repo, directory: string) {
    this.#repo = repo;
    this.directory = directory;
    mkdirSync(directory, { recursive: true });
  }

  /** Nothing was placed in it yet. */
  get isNew(): boolean {
    return this.#placed.size === 0;
  }

  /** Brings the directory to a snapshot and a draft; nothing of another agent's comes in between. */
  update(seq: number, draft: Draft): void {
    const snapshot = this.#repo.snapshot(seq);
    const wanted = new Map<string, { readonly blob: BlobId; readonly mode: Mode; readonly isDraft: boolean }>();
    for (const { path, blob, mode } of snapshot.list()) wanted.set(path, { blob, mode, isDraft: false });
    for (const [path, { blob, mode }] of draft.files) {
      if (blob === null) wanted.delete(path);
      else wanted.set(path, { blob, mode: mode ?? wanted.get(path)?.mode ?? 'file', isDraft: true });
    }
    for (const path of this.#placed.keys()) {
      if (wanted.has(path)) continue;
      this.#remove(path);
      this.#placed.delete(path);
    }
    for (const [path, { blob, mode, isDraft }] of wanted) {
      const placed = this.#placed.get(path);
      if (placed?.blob === blob && placed.mode === mode) continue;
      const bytes = isDraft ? this.#repo.readObject(blob) : snapshot.read(path);
      if (bytes === undefined) continue;
      this.#place(path, bytes, mode);
      this.#placed.set(path, { blob, mode, stat: statText(lstatSync(join(this.directory, path))) });
    }
  }

  /** Files of the tree that are not as they were placed, and new ones below `keep`; they are placed anew at the next update. */
  changes(keep: readonly string[]): ChangedFile[] {
    const changed: ChangedFile[] = [];
    for (const [path, { stat, mode }] of this.#placed) {
      const now = lstatSync(join(this.directory, path), { throwIfNoEntry: false });
      if (now !== undefined && statText(now) === stat) continue;
      this.#placed.delete(path);
      changed.push(now === undefined ? { path, bytes: null, mode } : this.#read(path, now));
    }
    const known = new Set([...this.#placed.keys(), ...changed.map(({ path }) => path)]);
    for (const prefix of keep) {
      for (const path of this.#walk(prefix.replace(/\/+$/, ''))) {
        if (known.has(path)) continue;
        known.add(path);
        changed.push(this.#read(path, lstatSync(join(this.directory, path))));
      }
    }
    return changed;
  }

  /** Files that are the same in both get the times that they have in the other one. */
  takeTimes(other: Checkout): void {
    for (const [path, { blob, mode }] of this.#placed) {
      const theirs = other.#placed.get(path);
      if (theirs?.blob !== blob || theirs.mode !== mode || (mode !== 'file' && mode !== 'executable')) continue;
      const file = join(this.directory, path);
      const { atimeMs, mtimeMs } = lstatSync(join(other.directory, path));
      utimesSync(file, atimeMs / 1000, mtimeMs / 1000);
      this.#placed.set(path, { blob, mode, stat: statText(lstatSync(file)) });
    }
  }

  /** Removes the directory with all that is in it. */
  remove(): void {
    rmSync(this.directory, { recursive: true, force: true });
  }

  #read(path: string, stat: Stats): ChangedFile {
    const file = join(this.directory, path);
    if (stat.isSymbolicLink()) return { path, bytes: Buffer.from(readlinkSync(file)), mode: 'symlink' };
    if (!stat.isFile()) return { path, bytes: null, mode: 'file' };
    return { path, bytes: readFileSync(file), mode: (stat.mode & 0o111) === 0 ? 'file' : 'executable' };
  }

  /** Files at or below a path, symlinks not followed. */
  *#walk(path: string): Iterable<string> {
    if (path.split('/').some((part) => part === '' || part === '..' || part === '.git' || part === '.mound')) return;
    const stat = lstatSync(join(this.directory, path), { throwIfNoEntry: false });
    if (stat === undefined) return;
    if (!stat.isDirectory()) {
      yield path;
      return;
    }
    for (const name of readdirSync(join(this.directory, path)).toSorted()) yield* this.#walk(`${path}/${name}`);
  }

  #place(path: string, bytes: Buffer, mode: Mode): void {
    const file = join(this.directory, path);
    this.#clearParents(path);
    rmSync(file, { recursive: true, force: true });
    mkdirSync(dirname(file), { recursive: true });
    if (mode === 'gitlink') mkdirSync(file);
    else if (mode === 'symlink') symlinkSync(bytes, file);
    else {
      writeFileSync(file, bytes);
      if (mode === 'executable') chmodSync(file, 0o755);
    }
  }

  /** What a command put where a directory belongs, a symlink above all, is not written through. */
  #clearParents(path: string): void {
    const parts = path.split('/').slice(0, -1);
    for (let depth = 1; depth <= parts.length; depth++) {
      const parent = join(this.directory, ...parts.slice(0, depth));
      const stat = lstatSync(parent, { throwIfNoEntry: false });
      if (stat === undefined) return;
      if (!stat.isDirectory()) rmSync(parent);
    }
  }

  #remove(path: string): void {
    this.#clearParents(path);
    rmSync(join(this.directory, path), { recursive: true, force: true });
  }
}
