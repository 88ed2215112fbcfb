import { lstatSync, readFileSync, renameSync, rmSync, writeFileSync, type Stats } from 'node:fs';
import { join } from 'node:path';
import { checksum } from '../format/seal.ts';
import { storeDirName } from '../store/store-dir.ts';

const magic = 'mound index 1\n';
const fields = 5;
/** In place of the time of the change of state: the file is linked, so others change that. */
const linkedTime = -1;
/** magic, generation, since, number of paths, bytes of the paths' text, bytes of the gitlinks' text. */
const headBytes = magic.length + 2 + 5 * 8;

const indexPath = (dir: string): string => join(dir, storeDirName, 'index');

/**
 * Stat data of each file in place, as of a generation of the workspace's rows at which each held what the rows say.
 * A cache: where it is missing, damaged or of another generation, files are read.
 */
export class StatIndex {
  generation: number;
  /**
   * The file system's clock when the newest whole look at the files began: a file that was modified at or after it may
   * have been modified again unseen, within one tick of that clock.
   */
  sinceMs: number;
  readonly gitlinks: Set<string>;
  private readonly rowOf = new Map<string, number>();
  private stats: Float64Array;
  private count = 0;
  isDirty = false;

  constructor(generation: number, sinceMs: number, gitlinks: Iterable<string> = [], capacity = 64) {
    this.generation = generation;
    this.sinceMs = sinceMs;
    this.gitlinks = new Set(gitlinks);
    this.stats = new Float64Array(capacity * fields);
  }

  get paths(): Iterable<string> {
    return this.rowOf.keys();
  }

  get size(): number {
    return this.rowOf.size;
  }

  has(path: string): boolean {
    return this.rowOf.has(path);
  }

  /** The row's number, below `capacity`; undefined: not in place. */
  row(path: string): number | undefined {
    return this.rowOf.get(path);
  }

  get capacity(): number {
    return this.count;
  }

  /** `isLinked`: others may link the same file, which changes its state and not what it holds. */
  set(path: string, stat: Stats, isLinked = false): void {
    let row = this.rowOf.get(path);
    if (row === undefined) {
      row = this.count++;
      this.rowOf.set(path, row);
      if (this.count * fields > this.stats.length) {
        const grown = new Float64Array(this.stats.length * 2);
        grown.set(this.stats);
        this.stats = grown;
      }
    }
    const at = row * fields;
    this.stats[at] = stat.mtimeMs;
    this.stats[at + 1] = isLinked ? linkedTime : stat.ctimeMs;
    this.stats[at + 2] = stat.size;
    this.stats[at + 3] = stat.ino;
    this.stats[at + 4] = stat.mode;
    this.isDirty = true;
  }

  delete(path: string): void {
    if (this.rowOf.delete(path)) this.isDirty = true;
  }

  /** Whether the file is what it was, as far as stat data can tell. */
  isSame(row: number, stat: Stats): boolean {
    const isLinked = this.stats[row * fields + 1] === linkedTime;
    return this.isEqual(row, stat) && stat.mtimeMs < this.sinceMs && (isLinked || stat.ctimeMs < this.sinceMs);
  }

  /** Whether the path was this very file, and linked, when it was last looked at. */
  isLinked(path: string, { ino }: Stats): boolean {
    const row = this.rowOf.get(path);
    return row !== undefined && this.stats[row * fields + 1] === linkedTime && this.stats[row * fields + 3] === ino;
  }

  isEqual(row: number, stat: Stats): boolean {
    const at = row * fields;
    const { stats } = this;
    return (
      stats[at] === stat.mtimeMs &&
      (stats[at + 1] === stat.ctimeMs || stats[at + 1] === linkedTime) &&
      stats[at + 2] === stat.size &&
      stats[at + 3] === stat.ino &&
      stats[at + 4] === stat.mode
    );
  }

  save(dir: string): void {
    const paths = Buffer.from([...this.rowOf.keys()].join('\0'));
    const links = Buffer.from([...this.gitlinks].join('\0'));
    const rows = new Float64Array(this.rowOf.size * fields);
    let to = 0;
    for (const row of this.rowOf.values()) {
      rows.set(this.stats.subarray(row * fields, (row + 1) * fields), to);
      to += fields;
    }
    const head = Buffer.alloc(headBytes);
    head.write(magic);
    let at = magic.length + 2;
    for (const value of [this.generation, this.sinceMs, this.rowOf.size, paths.length, links.length]) {
      head.writeDoubleLE(value, at);
      at += 8;
    }
    const body = Buffer.concat([head, Buffer.from(rows.buffer), paths, links]);
    const seal = Buffer.alloc(4);
    seal.writeUInt32LE(checksum(body));
    const draft = `${indexPath(dir)}-${process.pid}`;
    writeFileSync(draft, Buffer.concat([body, seal]));
    renameSync(draft, indexPath(dir));
    this.isDirty = false;
  }

  /** undefined where there is none that can be read. */
  static load(dir: string): StatIndex | undefined {
    let bytes: Buffer;
    try {
      bytes = readFileSync(indexPath(dir));
    } catch {
      return undefined;
    }
    const end = bytes.length - 4;
    if (end < headBytes || bytes.toString('latin1', 0, magic.length) !== magic) return undefined;
    if (bytes.readUInt32LE(end) !== checksum(bytes.subarray(0, end))) return undefined;
    const at = magic.length + 2;
    const [generation, sinceMs, count, pathBytes, linkBytes] = [0, 1, 2, 3, 4].map((n) =>
      bytes.readDoubleLE(at + 8 * n),
    ) as [number, number, number, number, number];
    const rowBytes = count * fields * 8;
    if (headBytes + rowBytes + pathBytes + linkBytes !== end) return undefined;
    const textOf = (from: number, length: number): string[] =>
      length === 0 ? [] : bytes.toString('utf8', from, from + length).split('\0');
    const paths = textOf(headBytes + rowBytes, pathBytes);
    const index = new StatIndex(generation, sinceMs, textOf(headBytes + rowBytes + pathBytes, linkBytes), 0);
    index.stats = new Float64Array(Uint8Array.from(bytes.subarray(headBytes, headBytes + rowBytes)).buffer);
    for (const path of paths) index.rowOf.set(path, index.count++);
    if (index.stats.length === 0) index.stats = new Float64Array(64 * fields);
    return index;
  }
}

/** The time that the file system of a workspace's directory gives to what is written now. */
export function fileSystemClockMs(dir: string): number {
  const path = join(dir, storeDirName, `clock-${process.pid}`);
  writeFileSync(path, '');
  const { mtimeMs } = lstatSync(path);
  rmSync(path, { force: true });
  return mtimeMs;
}
