import type { BlobId, RepoPath } from '../core/ids.ts';
import type { Author } from '../core/intent.ts';
import type { Mode } from '../core/mode.ts';
import { bytesOfPath } from '../core/path.ts';
import { authorTuple } from '../format/author.ts';
import { pack } from '../format/codec.ts';
import { modeNumberOf } from '../format/entry-codec.ts';
import { bodyDigestOf, digest } from '../format/hash.ts';
import type { RecordEdit } from '../intent/edit.ts';

export interface CommitBody {
  readonly author: Author;
  readonly message: string;
  readonly rationale: string | undefined;
  readonly task: string | undefined;
  readonly breakage: string | undefined;
  /** Raw commit object where it was imported: two git commits may differ in nothing else. */
  readonly gitRaw: Uint8Array | undefined;
  readonly changes: readonly {
    readonly path: RepoPath;
    readonly mode: Mode | undefined;
    readonly blob: BlobId | undefined;
  }[];
}

/** Digest over everything that a commit says but its parents and time. */
export function digestCommitBody(body: CommitBody): Buffer {
  const changes = body.changes.map(({ path, mode, blob }) => [
    bytesOfPath(path),
    modeNumberOf(mode),
    blob === undefined ? null : Buffer.from(blob, 'hex'),
  ]);
  const optional = [body.rationale ?? null, body.task ?? null, body.breakage ?? null];
  const git = body.gitRaw === undefined ? null : digest(body.gitRaw);
  return bodyDigestOf(pack([authorTuple(body.author), body.message, ...optional, changes, git]));
}

/** Eight bytes that tell whether two intents with one operation id ask for the same. */
export function askedDigest(bodyDigest: Buffer, branch: string, records: readonly RecordEdit[]): Buffer {
  if (records.length === 0 && branch === 'main') return bodyDigest.subarray(0, 8);
  const rows = records.map((record) => [record.key, record.value]);
  return digest(pack([bodyDigest, branch, rows])).subarray(0, 8);
}
