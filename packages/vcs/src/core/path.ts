import type { RepoPath } from './ids.ts';
import { limits } from './limits.ts';
import { isWellFormed } from './text.ts';

/** Prefix of the string form of a path whose bytes are not UTF-8. */
export const hexPrefix = '//hex:';

const strictDecoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Plain names, most of all there are: nothing in them can be a fault, so they pass without a closer look. */
const plainPath = /^[A-Za-z0-9_-][A-Za-z0-9_.-]*(?:\/[A-Za-z0-9_-][A-Za-z0-9_.-]*)*$/;

export type PathFault = { readonly reason: string };

/** Code points that HFS+ ignores, so that a name with them inside equals the name without. */
const hfsIgnored = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g;

/**
 * True for a name that some file system takes for `.git`: case, trailing dots
 * and spaces and streams (NTFS), short names (`git~1`), ignored code points (HFS+).
 * Source of the list: git's `is_hfs_dotgit` and `is_ntfs_dotgit` behaviour.
 */
export function isGitDisguise(segment: string): boolean {
  const plain = segment.replace(hfsIgnored, '').toLowerCase();
  const [beforeStream = ''] = plain.split(':');
  const trimmed = beforeStream.replace(/[. ]+$/, '');
  return trimmed === '.git' || /^git~\d+$/.test(trimmed);
}

function faultOfSegment(segment: string): string | undefined {
  if (segment === '') return 'has an empty segment';
  if (segment === '.' || segment === '..') return `has the segment '${segment}'`;
  if (isGitDisguise(segment)) return `names git's own directory ('${segment}')`;
  return undefined;
}

/**
 * Checks a path for a *new* change. Refused: absolute paths, empty, `.` and
 * `..` segments, NUL, `.git` in any disguise, lone surrogates,
 * over-long paths, and the byte form (`//hex:`), which only an import may make.
 */
export function parsePath(text: unknown): RepoPath | PathFault {
  if (typeof text !== 'string') return { reason: 'is not a string' };
  if (text.length <= 512 && plainPath.test(text)) return text as RepoPath;
  if (text === '') return { reason: 'is empty' };
  if (text.startsWith(hexPrefix)) return { reason: 'is not valid UTF-8; only an import takes such names' };
  if (text.startsWith('/')) return { reason: 'is absolute' };
  if (text.includes('\0')) return { reason: 'holds a NUL' };
  if (!isWellFormed(text)) return { reason: 'holds a lone surrogate' };
  if (Buffer.byteLength(text) > limits.pathBytesMax) {
    return { reason: `is longer than ${limits.pathBytesMax} bytes` };
  }
  // A backslash is a plain byte in git but a separator on Windows, so both readings must be safe.
  for (const segment of text.split(/[/\\]/)) {
    const fault = faultOfSegment(segment);
    if (fault !== undefined) return { reason: fault };
  }
  return text as RepoPath;
}

export const isPathFault = (value: RepoPath | PathFault): value is PathFault => typeof value !== 'string';

/** The string form of a path's bytes: the text where it is UTF-8, else `//hex:…`. */
export function pathOfBytes(bytes: Uint8Array): RepoPath {
  try {
    return strictDecoder.decode(bytes) as RepoPath;
  } catch {
    return (hexPrefix + Buffer.from(bytes).toString('hex')) as RepoPath;
  }
}

/** The bytes of a path's string form; inverse of {@link pathOfBytes}. */
export function bytesOfPath(path: RepoPath): Buffer {
  return path.startsWith(hexPrefix) ? Buffer.from(path.slice(hexPrefix.length), 'hex') : Buffer.from(path, 'utf8');
}

/** Paths with the same fold collide on a file system that folds case or Unicode form. */
export function foldPath(path: RepoPath): string {
  return path.normalize('NFD').toUpperCase().toLowerCase().normalize('NFC');
}

/** The directories above a path, nearest first: `a/b/c` gives `a/b`, `a`. */
export function parentsOfPath(path: RepoPath): RepoPath[] {
  const parents: RepoPath[] = [];
  for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1)) {
    parents.push(path.slice(0, end) as RepoPath);
  }
  return parents;
}
