import { readFileSync, statfsSync, statSync } from 'node:fs';

/** What is left below this is no room: one transaction may write as much. */
const roomBytesMin = 16 * 1024 * 1024;

/**
 * Why a file cannot grow; undefined: it can. LMDB reports a write that was cut
 * short as an error of the device, whatever the reason.
 */
export function lackOfRoom(path: string): string | undefined {
  try {
    const { bavail, bfree, bsize } = statfsSync(path);
    const blocks = process.getuid?.() === 0 ? bfree : bavail;
    if (blocks * bsize < roomBytesMin) return 'no space is left on its disk';
    const limit = /^Max file size\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1];
    if (limit !== undefined && statSync(path).size + roomBytesMin > Number(limit)) {
      return `this process may write no file of over ${limit} bytes (ulimit -f)`;
    }
  } catch {
    // Nothing can be told: the error stands as it is.
  }
  return undefined;
}
