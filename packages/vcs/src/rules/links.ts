import type { RepoPath } from '../core/ids.ts';

/** A link of a Markdown text to a file of the same repo. */
export interface FileLink {
  /** From 1. */
  readonly line: number;
  /** As it stands there. */
  readonly target: string;
  readonly path: string;
}

/** A file with its text. */
export interface LinkingFile {
  readonly path: RepoPath;
  text(): string;
}

/** The tree as an intent leaves it. */
export interface LinkedTree {
  /** A file, or a directory with one in it. */
  has(path: string): boolean;
  /** Texts of the files beside a path, those apart that the intent changes. */
  beside(path: RepoPath, fits: (path: RepoPath) => boolean): Iterable<LinkingFile>;
}

export interface DeadLink extends FileLink {
  readonly from: RepoPath;
}

const inline = /\[[^\]\n]*\]\(\s*<?([^()\s<>]+)>?(?:\s+"[^"\n]*")?\s*\)|^\s*\[[^\]\n]+\]:\s+<?([^\s<>]+)>?/g;
/** `https:`, `mailto:` and the like; places within the text itself. */
const isElsewhere = (target: string): boolean => /^[A-Za-z][A-Za-z0-9+.-]*:|^#|^\/\//.test(target);

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The path that a link leads to, from a file's place; undefined where it leads out of the repo. */
function resolved(from: string, target: string): string | undefined {
  const bare = decoded(target.replace(/[?#].*$/, ''));
  const parts = bare.startsWith('/') ? [] : from.split('/').slice(0, -1);
  for (const part of bare.split('/')) {
    if (part === '..' && parts.pop() === undefined) return undefined;
    if (part !== '' && part !== '.' && part !== '..') parts.push(part);
  }
  return parts.join('/');
}

/** The links of a Markdown text that lead to files of the repo; what stands in code is none. */
export function fileLinksOf(path: string, text: string): FileLink[] {
  const found: FileLink[] = [];
  let isCode = false;
  for (const [at, line] of text.split('\n').entries()) {
    if (/^\s*(?:```|~~~)/.test(line)) isCode = !isCode;
    if (isCode) continue;
    for (const [, shown, defined] of line.replaceAll(/`[^`]*`/g, '').matchAll(inline)) {
      const target = shown ?? defined ?? '';
      if (!isElsewhere(target)) found.push({ line: at + 1, target, path: resolved(path, target) ?? target });
    }
  }
  return found;
}

/** Links that lead nowhere once an intent has landed: those of its files, and those of files beside what it takes away. */
export function deadLinks(
  files: readonly LinkingFile[],
  gone: readonly RepoPath[],
  tree: LinkedTree,
  fits: (path: RepoPath) => boolean,
): DeadLink[] {
  const dead = files.flatMap((file) =>
    fileLinksOf(file.path, file.text())
      .filter(({ path }) => path !== '' && !tree.has(path))
      .map((link) => ({ from: file.path, ...link })),
  );
  for (const path of gone) {
    for (const file of tree.beside(path, fits)) {
      const links = fileLinksOf(file.path, file.text()).filter((link) => link.path === path);
      dead.push(...links.map((link) => ({ from: file.path, ...link })));
    }
  }
  return dead;
}
