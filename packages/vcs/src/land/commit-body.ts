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

const editKinds = ['put', 'delete', 'chmod'] as const;

/**
 * Eight bytes that tell whether two intents with one operation id ask for the
 * same. A function of the intent alone, whatever the store holds by now, so that
 * a retry is recognised however much has changed since. `ids` takes up the
 * BlobIds of the contents, which are hashed here first.
 */
export function digestAsked(intent: AdmittedIntent, ids: Map<Buffer, BlobId>): Buffer {
  const edits = intent.edits.map((edit) => {
    const head = [editKinds.indexOf(edit.kind), bytesOfPath(edit.path)];
    if (edit.kind === 'delete') return [...head, edit.movedTo ?? null];
    if (edit.kind === 'chmod') return [...head, modeNumberOf(edit.mode)];
    const blob = edit.content === undefined ? null : Buffer.from(idOf(edit.content, ids), 'hex');
    return [...head, blob, modeNumberOf(edit.mode), edit.movedFrom ?? null];
  });
  const records = intent.records.map((record) => [record.key, record.value]);
  const texts = [intent.message, intent.rationale ?? null, intent.task ?? null, intent.breakage ?? null];
  return digest(pack([intent.branch, authorTuple(intent.author), ...texts, edits, records])).subarray(0, 8);
}

function idOf(content: Buffer, ids: Map<Buffer, BlobId>): BlobId {
  const known = ids.get(content) ?? blobIdOf(content);
  ids.set(content, known);
  return known;
}
