import type { BlobId, RepoPath } from '../core/ids.ts';
import type { Author } from '../core/intent.ts';
import type { Mode } from '../core/mode.ts';
import { bytesOfPath } from '../core/path.ts';
import { authorTuple } from '../format/author.ts';
import { pack } from '../format/codec.ts';
import { modeNumberOf } from '../format/entry-codec.ts';
import { blobIdOf, bodyDigestOf, digest } from '../format/hash.ts';
import type { AdmittedIntent } from '../intent/edit.ts';

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

/**
 * Eight bytes that tell whether two intents with one operation id ask for the
 * same. A function of the intent alone, whatever the store holds by now, so that
 * a retry is recognised however much has changed since. `ids` takes up the
 * BlobIds of the contents, which are hashed here first.
 */
export function digestAsked(intent: AdmittedIntent, ids: Map<Buffer, BlobId>): Buffer {
  const edits = intent.edits.map((edit) => {
    if (edit.kind === 'delete') return [edit.kind, edit.path, edit.movedTo];
    if (edit.kind === 'chmod') return [edit.kind, edit.path, edit.mode];
    const blob = edit.content && idOf(edit.content, ids);
    return [edit.kind, edit.path, blob, edit.mode, edit.movedFrom];
  });
  const records = intent.records.map((record) => [record.key, record.value?.toString('base64')]);
  const { name, kind, email, agent, role, model } = intent.author;
  const { branch, message, rationale, task, breakage } = intent;
  const asked = [branch, [name, kind, email, agent, role, model], message, rationale, task, breakage, edits, records];
  // JSON of an array is as canonical as it is quick; what is undefined stands as null.
  return digest(Buffer.from(JSON.stringify(asked))).subarray(0, 8);
}

function idOf(content: Buffer, ids: Map<Buffer, BlobId>): BlobId {
  const known = ids.get(content) ?? blobIdOf(content);
  ids.set(content, known);
  return known;
}
