import type { Repo } from '../repo/api.ts';
import { getKeptObject, keptObjectValue, objectKey, putRecords } from './git-records.ts';
import type { GitObject, ObjectReader } from './object-reader.ts';
import { parseTagTarget } from './tag-object.ts';
import { isGitlink, parseTree } from './tree-object.ts';

/** Bytes of objects that are held before they are put into records. */
const heldBytesMax = 16 * 1024 * 1024;

/** What an object leads to, but commits: those are landings. */
function leadsTo({ type, content }: Pick<GitObject, 'type' | 'content'>): string[] {
  if (type === 'tree') {
    const { entries } = parseTree(content);
    return entries.filter(({ mode }) => !isGitlink(mode)).map(({ id }) => id);
  }
  const target = type === 'tag' ? parseTagTarget(content) : undefined;
  return target === undefined || target.type === 'commit' ? [] : [target.id];
}

/** Objects and all that they lead to, each once. Errors: `no-such-object`. */
export async function* objectsBehind(reader: ObjectReader, ids: readonly string[]): AsyncGenerator<GitObject> {
  const seen = new Set<string>();
  const waiting = [...ids];
  for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
    if (seen.has(id)) continue;
    seen.add(id);
    const object = await reader.read(id);
    yield object;
    waiting.push(...leadsTo(object));
  }
}

/** Puts objects, and all that they lead to, into records, some at a time. Errors: `no-such-object`. */
export async function keepObjects(
  repo: Pick<Repo, 'land' | 'snapshot'>,
  reader: ObjectReader,
  ids: readonly string[],
  note: (object: GitObject) => void = () => undefined,
): Promise<void> {
  let records = new Map<string, Uint8Array>();
  let bytes = 0;
  for await (const object of objectsBehind(reader, ids)) {
    note(object);
    const { id, type, content } = object;
    records.set(objectKey(id), keptObjectValue(type, content));
    bytes += content.length;
    if (bytes < heldBytesMax) continue;
    await putRecords(repo, records);
    records = new Map();
    bytes = 0;
  }
  await putRecords(repo, records);
}

/** The same objects again, the first one first; none where one of them was never kept. */
export function keptObjects(repo: Pick<Repo, 'snapshot'>, id: string): readonly GitObject[] {
  const found = new Map<string, GitObject>();
  const waiting = [id];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (found.has(next)) continue;
    const kept = getKeptObject(repo, next);
    if (kept === undefined) return [];
    found.set(next, { id: next, ...kept });
    waiting.push(...leadsTo(kept));
  }
  return [...found.values()];
}
