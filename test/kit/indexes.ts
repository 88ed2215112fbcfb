import { LogReader } from '../../packages/vcs/src/log/log-reader.ts';
import { Store } from '../../packages/vcs/src/store/store.ts';
import { compareIndexes, type IndexFault } from '../../packages/vcs/src/views/compare-indexes.ts';
import { rebuildIndexes } from '../../packages/vcs/src/views/rebuild-indexes.ts';

/** Where the derived tables of a repository that nobody has open differ from its log. */
export async function indexFaults(dir: string): Promise<IndexFault[]> {
  const store = await Store.open(dir);
  try {
    const reader = new LogReader(store);
    return compareIndexes(reader, rebuildIndexes(reader));
  } finally {
    await store.close();
  }
}
