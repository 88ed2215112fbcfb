import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import type { Disagreement } from './comparison.ts';

/** Writes the triples that subjects do not agree on, for a person to look at: `DIR/PEER/RELATION/N.base`… */
export class DisagreementFiles {
  readonly #dir: string | undefined;
  readonly #found: Disagreement[] = [];

  constructor(dir: string | undefined) {
    this.#dir = dir;
  }

  add(found: Disagreement): void {
    if (this.#dir !== undefined) this.#found.push(found);
  }

  async end(): Promise<void> {
    for (const [number, { triple, subject, peer, relation }] of this.#found.entries()) {
      const dir = join(this.#dir ?? '.', `${subject}-beside-${peer}`, relation);
      await mkdir(dir, { recursive: true });
      for (const side of ['base', 'current', 'incoming'] as const) {
        await writeFile(join(dir, `${number}.${side}`), triple[side]);
      }
      if (triple.committed) await writeFile(join(dir, `${number}.committed`), triple.committed);
      await writeFile(join(dir, `${number}.origin`), `${triple.origin}\n`);
    }
  }
}
