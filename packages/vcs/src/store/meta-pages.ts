import { closeSync, openSync, readSync } from 'node:fs';

/** Offsets in each of the two meta pages at the front of `data.mdb`: page size and transaction. */
const pageSizeAt = 48;
const txnIdAt = 152;
const txnIdBytes = 8;

/** LMDB's two meta pages, read from the file: the newest transaction as it stands there. */
export class MetaPages {
  private readonly file: number;
  private readonly bytes: Buffer;

  constructor(dataPath: string) {
    this.file = openSync(dataPath, 'r');
    const head = Buffer.alloc(pageSizeAt + 4);
    readSync(this.file, head, 0, head.length, 0);
    this.bytes = Buffer.alloc(head.readUInt32LE(pageSizeAt) + txnIdBytes);
  }

  newestTxnId(): number {
    const { bytes } = this;
    readSync(this.file, bytes, 0, bytes.length, txnIdAt);
    const second = bytes.readBigUInt64LE(bytes.length - txnIdBytes);
    const first = bytes.readBigUInt64LE(0);
    return Number(first > second ? first : second);
  }

  close(): void {
    closeSync(this.file);
  }
}
