import {
  closeSync,
  fstatSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  readSync,
  statSync,
  writeSync,
} from 'node:fs';

/** Offsets in `lock.mdb`, `struct MDB_txninfo` on 64-bit Linux: magic, transaction, reader mutex, writer mutex. */
const headBytes = 144;
const txnIdAt = 8;
const writerMutexAt = 64;
/** A robust, process-shared mutex says so in its type; each C library has it and the lock word at its own place. */
const layouts = [
  { typeAt: writerMutexAt + 16, types: new Set([144]), wordAt: writerMutexAt }, // glibc
  { typeAt: writerMutexAt, types: new Set([132]), wordAt: writerMutexAt + 4 }, // musl
];
/** The lock word holds the owner's thread id and two flags: others wait; the owner died. */
const threadIdMask = 0x3fffffff;

export interface MutexView {
  /** Thread that holds the writer mutex; undefined: none does. */
  readonly threadId: number | undefined;
  /** Newest transaction, as LMDB's processes tell each other. */
  readonly txnId: number;
}

/**
 * Looks at LMDB's lock file, in which its writer mutex lies, without ever
 * waiting for the mutex. Linux only.
 *
 * POSIX locks of a process are dropped when it closes *any* handle to the
 * file, and LMDB's are what keeps a newcomer from making the mutexes anew under
 * our feet. So while the environment is open its own handle is used, and ours
 * is closed before it is opened.
 */
export class LockFile {
  private readonly path: string;
  private file: number | undefined;
  private readonly head = Buffer.alloc(headBytes);

  constructor(path: string) {
    this.path = path;
  }

  /** Uses LMDB's handle from now on; to be called when the environment is open. */
  adopt(): void {
    this.file = handleOf(this.path);
  }

  /** The environment was closed. */
  forget(): void {
    this.file = undefined;
  }

  /** Undefined where it cannot be told (no lock file yet, another system). */
  look(): MutexView | undefined {
    const adopted = this.file;
    if (adopted !== undefined) return this.read(adopted);
    const other = handleOf(this.path);
    if (other !== undefined) return this.read(other);
    try {
      const file = openSync(this.path, 'r');
      try {
        return this.read(file);
      } finally {
        closeSync(file);
      }
    } catch {
      return undefined;
    }
  }

  /**
   * Tells LMDB's processes of the newest transaction. Only under the writer
   * mutex, with the environment open. False where it cannot be done.
   */
  setTxnId(txnId: number): boolean {
    if (this.file === undefined) return false;
    const bytes = Buffer.alloc(8);
    bytes.writeBigUInt64LE(BigInt(txnId));
    return writeSync(this.file, bytes, 0, bytes.length, txnIdAt) === bytes.length;
  }

  private read(file: number): MutexView | undefined {
    const { head } = this;
    try {
      if (readSync(file, head, 0, headBytes, 0) !== headBytes) return undefined;
    } catch {
      return undefined;
    }
    const txnId = Number(head.readBigUInt64LE(txnIdAt));
    for (const { typeAt, types, wordAt } of layouts) {
      if (!types.has(head.readInt32LE(typeAt))) continue;
      const threadId = head.readUInt32LE(wordAt) & threadIdMask;
      return { threadId: threadId === 0 ? undefined : threadId, txnId };
    }
    return undefined;
  }
}

/**
 * The process that has a lock file for itself, as LMDB does while the first one
 * makes it anew: whoever opens the environment then waits in the kernel.
 */
export function makerOf(path: string): number | undefined {
  try {
    const { ino } = statSync(path);
    const isMaking = new RegExp(`^\\d+: POSIX\\s+ADVISORY\\s+WRITE\\s+(\\d+)\\s+\\S+:${ino}\\s+0 0$`, 'm');
    const pid = isMaking.exec(readFileSync('/proc/locks', 'utf8'))?.[1];
    return pid === undefined ? undefined : Number(pid);
  } catch {
    return undefined;
  }
}

/** A handle that this process has to a file, of whichever thread; undefined: none. */
export function handleOf(path: string): number | undefined {
  try {
    const { dev, ino } = statSync(path);
    for (const name of readdirSync('/proc/self/fd')) {
      const file = Number(name);
      if (!linkOf(name).endsWith('lock.mdb')) continue;
      const found = fstatSync(file);
      if (found.dev === dev && found.ino === ino) return file;
    }
  } catch {
    // Not Linux, or the file is not there.
  }
  return undefined;
}

function linkOf(name: string): string {
  try {
    return readlinkSync(`/proc/self/fd/${name}`);
  } catch {
    return '';
  }
}
