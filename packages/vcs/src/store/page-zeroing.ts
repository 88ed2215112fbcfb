import { closeSync, fsyncSync, openSync, readSync, writeSync } from 'node:fs';
import { freePagesOf } from './page-check.ts';

const pageBytesAt = 48;
/** What the last transactions freed is not told of: whoever removes something lets so many pass. */
export const youngCount = 4;

/** Oldest transaction that a reader sees, as LMDB lists them: a process, a thread, a transaction (or `-`) a line. */
export function oldestReaderIn(list: string): number {
  const txns = [...list.matchAll(/^\s*\d+\s+\w+\s+(\d+)\s*$/gm)].map((match) => Number(match[1]));
  return Math.min(Number.MAX_SAFE_INTEGER, ...txns);
}

/** See `Store.zeroFreePages`. */
export function zeroFreePages(path: string, oldestReader: number, pagesMax: number): { done: number; left: number } {
  const free = freePagesOf(path);
  const newest = Math.max(0, ...free.map(({ txn }) => txn));
  const file = openSync(path, 'r+');
  try {
    const head = Buffer.alloc(4);
    readSync(file, head, 0, head.length, pageBytesAt);
    const pageBytes = head.readUInt32LE(0);
    const zeros = Buffer.alloc(pageBytes);
    const found = Buffer.alloc(pageBytes);
    let done = 0;
    let left = 0;
    for (const { txn, pages } of free) {
      // What the newest transaction freed belongs to the state that LMDB would fall back to.
      const isNeeded = txn >= newest || txn >= oldestReader;
      for (const page of pages) {
        const isThere = readSync(file, found, 0, pageBytes, page * pageBytes) === pageBytes;
        if (!isThere || found.equals(zeros)) continue;
        if (isNeeded && txn > newest - youngCount) continue;
        if (isNeeded || done >= pagesMax) left++;
        else {
          writeSync(file, zeros, 0, pageBytes, page * pageBytes);
          done++;
        }
      }
    }
    if (done > 0) fsyncSync(file);
    return { done, left };
  } finally {
    closeSync(file);
  }
}
