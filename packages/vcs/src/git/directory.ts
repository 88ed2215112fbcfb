import { gitObjectId } from './object-id.ts';
import type { ObjectReader } from './object-reader.ts';
import {
  directoryMode,
  isDirectory,
  modeNumberOf,
  modeOfNumber,
  parseTree,
  sortKeyOf,
  splitEntries,
  writeSortedTree,
  type TreeEntry,
} from './tree-object.ts';

export interface DirectoryEntry extends TreeEntry {
  /** What it is sorted by. */
  readonly key: string;
  /** Of a directory: its own entries. */
  readonly directory: Directory | undefined;
}

/** A directory as git would write it; never changed, so that branches share what they have in common. */
export interface Directory {
  readonly id: string;
  /** In git's order; undefined while they lie in git only. */
  entries: readonly DirectoryEntry[] | undefined;
}

/** A file to be put at, or deleted from, a path of one char a byte. */
export interface DirectoryEdit {
  readonly path: string;
  readonly file: { readonly mode: number; readonly id: string } | undefined;
}

/** Takes the raw bytes of each directory that an edit makes, and the id of the one that it replaces. */
export type DirectorySink = (raw: Buffer, replaced: string | undefined) => void;

export const emptyDirectory: Directory = { id: gitObjectId('tree', Buffer.alloc(0)), entries: [] };

/** What is to become of one name of a directory. */
interface NameEdit {
  file?: { readonly mode: number; readonly id: string } | 'deleted';
  readonly below: DirectoryEdit[];
}

/** A directory of which only the id is known. */
export const storedDirectory = (id: string): Directory =>
  id === emptyDirectory.id ? emptyDirectory : { id, entries: undefined };

/**
 * The directory after the edits, deletes first: a file may become a directory
 * and a directory a file in one step. Only what changes is hashed. An empty
 * directory vanishes, as it has no place among paths.
 */
export async function editDirectory(
  directory: Directory,
  edits: readonly DirectoryEdit[],
  reader: ObjectReader,
  sink: DirectorySink,
): Promise<Directory> {
  const entries = [...(directory.entries ?? (await loadEntries(directory, reader)))];
  for (const [name, edit] of groupByName(edits)) {
    const at = [name, `${name}/`].map((key) => findKey(entries, key));
    const old = at.map((index) => entries[index]).filter((entry) => entry?.name === name);
    const fresh: DirectoryEntry[] = [];
    const oldFile = old.find((entry) => entry?.directory === undefined);
    const oldDirectory = old.find((entry) => entry?.directory)?.directory;
    if (typeof edit.file === 'object') {
      fresh.push({ ...edit.file, name, key: name, directory: undefined });
    } else {
      const kept = oldDirectory ?? emptyDirectory;
      const below = edit.below.length === 0 ? kept : await editDirectory(kept, edit.below, reader, sink);
      if (oldFile && edit.file === undefined && below.id === emptyDirectory.id) fresh.push(oldFile);
      if (below.id !== emptyDirectory.id) fresh.push(entryOf(name, below));
    }
    replaceName(entries, name, fresh);
  }
  if (entries.length === 0) return emptyDirectory;
  const raw = writeSortedTree(entries);
  const id = gitObjectId('tree', raw);
  if (id === directory.id) return directory;
  sink(raw, directory.id);
  return { id, entries };
}

export const entryOf = (name: string, directory: Directory): DirectoryEntry => ({
  mode: directoryMode,
  name,
  id: directory.id,
  key: `${name}/`,
  directory,
});

/** Takes out the entries of a name and puts the new ones where their keys belong. */
function replaceName(entries: DirectoryEntry[], name: string, fresh: readonly DirectoryEntry[]): void {
  for (const key of [name, `${name}/`]) {
    const index = findKey(entries, key);
    const isThere = entries[index]?.key === key;
    const entry = fresh.find((candidate) => candidate.key === key);
    entries.splice(index, isThere ? 1 : 0, ...(entry ? [entry] : []));
  }
}

/** Where a key is, or would be. */
function findKey(entries: readonly DirectoryEntry[], key: string): number {
  let low = 0;
  let high = entries.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((entries[middle]?.key ?? '') < key) low = middle + 1;
    else high = middle;
  }
  return low;
}

function groupByName(edits: readonly DirectoryEdit[]): Map<string, NameEdit> {
  const names = new Map<string, NameEdit>();
  for (const { path, file } of edits) {
    const slash = path.indexOf('/');
    const name = slash < 0 ? path : path.slice(0, slash);
    const edit = names.get(name) ?? { below: [] };
    names.set(name, edit);
    if (slash >= 0) edit.below.push({ path: path.slice(slash + 1), file });
    // A put beats a delete of the same path, wherever it stands.
    else if (file) edit.file = file;
    else edit.file ??= 'deleted';
  }
  return names;
}

async function loadEntries(directory: Directory, reader: ObjectReader): Promise<readonly DirectoryEntry[]> {
  const { entries } = parseTree(await reader.content(directory.id, 'tree'));
  directory.entries = entries.map((entry) => directoryEntryOf(entry));
  return directory.entries;
}

function directoryEntryOf(entry: TreeEntry): DirectoryEntry {
  const directory = isDirectory(entry.mode) ? storedDirectory(entry.id) : undefined;
  return { ...entry, key: sortKeyOf(entry), directory };
}

/**
 * The directory that the flat heads give for an odd tree: known modes, no empty
 * directories. `oddTree` gives the raw bytes of a tree that is odd.
 */
export function plainDirectory(
  id: string,
  oddTree: (id: string) => Buffer | undefined,
  sink: DirectorySink,
): Directory {
  const odd = oddTree(id);
  if (!odd) return storedDirectory(id);
  const entries: DirectoryEntry[] = [];
  for (const entry of splitEntries(parseTree(odd).entries).placed) {
    if (isDirectory(entry.mode)) {
      const below = plainDirectory(entry.id, oddTree, sink);
      if (below.id !== emptyDirectory.id) entries.push(entryOf(entry.name, below));
    } else {
      entries.push(directoryEntryOf({ ...entry, mode: modeNumberOf(modeOfNumber(entry.mode)) }));
    }
  }
  if (entries.length === 0) return emptyDirectory;
  entries.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
  const raw = writeSortedTree(entries);
  sink(raw, undefined);
  return { id: gitObjectId('tree', raw), entries };
}
