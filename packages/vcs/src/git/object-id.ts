import { createHash } from 'node:crypto';

export type GitObjectType = 'commit' | 'tree' | 'blob' | 'tag';

export const isGitObjectType = (text: string): text is GitObjectType =>
  text === 'commit' || text === 'tree' || text === 'blob' || text === 'tag';

export const emptyTreeId = '4b825dc642cb6eb9a060e54bf8d69288fbee4904';

/** The id that git gives an object: SHA-1 over its header and content, 40 hex digits. */
export function gitObjectId(type: GitObjectType, content: Uint8Array): string {
  return createHash('sha1').update(`${type} ${content.byteLength}\0`).update(content).digest('hex');
}

export const gitBlobId = (content: Uint8Array): string => gitObjectId('blob', content);
