import { detectRenames, type RenameFile } from '../merge/index.ts';
import type { TreeChange } from './tree-diff.ts';

/** Files whose contents one commit has compared at most; beyond it only equal ones are found. */
const comparedFilesMax = 500;
/** A file without a byte has nothing in common with another. */
const emptyBlobId = 'e69de29bb2d1d6434b8b29ae775ad8c2e48c5391';

const keyOf = ({ path }: TreeChange): string => path.toString('latin1');

/**
 * Which of the files that a commit takes away became which of those that it
 * brings, by the path of the latter (as latin1). Contents are read only where
 * the ids leave something open.
 */
export async function renamesOf(
  changes: readonly TreeChange[],
  contentOf: (id: string) => Promise<Buffer>,
): Promise<ReadonlyMap<string, TreeChange>> {
  const gone = changes.filter(({ id }) => id === undefined);
  const come = changes.filter(({ id, oldId }) => id !== undefined && oldId === undefined);
  const byKey = new Map(gone.map((change) => [keyOf(change), change]));
  const found = new Map<string, TreeChange>();
  const take = (sources: readonly RenameFile[], destinations: readonly RenameFile[], similarityMin: number): void => {
    for (const { from, to } of detectRenames(sources, destinations, { similarityMin })) {
      const source = byKey.get(from);
      if (source !== undefined) found.set(to, source);
    }
  };
  if (gone.length === 0 || come.length === 0) return found;
  take(gone.map(fileById), come.map(fileById), 100);
  const moved = new Set(found.values());
  const [left, open] = [
    gone.filter((change) => !moved.has(change) && isRegular(change)),
    come.filter((change) => !found.has(keyOf(change)) && isRegular(change)),
  ];
  if (left.length === 0 || open.length === 0 || left.length + open.length > comparedFilesMax) return found;
  const withContent = async (change: TreeChange): Promise<RenameFile> => {
    const content = await contentOf(idOf(change));
    return { ...fileById(change), size: content.length, read: () => content };
  };
  const [sources, destinations] = await Promise.all([
    Promise.all(left.map(withContent)),
    Promise.all(open.map(withContent)),
  ]);
  take(sources, destinations, 50);
  return found;
}

const idOf = ({ id, oldId }: TreeChange): string => id ?? oldId ?? '';
const modeOf = ({ mode, oldMode }: TreeChange): RenameFile['mode'] => mode ?? oldMode ?? 'file';
const isRegular = (change: TreeChange): boolean => ['file', 'executable'].includes(modeOf(change));

/** Known by its id alone; its size matters only where it is none. */
function fileById(change: TreeChange): RenameFile {
  const blob = idOf(change);
  return { path: keyOf(change), mode: modeOf(change), blob, size: blob === emptyBlobId ? 0 : 1, read: noContent };
}

const noContent = (): Uint8Array => new Uint8Array();
