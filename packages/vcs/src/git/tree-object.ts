import { MoundError } from '../core/errors.ts';
import type { Mode } from '../core/mode.ts';

export interface TreeEntry {
  /** As git writes it, a directory is 0o40000. */
  readonly mode: number;
  /** The raw name, one char a byte (latin1). */
  readonly name: string;
  /** 40 hex digits. */
  readonly id: string;
}

export interface ParsedTree {
  readonly entries: readonly TreeEntry[];
  /**
   * True where writing the entries again, with the modes that Mound knows, gives
   * the same bytes. False for odd modes (100664), padded modes, wrong order, twins.
   */
  readonly isCanonical: boolean;
}

export const directoryMode = 0o40000;
const modeNumbers: Readonly<Record<Mode, number>> = {
  file: 0o100644,
  executable: 0o100755,
  symlink: 0o120000,
  gitlink: 0o160000,
};
const canonicalModes: ReadonlySet<number> = new Set([directoryMode, ...Object.values(modeNumbers)]);

export const modeNumberOf = (mode: Mode): number => modeNumbers[mode];
export const isGitlink = (mode: number): boolean => (mode & 0o170000) === modeNumbers.gitlink;
export const isDirectory = (mode: number): boolean => (mode & 0o170000) === directoryMode;

/** What Mound makes of a mode: git gives any regular file with the owner's x bit as executable. */
export function modeOfNumber(mode: number): Mode {
  const type = mode & 0o170000;
  if (type === 0o120000) return 'symlink';
  if (type === 0o160000) return 'gitlink';
  return (mode & 0o100) === 0 ? 'file' : 'executable';
}

/** git sorts a directory as if its name ended in a slash. */
export const sortKeyOf = ({ mode, name }: Pick<TreeEntry, 'mode' | 'name'>): string =>
  isDirectory(mode) ? `${name}/` : name;

/**
 * Which entries have a place among paths, and which have none: a name that is empty or holds a slash, and all but the
 * first of several of one name.
 */
export function splitEntries(entries: readonly TreeEntry[]): {
  readonly placed: readonly TreeEntry[];
  readonly placeless: readonly TreeEntry[];
} {
  const names = new Set<string>();
  const placeless: TreeEntry[] = [];
  const placed = entries.filter((entry) => {
    const isPlaced = entry.name !== '' && !entry.name.includes('/') && !names.has(entry.name);
    names.add(entry.name);
    if (!isPlaced) placeless.push(entry);
    return isPlaced;
  });
  return placeless.length === 0 ? { placed: entries, placeless } : { placed, placeless };
}

/** Errors: `object-damaged`. */
export function parseTree(raw: Buffer): ParsedTree {
  const entries: TreeEntry[] = [];
  let isCanonical = true;
  let previousKey = '';
  let position = 0;
  while (position < raw.length) {
    let mode = 0;
    if (raw[position] === 0x30) isCanonical = false;
    while (raw[position] !== 0x20) {
      const digit = (raw[position++] ?? 0) - 0x30;
      if (digit < 0 || digit > 7) throw damaged('a mode that is not octal');
      mode = mode * 8 + digit;
    }
    const nameStart = position + 1;
    const nameEnd = raw.indexOf(0, nameStart);
    position = nameEnd + 21;
    if (nameEnd < 0 || position > raw.length) throw damaged('an entry that is cut off');
    const name = raw.toString('latin1', nameStart, nameEnd);
    const entry = { mode, name, id: raw.toString('hex', nameEnd + 1, position) };
    const key = sortKeyOf(entry);
    if (key <= previousKey || !canonicalModes.has(mode) || name.includes('/')) isCanonical = false;
    else if (isDirectory(mode) && hasTwin(entries, name)) isCanonical = false;
    previousKey = key;
    entries.push(entry);
  }
  return { entries, isCanonical };
}

const damaged = (what: string): MoundError => new MoundError('object-damaged', `a git tree holds ${what}`);

/** A file of a directory's name stands before it, with only names between that begin the same. */
function hasTwin(entries: readonly TreeEntry[], name: string): boolean {
  for (let index = entries.length - 1; index >= 0; index--) {
    const earlier = entries[index]?.name ?? '';
    if (earlier === name) return true;
    if (!earlier.startsWith(name)) return false;
  }
  return false;
}

/** Raw bytes of a tree; the entries in any order. */
export function writeTree(entries: readonly TreeEntry[]): Buffer {
  const sorted = entries.map((entry) => ({ entry, key: sortKeyOf(entry) }));
  sorted.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
  return writeSortedTree(sorted.map(({ entry }) => entry));
}

/** The same for entries that are in git's order already. */
export function writeSortedTree(entries: readonly TreeEntry[]): Buffer {
  let size = 0;
  for (const { mode, name } of entries) size += (mode === directoryMode ? 5 : 6) + 1 + name.length + 21;
  const raw = Buffer.allocUnsafe(size);
  let position = 0;
  for (const { mode, name, id } of entries) {
    position += raw.write(`${mode.toString(8)} ${name}\0`, position, 'latin1');
    position += raw.write(id, position, 'hex');
  }
  return raw.subarray(0, position);
}
