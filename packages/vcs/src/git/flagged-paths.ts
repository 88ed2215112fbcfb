import type { Repo } from '../repo/api.ts';
import { flaggedKey, getTextRecord } from './git-records.ts';

/** Paths that are remembered and told. */
const pathsMax = 1000;

/**
 * Paths that no caller could make, in a record of each commit that brought
 * some: a later import does not read those commits again, and still tells.
 */
export class FlaggedPaths {
  readonly #paths = new Set<string>();

  constructor(repo: Pick<Repo, 'snapshot'>) {
    for (const { key } of repo.snapshot().records(flaggedKey(''))) {
      // The further parts of a long value are read with its first.
      if (!key.includes('#')) for (const path of pathsOf(getTextRecord(repo, key))) this.#add(path);
    }
  }

  /** The record, if any, that is to be put before the commit lands: one that is landed is never looked at again. */
  note(gitId: string, paths: readonly string[]): (readonly [string, string])[] {
    const fresh = paths.filter((path) => this.#add(path));
    return fresh.length > 0 ? [[flaggedKey(gitId), JSON.stringify(fresh)]] : [];
  }

  list(): string[] {
    return [...this.#paths];
  }

  #add(path: string): boolean {
    if (this.#paths.size >= pathsMax || this.#paths.has(path)) return false;
    this.#paths.add(path);
    return true;
  }
}

function pathsOf(text: string | undefined): string[] {
  const found: unknown = text === undefined ? [] : JSON.parse(text);
  return Array.isArray(found) ? found.filter((path) => typeof path === 'string') : [];
}
