import { closeSync, fstatSync, openSync, readSync } from 'node:fs';

const magic = 0xbeefc0de;
const metaBytes = 168;
/** Pages that a transaction took and gave back are never written, so a sound file may end before its last page. */
const unwrittenPagesMax = 256;

/**
 * What is wrong with LMDB's data file, as far as its two meta pages tell;
 * undefined: nothing. LMDB maps the file and would crash the process on a file
 * that is foreign or cut off. Layout: `struct MDB_meta` behind a page header of
 * 24 bytes; magic at 24, page size at 48, last page at 144, transaction at 152.
 */
export function faultOfDataFile(path: string): string | undefined {
  const file = openSync(path, 'r');
  try {
    const first = readMeta(file, 0);
    if (first === undefined || first.readUInt32LE(24) !== magic) return 'it does not begin like a store';
    const pageBytes = first.readUInt32LE(48);
    const second = readMeta(file, pageBytes);
    if (second === undefined || second.readUInt32LE(24) !== magic) return 'its second page is not there';
    const newest = first.readBigUInt64LE(152) > second.readBigUInt64LE(152) ? first : second;
    // Asked last: a writer may be growing the file.
    const { size } = fstatSync(file);
    const pages = Number(newest.readBigUInt64LE(144)) + 1;
    if (size < (pages - unwrittenPagesMax) * pageBytes) {
      return `it is cut off: ${size} bytes of ${pages * pageBytes}`;
    }
    return undefined;
  } finally {
    closeSync(file);
  }
}

function readMeta(file: number, at: number): Buffer | undefined {
  const bytes = Buffer.alloc(metaBytes);
  return readSync(file, bytes, 0, metaBytes, at) === metaBytes ? bytes : undefined;
}
