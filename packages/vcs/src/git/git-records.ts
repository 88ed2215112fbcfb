import { MoundError } from '../core/errors.ts';
import { any, type Author, type RecordWrite } from '../core/intent.ts';
import { limits } from '../core/limits.ts';
import type { Repo } from '../repo/api.ts';
import { isGitObjectType, type GitObjectType } from './object-id.ts';

/**
 * What a git repository holds beyond commits, kept as records of `main`:
 * the name of HEAD's branch, the checkout that it stands in, the ids at which branches were imported, the odd
 * paths and malformed objects that commits brought, and raw objects that cannot be computed again
 * (annotated tags, odd trees).
 */
export const headKey = 'git/head';
/** Of a repository in a git checkout: the full name of git's ref for `main`. */
export const colocationKey = 'git/colocated';
export const branchKey = (name: string): string => `git/branch/${name}`;
export const tagKey = (name: string): string => `git/tag/${name}`;
export const flaggedKey = (gitId: string): string => `git/flagged/${gitId}`;
export const malformedKey = (gitId: string): string => `git/malformed/${gitId}`;
export const objectKey = (id: string): string => `git/object/${id}`;

/** The writer of these records. */
const importer: Author = { name: 'git import', kind: 'system' };

export const isRecordKey = (key: string): boolean => Buffer.byteLength(key) <= limits.recordKeyBytesMax;

type RecordReadRepo = Pick<Repo, 'snapshot'>;

export function getRecord(repo: RecordReadRepo, key: string): Buffer | undefined {
  const snapshot = repo.snapshot();
  const first = snapshot.record(key)?.value;
  if (!first || first.byteLength < limits.recordValueBytesMax) return first;
  // A value of the full length goes on in the next part.
  const parts = [first];
  for (let part = 1; ; part++) {
    const more = snapshot.record(`${key}#${part}`)?.value;
    if (!more) return Buffer.concat(parts);
    parts.push(more);
  }
}

export const getTextRecord = (repo: RecordReadRepo, key: string): string | undefined =>
  getRecord(repo, key)?.toString('utf8');

/** Lands those that are not so already (null: absent), as one intent or, past the bound, several. */
export async function putRecords(
  repo: Pick<Repo, 'land' | 'snapshot'>,
  values: ReadonlyMap<string, Uint8Array | string | null>,
): Promise<void> {
  const writes: RecordWrite[] = [];
  for (const [key, value] of values) {
    if (value === null) {
      if (getRecord(repo, key)) writes.push({ key, expect: any, value: null });
      continue;
    }
    const bytes = typeof value === 'string' ? Buffer.from(value) : Buffer.from(value);
    if (getRecord(repo, key)?.equals(bytes)) continue;
    const size = limits.recordValueBytesMax;
    for (let part = 0; part * size <= bytes.length; part++) {
      const piece = bytes.subarray(part * size, (part + 1) * size);
      writes.push({ key: part === 0 ? key : `${key}#${part}`, expect: any, value: piece });
    }
  }
  for (let start = 0; start < writes.length; start += limits.recordsPerIntentMax) {
    const records = writes.slice(start, start + limits.recordsPerIntentMax);
    const outcome = await repo.land({ author: importer, message: 'git import: records', records });
    if (outcome.kind === 'landed' || outcome.kind === 'unchanged') continue;
    const said = outcome.kind === 'rejected' ? outcome.message : outcome.kind;
    throw new MoundError('invalid-argument', `the records of a git import were not taken: ${said}`, {
      outcome: outcome.kind,
    });
  }
}

export interface KeptObject {
  readonly type: GitObjectType;
  readonly content: Buffer;
}

/** A raw object as a record's value. */
export const keptObjectValue = (type: GitObjectType, content: Uint8Array): Buffer =>
  Buffer.concat([Buffer.from(`${type}\n`), content]);

export function getKeptObject(repo: RecordReadRepo, id: string): KeptObject | undefined {
  const value = getRecord(repo, objectKey(id));
  if (!value) return undefined;
  const end = value.indexOf('\n');
  const type = value.toString('latin1', 0, end);
  return isGitObjectType(type) ? { type, content: value.subarray(end + 1) } : undefined;
}
