import type { BlobId, RepoPath } from '../core/ids.ts';
import type { Author } from '../core/intent.ts';
import type { Mode } from '../core/mode.ts';
import { writeAuthor } from '../format/author.ts';
import { ByteWriter } from '../format/bytes.ts';
import { blobIdOf, digest } from '../format/hash.ts';
import { modeNumberOf } from '../format/mode-number.ts';
import type { AdmittedIntent, Edit } from '../intent/edit.ts';

/** What a commit says: of itself, and of the tree. */
export interface CommitBody {
  readonly author: Author;
  readonly message: string;
  readonly rationale: string | undefined;
  readonly task: string | undefined;
  readonly breakage: string | undefined;
}

interface BodyChange {
  readonly path: RepoPath;
  /** undefined: deleted. */
  readonly target: { readonly mode: Mode; readonly blob: BlobId } | undefined;
}

const bodyContext = Buffer.from('mound commit body 1\0');
const askedContext = Buffer.from('mound intent 1\0');
const writer = new ByteWriter();

function writeBody(body: CommitBody): void {
  writeAuthor(writer, body.author);
  writer.text(body.message).optional(body.rationale).optional(body.task).optional(body.breakage);
}

/**
 * Digest over everything that a commit says but its parents and time. `gitRaw`
 * is the raw commit object where it was imported: two git commits may differ in
 * nothing else.
 */
export function digestCommitBody(
  body: CommitBody,
  changes: readonly BodyChange[],
  gitRaw: Uint8Array | undefined,
): Buffer {
  const git = gitRaw === undefined ? undefined : digest(gitRaw);
  writer.begin().raw(bodyContext);
  writeBody(body);
  writer.varint(changes.length);
  for (const { path, target } of changes) {
    writer.text(path).byte(modeNumberOf(target?.mode));
    if (target !== undefined) writer.hex(target.blob);
  }
  writer.byte(git === undefined ? 0 : 1);
  if (git !== undefined) writer.raw(git);
  return digest(writer.written());
}

const askedBytes = 8;

const editNumbers: Readonly<Record<Edit['kind'], number>> = { put: 1, delete: 2, chmod: 3 };

/**
 * Eight bytes that tell whether two intents with one operation id ask for the
 * same. A function of the intent alone, whatever the store holds by now, so that
 * a retry is recognised however much has changed since.
 */
export function digestAsked(intent: AdmittedIntent): Buffer {
  for (const edit of intent.edits) if (edit.kind === 'put') blobOf(edit);
  writer.begin().raw(askedContext).text(intent.branch);
  writeBody(intent);
  writer.varint(intent.edits.length);
  for (const edit of intent.edits) {
    writer.byte(editNumbers[edit.kind]).text(edit.path);
    if (edit.kind === 'delete') writer.optional(edit.movedTo);
    else writer.byte(modeNumberOf(edit.mode));
    if (edit.kind === 'put') writer.optional(edit.blob).optional(edit.movedFrom);
  }
  writer.varint(intent.records.length);
  for (const { key, value, objects } of intent.records) {
    writer.text(key).byte((value === null ? 0 : 1) | (objects.length === 0 ? 0 : 2));
    if (value !== null) writer.sized(value);
    if (objects.length > 0) writer.text(objects.join(' '));
  }
  if (intent.replaces > 0) writer.varint(intent.replaces);
  // Cut off with a copy: a part of the digest would keep memory of its own for all of it.
  return digest(writer.written(), askedBytes);
}

/** Id of an edit's content, hashed when it is first asked for. */
export function blobOf(edit: Edit & { kind: 'put' }): BlobId | undefined {
  if (edit.blob === undefined && edit.content !== undefined) edit.blob = blobIdOf(edit.content);
  return edit.blob;
}
