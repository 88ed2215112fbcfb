import { isGitObjectType, type GitObjectType } from './object-id.ts';

/** What a raw annotated tag names. */
export function parseTagTarget(raw: Uint8Array): { readonly id: string; readonly type: GitObjectType } | undefined {
  const start = Buffer.from(raw.buffer, raw.byteOffset, Math.min(raw.byteLength, 128)).toString('latin1');
  const match = /^object ([0-9a-f]{40})\ntype ([a-z]+)\n/.exec(start);
  const [, id = '', type = ''] = match ?? [];
  return isGitObjectType(type) ? { id, type } : undefined;
}
