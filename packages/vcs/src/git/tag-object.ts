import { isGitObjectType, type GitObjectType } from './object-id.ts';

/** What a raw annotated tag names. */
export function parseTagTarget(raw: Uint8Array): { readonly id: string; readonly type: GitObjectType } | undefined {
  const start = Buffer.from(raw.buffer, raw.byteOffset, Math.min(raw.byteLength, 128)).toString('latin1');
  const match = /^object ([0-9a-f]{40})\ntype ([a-z]+)\n/.exec(start);
  const [, id = '', type = ''] = match ?? [];
  return isGitObjectType(type) ? { id, type } : undefined;
}

/** What stands in the record of a plain tag of something that is no commit, in place of a tag object. */
export const plainTagValue = (type: string, id: string): string => `plain\n${type} ${id}\n`;

/** The id in such a value; undefined of a tag object. */
export const plainTagTarget = (value: Buffer): string | undefined =>
  /^plain\n[a-z]+ ([0-9a-f]{40})\n$/.exec(value.toString('latin1', 0, 128))?.[1];
