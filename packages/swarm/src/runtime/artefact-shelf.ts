import { lstat, mkdir, rename, rm, utimes } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { BlobId, Mode } from '@mound/vcs';
import { makeOwnPlace } from '../command/own-place.ts';
import { artefactsIn, copyArtefacts } from './artefacts.ts';

/** A file of the tree, and the times that it had when artefacts were made from it. */
export interface TimedFile {
  readonly blob: BlobId;
  readonly mode: Mode;
  readonly atimeMs: number;
  readonly mtimeMs: number;
}

interface Kept {
  readonly directory: string;
  readonly files: ReadonlyMap<string, TimedFile>;
  readers: number;
}

/**
 * What builds leave, for directories that are made anew for each command: what the last good one left is put by, and
 * the next begins with a copy. Nothing is put by of a command that failed.
 */
export class ArtefactShelf {
  readonly paths: readonly string[];
  readonly #parent: string;
  #home: Promise<string> | undefined;
  #kept: Kept | undefined;
  #count = 0;

  /** `paths` from the root of the tree, `*` is any name; the shelf is made in `parent`, where the directories are. */
  constructor(paths: readonly string[], parent: string) {
    this.paths = paths;
    this.#parent = parent;
  }

  /** True of what no command is asked to commit. */
  holds(path: string): boolean {
    const parts = path.split('/');
    return this.paths.some((pattern) => {
      const wanted = pattern.split('/');
      return wanted.length <= parts.length && wanted.every((step, at) => step === '*' || step === parts[at]);
    });
  }

  /** Fills a directory that has its files and nothing else; a file that is the same gets the times that it had. */
  async fill(dir: string, files: ReadonlyMap<string, Pick<TimedFile, 'blob' | 'mode'>>): Promise<void> {
    const kept = this.#kept;
    if (kept === undefined) return;
    kept.readers += 1;
    try {
      await copyArtefacts(kept.directory, dir, this.paths);
      for (const [path, { blob, mode, atimeMs, mtimeMs }] of kept.files) {
        const own = files.get(path);
        if (own?.blob !== blob || own.mode !== mode || (mode !== 'file' && mode !== 'executable')) continue;
        await utimes(join(dir, path), atimeMs / 1000, mtimeMs / 1000);
      }
    } finally {
      kept.readers -= 1;
      if (kept !== this.#kept) await this.#drop(kept);
    }
  }

  /** Takes the artefacts out of a directory that nobody needs any more. */
  async take(dir: string, files: ReadonlyMap<string, TimedFile>): Promise<void> {
    const found = await artefactsIn(dir, this.paths);
    if (found.length === 0) return;
    this.#home ??= makeOwnPlace(this.#parent, 'mound-artefacts-');
    const directory = join(await this.#home, String((this.#count += 1)));
    for (const path of found) {
      const to = join(directory, path);
      await mkdir(dirname(to), { recursive: true });
      await rename(join(dir, path), to);
    }
    const before = this.#kept;
    this.#kept = { directory, files, readers: 0 };
    if (before !== undefined) await this.#drop(before);
  }

  async close(): Promise<void> {
    const home = await this.#home;
    this.#kept = undefined;
    if (home !== undefined) await rm(home, { recursive: true, force: true, maxRetries: 3 });
  }

  async #drop({ directory, readers }: Kept): Promise<void> {
    if (readers === 0) await rm(directory, { recursive: true, force: true, maxRetries: 3 });
  }
}

/** When the files that nobody has touched were last written. */
export async function timesIn(
  dir: string,
  files: ReadonlyMap<string, Pick<TimedFile, 'blob' | 'mode'>>,
): Promise<ReadonlyMap<string, TimedFile>> {
  const timed = new Map<string, TimedFile>();
  for (const [path, { blob, mode }] of files) {
    const stat = await lstat(join(dir, path)).catch(() => undefined);
    if (stat !== undefined) timed.set(path, { blob, mode, atimeMs: stat.atimeMs, mtimeMs: stat.mtimeMs });
  }
  return timed;
}
