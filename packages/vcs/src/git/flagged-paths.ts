import type { Repo } from '../repo/api.ts';
import { flaggedKey, getTextRecord, putRecords } from './git-records.ts';

/** Paths that are remembered and told. */
const pathsMax = 1000;

/**
 * Paths that no caller could make, in a record of each commit that brought
 * some: a later import does not read those commits again, and still tells.
 */
export class FlaggedPaths {
  readonly #repo: Pick<Repo, 'land' | 'snapshot'>;
  readonly #paths = new Set<string>();

  constructor(repo: Pick<Repo, 'land' | 'snapshot'>) {
    this.#repo = repo;
    for (const { key } of repo.snapshot().records(flaggedKey(''))) {
      // The further parts of a long value are read with its first.
      if (!key.includes('#')) for (const path of pathsOf(getTextRecord(repo, key))) this.#add(path);
    }
  }

  /** To be awaited before the commit lands: one that is landed is never looked at again. */
  async note(gitId: string, paths: readonly string[]): Promise<void> {
    const fresh = paths.filter((path) => this.#add(path));
    if (fresh.length > 0) await putRecords(this.#repo, new Map([[flaggedKey(gitId), JSON.stringify(fresh)]]));
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
