import { spawnSync } from 'node:child_process';
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname } from 'node:path';

const magic = 0xbeefc0de;
const metaBytes = 168;
/** Pages that a transaction took and gave back are never written, so a sound file may end before its last page. */
const unwrittenPagesMax = 256;
const probeMs = 60_000;

/** Reads every row of every table; where the file lacks a page that is needed, the process dies of it. */
const probe = `
const { open } = require(process.argv[1]);
const root = open({ path: process.argv[2], noSubdir: false, readOnly: true, encoding: 'binary', maxDbs: 64 });
for (const name of [...root.getKeys({})]) {
  const table = root.openDB({ name: Buffer.from(name).toString().replace(/\\0/g, ''), encoding: 'binary', keyEncoding: 'binary' });
  for (const { value } of table.getRange({})) value[value.length - 1];
}`;

/** Whether a process that reads all of a file lives through it. Only asked of a file that is shorter than it says. */
function isReadable(path: string): boolean {
  const lmdb = createRequire(import.meta.url).resolve('lmdb');
  const child = spawnSync(process.execPath, ['-e', probe, lmdb, dirname(path)], { timeout: probeMs, stdio: 'ignore' });
  return child.status === 0;
}

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
    const isCutOff = size < (pages - unwrittenPagesMax) * pageBytes || (size < pages * pageBytes && !isReadable(path));
    if (isCutOff) {
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
