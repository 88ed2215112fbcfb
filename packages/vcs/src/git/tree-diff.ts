import { pathOfBytes } from '../core/path.ts';
import type { Mode } from '../core/mode.ts';
import type { ObjectReader } from './object-reader.ts';
import { TreeCache } from './tree-cache.ts';
import { isDirectory, modeOfNumber, splitEntries, type ParsedTree, type TreeEntry } from './tree-object.ts';

/** A path that differs between two trees. */
export interface TreeChange {
  readonly path: Buffer;
  /** Undefined where the path is gone. */
  readonly mode: Mode | undefined;
  readonly id: string | undefined;
  /** Undefined where there was no file before. */
  readonly oldId: string | undefined;
  /** Of a file that is gone. */
  readonly oldMode?: Mode | undefined;
}

/**
 * What changed from one tree to another, deletes before puts, each in the order
 * of the trees. Only subtrees whose ids differ are read. A change between two
 * modes that Mound takes for one (100664, 100644) is none.
 */
export async function diffTrees(
  trees: TreeCache,
  from: string | undefined,
  to: string | undefined,
): Promise<TreeChange[]> {
  const deletes: TreeChange[] = [];
  const puts: TreeChange[] = [];
  for (const change of await diffDirectories(trees, '', from, to)) {
    if (change.id === undefined) deletes.push(change);
    else puts.push(change);
  }
  return [...deletes, ...puts];
}

async function diffDirectories(
  trees: TreeCache,
  prefix: string,
  from: string | undefined,
  to: string | undefined,
): Promise<TreeChange[]> {
  if (from === to) return [];
  const [before, after] = await Promise.all([trees.get(from), trees.get(to)]);
  const middle = differing(placedOf(before), placedOf(after));
  const old = new Map(middle.before.map((entry) => [entry.name, entry]));
  // Subtrees are read at once and taken in order.
  const pieces: Promise<TreeChange[]>[] = [];
  for (const entry of middle.after) {
    const previous = old.get(entry.name);
    old.delete(entry.name);
    if (previous?.id === entry.id && previous.mode === entry.mode) continue;
    pieces.push(diffEntry(trees, prefix + entry.name, previous, entry));
  }
  for (const previous of old.values()) pieces.push(diffEntry(trees, prefix + previous.name, previous, undefined));
  const [only] = pieces;
  return only !== undefined && pieces.length === 1 ? only : (await Promise.all(pieces)).flat();
}

/** Without the entries that both begin and end with: mostly one of many changed. */
function differing(
  before: readonly TreeEntry[],
  after: readonly TreeEntry[],
): { readonly before: readonly TreeEntry[]; readonly after: readonly TreeEntry[] } {
  const shorter = Math.min(before.length, after.length);
  let start = 0;
  while (start < shorter && isSameEntry(before[start], after[start])) start++;
  let end = 0;
  while (end < shorter - start && isSameEntry(before.at(-1 - end), after.at(-1 - end))) end++;
  return { before: before.slice(start, before.length - end), after: after.slice(start, after.length - end) };
}

const isSameEntry = (one: TreeEntry | undefined, other: TreeEntry | undefined): boolean =>
  one?.id === other?.id && one?.name === other?.name && one?.mode === other?.mode;

/** A canonical tree needs no second look. */
const placedOf = ({ entries, isCanonical }: ParsedTree): readonly TreeEntry[] =>
  isCanonical ? entries : splitEntries(entries).placed;

const directoryOf = (entry: TreeEntry | undefined): string | undefined =>
  entry && isDirectory(entry.mode) ? entry.id : undefined;

const fileOf = (entry: TreeEntry | undefined): TreeEntry | undefined =>
  entry && !isDirectory(entry.mode) ? entry : undefined;

async function diffEntry(
  trees: TreeCache,
  path: string,
  before: TreeEntry | undefined,
  after: TreeEntry | undefined,
): Promise<TreeChange[]> {
  const changes: TreeChange[] = [];
  const [oldFile, newFile] = [fileOf(before), fileOf(after)];
  if (newFile) {
    const mode = modeOfNumber(newFile.mode);
    const isSame = oldFile?.id === newFile.id && modeOfNumber(oldFile.mode) === mode;
    if (!isSame) changes.push({ path: pathBytes(path), mode, id: newFile.id, oldId: oldFile?.id });
  } else if (oldFile) {
    changes.push({
      path: pathBytes(path),
      mode: undefined,
      id: undefined,
      oldId: oldFile.id,
      oldMode: modeOfNumber(oldFile.mode),
    });
  }
  const [oldDirectory, newDirectory] = [directoryOf(before), directoryOf(after)];
  if (oldDirectory !== newDirectory) {
    changes.push(...(await diffDirectories(trees, `${path}/`, oldDirectory, newDirectory)));
  }
  return changes;
}

const pathBytes = (latin1: string): Buffer => Buffer.from(latin1, 'latin1');

/** {@link diffTrees} for a single pair of trees. */
export const diffCommit = (reader: ObjectReader, parentTree: string | undefined, tree: string): Promise<TreeChange[]> =>
  diffTrees(new TreeCache(reader), parentTree, tree);

/** Every file of a tree by the string form of its path. */
export async function readTreeFlat(
  reader: ObjectReader,
  tree: string,
): Promise<Map<string, { readonly mode: Mode; readonly id: string }>> {
  const files = new Map<string, { readonly mode: Mode; readonly id: string }>();
  for (const { path, mode, id } of await diffCommit(reader, undefined, tree)) {
    if (mode !== undefined && id !== undefined) files.set(pathOfBytes(path), { mode, id });
  }
  return files;
}

/** What a put lands: the blob's bytes, or a gitlink's id, which names a commit of another repository. */
export async function contentOf(reader: ObjectReader, mode: Mode, id: string): Promise<Buffer> {
  return mode === 'gitlink' ? Buffer.from(id, 'latin1') : reader.content(id, 'blob');
}
