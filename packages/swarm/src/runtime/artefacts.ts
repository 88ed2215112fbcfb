import { lstat, mkdir, readdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { copyTree } from '../command/make-caches.ts';
import type { Checkout } from './checkout.ts';

/**
 * What builds leave, from the directory of one agent to that of another: an
 * agent's first command finds what the newest good build of the others left, so
 * that only what differs is built. It is copied, never linked: no build writes
 * into another's directory. No copy is made of a directory in which a command runs.
 */
export class Artefacts {
  readonly #paths: readonly string[];
  /** Directories with artefacts in which a command succeeded, the newest last. */
  readonly #good = new Set<Checkout>();
  readonly #running = new Set<Checkout>();
  /** Under way, by the directory that is read. */
  readonly #copies = new Map<Checkout, Set<Promise<void>>>();

  /** `paths` from the root of the tree; a `*` is any name. */
  constructor(paths: readonly string[]) {
    this.#paths = paths;
  }

  /** Before the directory is changed: waits while it is copied from. */
  async begin(checkout: Checkout): Promise<void> {
    for (let copies = this.#copies.get(checkout); copies !== undefined; copies = this.#copies.get(checkout))
      await Promise.allSettled(copies);
    this.#running.add(checkout);
  }

  /** `how`: the command ended with 0, or otherwise, or was made to end. */
  async end(checkout: Checkout, how: 'good' | 'bad' | 'killed'): Promise<void> {
    try {
      // What was made to end may have left half a file.
      if (how !== 'bad') this.#good.delete(checkout);
      if (how === 'good' && (await this.#found(checkout)).length > 0) this.#good.add(checkout);
    } finally {
      this.#running.delete(checkout);
    }
  }

  /** Fills a directory that has its files and nothing else. */
  async fill(checkout: Checkout): Promise<void> {
    const source = [...this.#good].findLast((good) => good !== checkout && !this.#running.has(good));
    if (source === undefined) return;
    const copies = this.#copies.get(source) ?? new Set();
    this.#copies.set(source, copies);
    const copy = this.#copy(source, checkout);
    copies.add(copy);
    try {
      await copy;
    } finally {
      copies.delete(copy);
      if (copies.size === 0) this.#copies.delete(source);
    }
  }

  async #copy(source: Checkout, checkout: Checkout): Promise<void> {
    await copyArtefacts(source.directory, checkout.directory, this.#paths);
    // Tools that go by times see which files are as they were when the artefacts were made.
    checkout.takeTimes(source);
  }

  #found({ directory }: Checkout): Promise<string[]> {
    return artefactsIn(directory, this.#paths);
  }
}

/** Paths of artefacts that are there. */
export async function artefactsIn(directory: string, paths: readonly string[]): Promise<string[]> {
  let found: string[] = [];
  for (const path of paths) found = [...found, ...(await expand(directory, '', path.split('/')))];
  return found;
}

export async function copyArtefacts(source: string, target: string, paths: readonly string[]): Promise<void> {
  for (const path of await artefactsIn(source, paths)) {
    const to = join(target, path);
    // Where the tree has files there, they are the tree's.
    if ((await lstat(to).catch(() => undefined)) !== undefined) continue;
    const from = join(source, path);
    await mkdir(dirname(to), { recursive: true });
    try {
      await copyTree(from, to, (await lstat(from)).isFile());
    } catch {
      // The disk is full, say: the build begins without.
      await rm(to, { recursive: true, force: true });
    }
  }
}

async function expand(directory: string, below: string, [step, ...rest]: readonly string[]): Promise<string[]> {
  if (step === undefined) return [below];
  const names = step === '*' ? await readdir(join(directory, below)).catch(() => []) : [step];
  let found: string[] = [];
  for (const name of names) {
    const path = below === '' ? name : `${below}/${name}`;
    const stat = await lstat(join(directory, path)).catch(() => undefined);
    // Not through a link, which may lead anywhere.
    if (stat !== undefined && (rest.length === 0 || stat.isDirectory()))
      found = [...found, ...(await expand(directory, path, rest))];
  }
  return found;
}
