import { compileGlob, matchesGlob, type Glob } from '../attributes/index.ts';

interface IgnoreRule {
  readonly glob: Glob;
  readonly isNegative: boolean;
  readonly isOfDirectories: boolean;
  /** Without a slash: matched against the last segment, in any directory below. */
  readonly isBasename: boolean;
}

/** What one `.gitignore` says, and its directory ('' at the root, else with a slash at its end). */
export interface IgnoreFile {
  readonly directory: string;
  readonly rules: readonly IgnoreRule[];
}

const latin1 = (text: string): string => Buffer.from(text).toString('latin1');

/** Reads a `.gitignore` as git reads it. Pure, and never throws. */
export function parseIgnoreFile(content: Uint8Array, directory: string): IgnoreFile {
  const text = Buffer.from(content.buffer, content.byteOffset, content.length).toString('latin1');
  const lines = text.replace(/^\xef\xbb\xbf/, '').split('\n');
  return { directory: latin1(directory), rules: lines.flatMap((line) => ruleOf(line) ?? []) };
}

function ruleOf(line: string): IgnoreRule | undefined {
  let pattern = withoutTrailingSpaces(line.replace(/\r$/, ''));
  if (pattern === '' || pattern.startsWith('#')) return undefined;
  const isNegative = pattern.startsWith('!');
  if (isNegative) pattern = pattern.slice(1);
  const isOfDirectories = pattern.endsWith('/');
  if (isOfDirectories) pattern = pattern.slice(0, -1);
  const isBasename = !pattern.includes('/');
  const glob = compileGlob(pattern.replace(/^\//, ''));
  return { glob, isNegative, isOfDirectories, isBasename };
}

/** Spaces at the end do not count, unless a backslash stands before the first of them. */
function withoutTrailingSpaces(line: string): string {
  let end = line.length;
  while (end > 0 && line[end - 1] === ' ') end--;
  let escapes = 0;
  while (escapes < end && line[end - 1 - escapes] === '\\') escapes++;
  return end < line.length && escapes % 2 === 1 ? line.slice(0, end + 1) : line.slice(0, end);
}

/**
 * Whether the rules ignore a path, its directory not being ignored: the nearest file counts first, of a file the last
 * line. `files` are those of the directories above it, the root's first.
 */
export function isIgnored(files: readonly IgnoreFile[], path: string, isDirectory: boolean): boolean {
  const bytes = latin1(path);
  const basename = bytes.slice(bytes.lastIndexOf('/') + 1);
  for (const { directory, rules } of files.toReversed()) {
    const below = bytes.slice(directory.length);
    const rule = rules.findLast(
      ({ glob, isBasename, isOfDirectories }) =>
        (isDirectory || !isOfDirectories) && matchesGlob(glob, isBasename ? basename : below),
    );
    if (rule !== undefined) return !rule.isNegative;
  }
  return false;
}

/** Whether sparse globs choose a path: patterns as in a `.gitignore`, which take in what is below a directory. */
export function sparseFilter(globs: readonly string[]): (path: string) => boolean {
  if (globs.length === 0) return () => true;
  const files = [parseIgnoreFile(Buffer.from(globs.join('\n')), '')];
  return (path) => {
    for (let end = path.indexOf('/'); end > 0; end = path.indexOf('/', end + 1)) {
      if (isIgnored(files, path.slice(0, end), true)) return true;
    }
    return isIgnored(files, path, false);
  };
}
