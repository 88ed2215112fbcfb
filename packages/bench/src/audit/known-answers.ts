import { createHash } from 'node:crypto';

import { expectedHash } from '../sqllogictest/judge.ts';
import { parseTest } from '../sqllogictest/parse.ts';
import type { TextFiles } from './corpus-files.ts';
import { plain } from './needles.ts';

/** Of texts by the million, numbers of 48 bits are kept. */
class Fingerprints {
  readonly #numbers = new Set<number>();

  get size(): number {
    return this.#numbers.size;
  }

  add(text: string): void {
    this.#numbers.add(fingerprintOf(text));
  }

  has(text: string): boolean {
    return this.#numbers.has(fingerprintOf(text));
  }
}

const fingerprintOf = (text: string): number => createHash('md5').update(text).digest().readUIntBE(0, 6);

/** What a corpus in the sqllogictest format asks and expects. */
export class KnownAnswers {
  readonly sql = new Fingerprints();
  /** MD5 of results, hex. */
  readonly hashes = new Fingerprints();

  constructor(files: TextFiles = []) {
    for (const [path, text] of files) {
      if (!path.endsWith('.test')) continue;
      for (const record of parseTest(text)) {
        if (record.kind === 'query') this.hashes.add(expectedHash(record));
        if (record.kind === 'query' || record.kind === 'statement') this.sql.add(plain(record.sql).trim());
      }
    }
  }
}
