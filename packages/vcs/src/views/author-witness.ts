import { decodeAuthor } from '../format/author.ts';
import type { LandingEntry } from '../format/entry.ts';
import { commitIdOf } from '../format/hash.ts';
import { digestCommitBody } from '../land/commit-body.ts';
import type { LogReader } from '../log/log-reader.ts';
import type { Author } from '../core/intent.ts';

/** A landing's commit id as it follows from its entry, its parents and an author; undefined where a parent has none. */
export function commitIdFrom(reader: LogReader, entry: LandingEntry, author: Author): string | undefined {
  const parents = entry.parents.map((seq) => reader.landing(seq).commit);
  if (parents.includes(undefined)) return undefined;
  const changes = entry.changes.map(({ pathId, mode, blob }) => ({
    path: reader.pathOf(pathId),
    target: mode === undefined || blob === undefined ? undefined : { mode, blob },
  }));
  const body = digestCommitBody({ ...entry, author }, changes, entry.gitRaw);
  return commitIdOf(
    parents.flatMap((parent) => parent ?? []),
    entry.time,
    body,
  );
}

/** Whether an author's packed name is the one that his first commit was made with; undefined where he made none. */
export function isAuthorOf(reader: LogReader, authorId: number, packed: Uint8Array): boolean | undefined {
  for (let seq = 1; ; seq++) {
    const entry = reader.getEntry(seq);
    if (entry === undefined) return undefined;
    if (entry.kind !== 'landing' || entry.authorId !== authorId || entry.commit === undefined) continue;
    try {
      return commitIdFrom(reader, entry, decodeAuthor(packed)) === entry.commit;
    } catch {
      return false;
    }
  }
}
