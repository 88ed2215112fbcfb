import { headerBytes, PageFile, readNumber, readTreeRoot, type Meta, type TreeRoot } from './page-file.ts';
import { isTableName } from './tables.ts';

/** Damage in the pages beneath the tables. */
export interface PageFault {
  readonly page: number;
  /** Table whose page it is; `free pages` and `tables` are LMDB's own. */
  readonly table: string;
  readonly message: string;
}

export interface FreePages {
  readonly txn: number;
  readonly pages: readonly number[];
}

export interface PageReport {
  readonly faults: readonly PageFault[];
  /** Pages in use or free. */
  readonly pages: number;
  /** Nobody wrote a newer state meanwhile: what looks damaged is. */
  readonly isSettled: boolean;
}

const branchFlag = 1;
const leafFlag = 2;
const overflowFlag = 4;
const bigData = 1;
const subData = 2;
const nodeBytes = 8;
const treeRootBytes = 48;
const overflowBytes = 24;
const depthMax = 32;
/** Listed; more are mostly the same damage again. */
const faultsMax = 100;
/** LMDB's own flags of a tree: the free list has integer keys; no table has duplicates. */
const integerKey = 0x08;

class Damage extends Error {}

interface Node {
  readonly key: Buffer;
  readonly flags: number;
  /** Child page of a branch node. */
  readonly child: number;
  /** Value of a leaf node, or what stands for it where it is on pages of its own. */
  readonly value: Buffer;
  readonly valueBytes: number;
}

type Compare = (a: Buffer, b: Buffer) => number;
const byBytes: Compare = (a, b) => a.compare(b);
const byNumber: Compare = (a, b) => Number(a.readBigUInt64LE(0) - b.readBigUInt64LE(0));

interface Tally {
  branchPages: number;
  leafPages: number;
  overflowPages: number;
  entries: number;
}

/** Walks every page that a state of the data file refers to and checks that each is what it must be. */
class PageWalk {
  readonly faults: PageFault[] = [];
  private readonly file: PageFile;
  private readonly meta: Meta;
  private readonly seen = new Set<number>();
  private table = 'tables';

  constructor(file: PageFile, meta: Meta) {
    this.file = file;
    this.meta = meta;
  }

  get pages(): number {
    return this.seen.size;
  }

  run(): void {
    const subTrees: { name: string; root: TreeRoot }[] = [];
    this.tree('tables', this.meta.main, byBytes, (node) => {
      if (node.flags !== subData || node.value.length !== treeRootBytes) throw new Damage('a table has no root');
      const name = node.key.toString('latin1').replace(/\0$/, '');
      if (!isTableName(name)) throw new Damage(`there is no table named ${JSON.stringify(name)}`);
      subTrees.push({ name, root: readTreeRoot(node.value, 0) });
    });
    for (const { name, root } of subTrees) {
      this.tree(name, root, byBytes, (node) => {
        if ((node.flags & ~bigData) !== 0) throw new Damage('a row has flags that no row has');
      });
    }
    this.free();
  }

  /** Pages that are free, by the transaction that freed them. */
  free(): FreePages[] {
    const rows: { page: number; txn: number; list: Buffer }[] = [];
    this.tree('free pages', this.meta.free, byNumber, (node, page) => {
      const list = node.flags === bigData ? this.overflowValue(node) : node.value;
      rows.push({ page, txn: readNumber(node.key, 0), list });
    });
    this.table = 'free pages';
    return rows.map(({ page, txn, list }) => {
      const pages: number[] = [];
      this.attempt(page, () => this.freeList(list, pages));
      return { txn, pages };
    });
  }

  private add(page: number, message: string): void {
    if (this.faults.length < faultsMax) this.faults.push({ page, table: this.table, message });
  }

  private attempt(page: number, check: () => void): void {
    try {
      check();
    } catch (error) {
      if (!(error instanceof Damage || error instanceof RangeError)) throw error;
      this.add(page, error.message);
    }
  }

  private tree(name: string, root: TreeRoot, compare: Compare, leaf: (node: Node, page: number) => void): void {
    this.table = name;
    const tally: Tally = { branchPages: 0, leafPages: 0, overflowPages: 0, entries: 0 };
    const isFree = name === 'free pages';
    this.attempt(root.root ?? this.meta.page, () => {
      if (root.root === undefined) {
        if (root.depth !== 0 || root.entries !== 0) throw new Damage('an empty tree has rows');
        return;
      }
      if (root.depth < 1 || root.depth > depthMax) throw new Damage(`its depth is ${root.depth}`);
      if (root.flags !== (isFree ? integerKey : 0)) throw new Damage('its flags are wrong');
      this.page(root.root, root.depth, compare, { low: undefined, high: undefined }, tally, leaf);
      const isAsSaid =
        tally.branchPages === root.branchPages &&
        tally.leafPages === root.leafPages &&
        tally.overflowPages === root.overflowPages &&
        tally.entries === root.entries;
      if (!isAsSaid) {
        throw new Damage(
          `it has ${tally.entries} rows, ${tally.leafPages} leaves; its root says ${root.entries}, ${root.leafPages}`,
        );
      }
    });
  }

  /** Takes a page that nothing else refers to. */
  private take(page: number, count = 1): void {
    for (let at = page; at < page + count; at++) {
      if (at < 2 || at > this.meta.lastPage)
        throw new Damage(`page ${at} is beyond the file's last, ${this.meta.lastPage}`);
      if (this.seen.has(at)) throw new Damage(`page ${at} is referred to twice`);
      this.seen.add(at);
    }
  }

  private page(
    number: number,
    depth: number,
    compare: Compare,
    bounds: { readonly low: Buffer | undefined; readonly high: Buffer | undefined },
    tally: Tally,
    leaf: (node: Node, page: number) => void,
  ): void {
    this.attempt(number, () => {
      this.take(number);
      const bytes = this.file.read(number);
      if (readNumber(bytes, 0) !== number) throw new Damage('it has another page number');
      if (readNumber(bytes, 8) > this.meta.txn) throw new Damage('it is of a transaction that never was');
      const isLeaf = depth === 1;
      if (bytes.readUInt16LE(18) !== (isLeaf ? leafFlag : branchFlag)) throw new Damage('it has the wrong kind');
      const nodes = this.nodes(bytes, isLeaf);
      for (const [at, { key }] of nodes.entries()) {
        const before = at === 0 ? bounds.low : nodes[at - 1]?.key;
        // The first key of a branch stands for all that is less: it is not looked at.
        if (!isLeaf && at === 0) continue;
        const isFirst = before === undefined || before.length === 0;
        const order = isFirst ? -1 : compare(before, key);
        const isOrdered = order < 0 || (order === 0 && at === 0);
        if (!isOrdered) throw new Damage('its keys are out of order');
        if (bounds.high !== undefined && compare(key, bounds.high) >= 0) throw new Damage('a key is beyond its branch');
      }
      if (isLeaf) {
        tally.leafPages++;
        tally.entries += nodes.length;
        for (const node of nodes) this.attempt(number, () => this.leafNode(node, number, tally, leaf));
        return;
      }
      tally.branchPages++;
      if (nodes.length < 2) throw new Damage('a branch has fewer than two children');
      for (const [at, node] of nodes.entries()) {
        const low = at === 0 ? bounds.low : node.key;
        const high = nodes[at + 1]?.key ?? bounds.high;
        this.page(node.child, depth - 1, compare, { low, high }, tally, leaf);
      }
    });
  }

  private leafNode(node: Node, page: number, tally: Tally, leaf: (node: Node, page: number) => void): void {
    if ((node.flags & bigData) !== 0) {
      const first = readNumber(node.value, 0);
      const count = readNumber(node.value, 16);
      if (count !== Math.ceil((headerBytes + node.valueBytes) / this.file.pageBytes)) {
        throw new Damage('a long value has the wrong number of pages');
      }
      this.take(first, count);
      tally.overflowPages += count;
      const bytes = this.file.read(first);
      const isOverflow =
        readNumber(bytes, 0) === first &&
        bytes.readUInt16LE(18) === overflowFlag &&
        bytes.readUInt32LE(20) === count &&
        readNumber(bytes, 8) <= this.meta.txn;
      if (!isOverflow) throw new Damage(`page ${first} is not the long value that a row refers to`);
    }
    leaf(node, page);
  }

  private overflowValue({ value, valueBytes }: Node): Buffer {
    const bytes = this.file.read(readNumber(value, 0), readNumber(value, 16));
    return bytes.subarray(headerBytes, headerBytes + valueBytes);
  }

  /** The nodes of a page, which fill it from `upper` to its end without gaps or overlaps. */
  private nodes(bytes: Buffer, isLeaf: boolean): Node[] {
    const lower = bytes.readUInt16LE(20);
    const upper = bytes.readUInt16LE(22);
    const end = this.file.pageBytes - headerBytes;
    if (lower % 2 !== 0 || lower > upper || upper > end) throw new Damage('its bounds are wrong');
    const nodes: Node[] = [];
    const extents: [number, number][] = [];
    for (let at = 0; at < lower; at += 2) {
      const start = bytes.readUInt16LE(headerBytes + at);
      if (start < upper || start % 2 !== 0 || start + nodeBytes > end) throw new Damage('a row stands outside of it');
      const node = headerBytes + start;
      const low = bytes.readUInt16LE(node) + bytes.readUInt16LE(node + 2) * 65536;
      const flags = bytes.readUInt16LE(node + 4);
      const keyBytes = bytes.readUInt16LE(node + 6);
      const keyEnd = node + nodeBytes + keyBytes;
      const held = isLeaf ? ((flags & bigData) !== 0 ? overflowBytes : low) : 0;
      const length = nodeBytes + keyBytes + held;
      if (start + length > end) throw new Damage('a row is longer than its page');
      extents.push([start, start + length + (length % 2)]);
      nodes.push({
        key: bytes.subarray(node + nodeBytes, keyEnd),
        flags: isLeaf ? flags : 0,
        child: low + flags * 2 ** 32,
        value: bytes.subarray(keyEnd, keyEnd + held),
        valueBytes: low,
      });
    }
    let filled = upper;
    for (const [from, to] of extents.toSorted(([a], [b]) => a - b)) {
      if (from !== filled) throw new Damage('its rows overlap or leave a gap');
      filled = to;
    }
    if (filled !== end) throw new Damage('its rows do not fill it');
    return nodes;
  }

  /** A list of free pages: a count, then pages, zeros, and runs as a negative length and the first page. */
  private freeList(list: Buffer, pages: number[]): void {
    const values = list.length / 8 - 1;
    const count = list.length < 8 ? Number.NaN : readNumber(list, 0);
    if (!Number.isInteger(values) || !(count <= values))
      throw new Damage('a list of free pages is longer than its row');
    for (let at = 1; at <= count; at++) {
      const value = list.readBigInt64LE(at * 8);
      if (value === 0n) continue;
      const run = value < 0n ? -value : 1n;
      if (value < 0n) at++;
      if (at > count || run > BigInt(this.meta.lastPage)) throw new Damage('a run of free pages is damaged');
      const first = readNumber(list, at * 8);
      this.take(first, Number(run));
      for (let page = first; page < first + Number(run); page++) pages.push(page);
    }
  }
}

/** LMDB writes its metas in turn: their transactions differ by one and tell their places. */
function faultOfMetas(first: Meta, second: Meta): string | undefined {
  const isFresh = first.txn === 0 && second.txn === 0;
  const isInTurn = first.txn % 2 === 0 && second.txn % 2 === 1 && Math.abs(first.txn - second.txn) === 1;
  return isFresh || isInTurn ? undefined : `its two states are of transactions ${first.txn} and ${second.txn}`;
}

function newestMeta(file: PageFile): Meta | PageFault {
  const fault = (page: number, message: string): PageFault => ({ page, table: 'tables', message });
  if (file.pageBytes === 0) return fault(0, 'it does not begin like a store');
  const first = file.meta(0);
  const second = file.meta(1);
  if (typeof first === 'string') return fault(0, first);
  if (typeof second === 'string') return fault(1, second);
  const inTurn = faultOfMetas(first, second);
  if (inTurn !== undefined) return fault(0, inTurn);
  for (const { page, free, main } of [first, second]) {
    if (free.flags !== integerKey || main.flags !== 0) return fault(page, 'the flags of its trees are wrong');
  }
  // The pages of a state before the newest are not written to yet: a root that is newer tells of a false transaction.
  for (const { page, txn, free, main } of [first, second]) {
    for (const { root } of [free, main]) {
      if (root === undefined) continue;
      const bytes = file.read(root);
      if (readNumber(bytes, 0) !== root || readNumber(bytes, 8) > txn)
        return fault(page, 'a root is newer than its state');
    }
  }
  const newest = first.txn > second.txn ? first : second;
  if ((newest.lastPage + 1) * file.pageBytes > newest.mapBytes)
    return fault(newest.page, 'its size of the map is wrong');
  return newest;
}

/**
 * Pages that are free in the newest state, by the transaction that freed them.
 * To be called where nobody else writes. Nothing where the file is damaged.
 */
export function freePagesOf(path: string): readonly FreePages[] {
  const file = new PageFile(path);
  try {
    const meta = newestMeta(file);
    if ('message' in meta) return [];
    const walk = new PageWalk(file, meta);
    const free = walk.free();
    return walk.faults.length === 0 ? free : [];
  } finally {
    file.close();
  }
}

/** How often a check begins anew because a writer has written a newer state meanwhile. */
const triesMax = 5;

/**
 * Checks the pages of LMDB's data file without mapping it. `isPinned`: the
 * caller holds a read transaction, so no page of a state at or after it is
 * written to; else a check that found faults while another process wrote is made again.
 */
export function checkPages(path: string, isPinned: boolean): PageReport {
  const file = new PageFile(path);
  try {
    for (let attempt = 1; ; attempt++) {
      const meta = newestMeta(file);
      const again = newestMeta(file);
      // Read while it was being written.
      if (JSON.stringify(meta) !== JSON.stringify(again) && attempt < triesMax) continue;
      if ('message' in meta) return { faults: [meta], pages: 0, isSettled: true };
      const walk = new PageWalk(file, meta);
      walk.run();
      const after = newestMeta(file);
      const hasMoved = 'message' in after || after.txn !== meta.txn;
      if (walk.faults.length === 0 || isPinned || !hasMoved || attempt >= triesMax) {
        return { faults: walk.faults, pages: walk.pages, isSettled: !hasMoved };
      }
    }
  } finally {
    file.close();
  }
}
