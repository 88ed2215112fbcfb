import type { Repo } from '../repo/api.ts';
import { parseTagTarget } from './tag-object.ts';
import type { GitRef } from './git-refs.ts';
import { isRecordKey, keptObjectValue, objectKey, putRecords, tagKey } from './git-records.ts';
import { ObjectReader } from './object-reader.ts';

export const tagPrefix = 'refs/tags/';

/**
 * Lands tags: each as a tag of its commit, an annotated one also as its raw
 * object. Answers the names of those that have no place here (tags of trees).
 */
export async function importTags(
  repo: Pick<Repo, 'gitMarks' | 'land' | 'snapshot' | 'tag' | 'tags'>,
  gitDir: string,
  refs: readonly GitRef[],
): Promise<string[]> {
  const skipped: string[] = [];
  const known = new Map(repo.tags().map(({ name, seq }) => [name, Number(seq)]));
  const records = new Map<string, Uint8Array | null>();
  const moves: { readonly name: string; readonly seq: number }[] = [];
  const reader = new ObjectReader(gitDir);
  try {
    for (const ref of refs) {
      const name = ref.name.slice(tagPrefix.length);
      const isKept = ref.peeledType === 'commit' || (ref.type === 'tag' && ref.peeledType === 'blob');
      if (!ref.isText || !isRecordKey(tagKey(name)) || !isKept) {
        skipped.push(ref.name);
        continue;
      }
      for (const [key, value] of await keep(reader, name, ref)) records.set(key, value);
      const seq = ref.peeledType === 'commit' ? repo.gitMarks.seqOf(ref.peeledId) : undefined;
      if (seq !== undefined && known.get(name) !== seq) moves.push({ name, seq });
    }
  } finally {
    await reader.close();
  }
  await putRecords(repo, records);
  await Promise.all(moves.map(({ name, seq }) => repo.tag(name, seq)));
  return skipped;
}

/** The records of a tag: its object under its name, and what lies between it and the commit. */
async function keep(reader: ObjectReader, name: string, ref: GitRef): Promise<Map<string, Uint8Array | null>> {
  if (ref.type !== 'tag') return new Map([[tagKey(name), null]]);
  const raw = await reader.content(ref.id, 'tag');
  const records = new Map<string, Uint8Array | null>([[tagKey(name), raw]]);
  for (let target = parseTagTarget(raw); target && target.type !== 'commit';) {
    const { id, type, content } = await reader.read(target.id);
    records.set(objectKey(id), keptObjectValue(type, content));
    target = type === 'tag' ? parseTagTarget(content) : undefined;
  }
  return records;
}
