import type { Repo } from '../repo/api.ts';
import { getTextRecord } from './git-records.ts';

/** So many are remembered and told. */
const countMax = 1000;

/**
 * What git holds and no caller could make, in a record of each commit (or tag) that brought
 * some: a later import does not read those commits again, and still tells.
 */
export class Flagged {
  readonly #found = new Set<string>();
  readonly #keyOf: (gitId: string) => string;

  /** `keyOf` gives a record's key, which begins with that of an empty id. */
  constructor(repo: Pick<Repo, 'snapshot'>, keyOf: (gitId: string) => string) {
    this.#keyOf = keyOf;
    for (const { key } of repo.snapshot().records(keyOf(''))) {
      // The further parts of a long value are read with its first.
      if (!key.includes('#')) for (const one of listIn(getTextRecord(repo, key))) this.#add(one);
    }
  }

  /** The record, if any, that is to be put before the commit lands: one that is landed is never looked at again. */
  note(gitId: string, found: readonly string[]): (readonly [string, string])[] {
    const fresh = found.filter((one) => this.#add(one));
    return fresh.length > 0 ? [[this.#keyOf(gitId), JSON.stringify(fresh)]] : [];
  }

  list(): string[] {
    return [...this.#found];
  }

  #add(one: string): boolean {
    if (this.#found.size >= countMax || this.#found.has(one)) return false;
    this.#found.add(one);
    return true;
  }
}

function listIn(text: string | undefined): string[] {
  const found: unknown = text === undefined ? [] : JSON.parse(text);
  return Array.isArray(found) ? found.filter((one) => typeof one === 'string') : [];
}
