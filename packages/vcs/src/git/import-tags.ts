import type { Repo } from '../repo/api.ts';
import { parseTagTarget, plainTagTarget, plainTagValue } from './tag-object.ts';
import type { GitRef } from './git-refs.ts';
import { getRecord, isRecordKey, putRecords, tagKey } from './git-records.ts';
import type { Flagged } from './flagged.ts';
import { keepObjects } from './kept-objects.ts';
import { isGitObjectType } from './object-id.ts';
import { malformedOf } from './malformed.ts';
import { ObjectReader, type GitObject } from './object-reader.ts';

export const tagPrefix = 'refs/tags/';

/**
 * Lands tags: each as a tag of its commit, an annotated one also as its raw
 * object, one of no commit with all that it leads to. Answers the names of those that have no place here.
 */
export async function importTags(
  repo: Pick<Repo, 'gitMarks' | 'land' | 'snapshot' | 'tag' | 'tags'>,
  gitDir: string,
  refs: readonly GitRef[],
  malformed: Flagged,
): Promise<string[]> {
  const skipped: string[] = [];
  const known = new Map(repo.tags().map(({ name, seq }) => [name, Number(seq)]));
  const records = new Map<string, Uint8Array | string | null>();
  const kept: string[] = [];
  const moves: { readonly name: string; readonly seq: number }[] = [];
  const reader = new ObjectReader(gitDir);
  const note = (object: GitObject): void => {
    for (const [key, text] of malformed.note(object.id, malformedOf([object]))) records.set(key, text);
  };
  try {
    for (const ref of refs) {
      const name = ref.name.slice(tagPrefix.length);
      // A chain of tags that git cannot read to its end cannot be given back as a ref either.
      if (!ref.isText || !isRecordKey(tagKey(name)) || !isGitObjectType(ref.peeledType)) {
        skipped.push(ref.name);
        continue;
      }
      const value = await valueOf(reader, ref);
      // A record is put last: what it leads to is here.
      if (value === null || getRecord(repo, tagKey(name))?.equals(Buffer.from(value)) !== true) {
        records.set(tagKey(name), value);
        if (value !== null) kept.push(...targetsOf(Buffer.from(value)));
        if (ref.type === 'tag') note({ id: ref.id, type: 'tag', content: Buffer.from(value ?? '') });
      }
      const seq = ref.peeledType === 'commit' ? repo.gitMarks.seqOf(ref.peeledId) : undefined;
      if (seq !== undefined && known.get(name) !== seq) moves.push({ name, seq });
    }
    await keepObjects(repo, reader, kept, note);
  } finally {
    await reader.close();
  }
  await putRecords(repo, records);
  await Promise.all(moves.map(({ name, seq }) => repo.tag(name, seq)));
  return skipped;
}

/** The record of a tag: none of a plain one of a commit, which is a tag here, too. */
async function valueOf(reader: ObjectReader, ref: GitRef): Promise<Buffer | string | null> {
  if (ref.type === 'tag') return reader.content(ref.id, 'tag');
  return ref.type === 'commit' ? null : plainTagValue(ref.type, ref.id);
}

/** What a record leads to, but a commit. */
function targetsOf(value: Buffer): string[] {
  const plain = plainTagTarget(value);
  if (plain !== undefined) return [plain];
  const target = parseTagTarget(value);
  return target === undefined || target.type === 'commit' ? [] : [target.id];
}
