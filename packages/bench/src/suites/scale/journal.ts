import { hash } from 'blake3-wasm';

import type { CommitOperation } from '../../workloads/operation.ts';

/** One acknowledged commit, as its agent knows it. */
export interface JournalRow {
  readonly operationId: string;
  readonly path: string;
  readonly seq: number;
  /** BlobId of the content that it put: 64 hex digits. */
  readonly blob: string;
}

const digestBytes = 32;

/** What was acknowledged, row by row, in as little memory as a million rows need. */
export class Journal {
  readonly #operationIds: string[] = [];
  readonly #paths: string[] = [];
  readonly #seqs: number[] = [];
  #digests = Buffer.alloc(0);

  get length(): number {
    return this.#seqs.length;
  }

  /** For commits of one file. */
  add({ id, changes }: CommitOperation, seq: number): void {
    const [change] = changes;
    if (change === undefined || change.content === null || changes.length !== 1)
      throw new RangeError(`${id} is not a put of one file`);
    this.#reserve();
    const digest = hash(change.content) as Buffer;
    digest.copy(this.#digests, this.length * digestBytes);
    this.#operationIds.push(id);
    this.#paths.push(change.path);
    this.#seqs.push(seq);
  }

  row(at: number): JournalRow {
    return {
      operationId: this.#operationIds[at] ?? '',
      path: this.#paths[at] ?? '',
      seq: this.#seqs[at] ?? 0,
      blob: this.#digests.toString('hex', at * digestBytes, (at + 1) * digestBytes),
    };
  }

  /** Each path's newest row. */
  newest(): Map<string, JournalRow> {
    const at = new Map<string, number>();
    for (const [index, path] of this.#paths.entries()) {
      const known = at.get(path);
      if (known === undefined || (this.#seqs[known] ?? 0) < (this.#seqs[index] ?? 0)) at.set(path, index);
    }
    return new Map([...at].map(([path, index]) => [path, this.row(index)]));
  }

  /** Where each operation's row is. */
  rowsByOperation(): Map<string, number> {
    return new Map(this.#operationIds.map((id, at) => [id, at]));
  }

  #reserve(): void {
    if ((this.length + 1) * digestBytes <= this.#digests.length) return;
    const larger = Buffer.alloc(Math.max(1024 * digestBytes, 2 * this.#digests.length));
    this.#digests.copy(larger);
    this.#digests = larger;
  }
}
