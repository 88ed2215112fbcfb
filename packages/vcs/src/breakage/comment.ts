import { noteOf, type Breakage } from './breakage.ts';

interface Syntax {
  readonly opening: string;
  readonly closing?: string;
}

const slashes: Syntax = { opening: '//' };
const hash: Syntax = { opening: '#' };
const dashes: Syntax = { opening: '--' };
const stars: Syntax = { opening: '/*', closing: '*/' };
const angles: Syntax = { opening: '<!--', closing: '-->' };
const percent: Syntax = { opening: '%' };
const semicolon: Syntax = { opening: ';' };

const byExtension: readonly (readonly [Syntax, string])[] = [
  [slashes, 'ts tsx mts cts js jsx mjs cjs rs go c h cc cpp cxx hpp hh m mm java kt kts scala swift cs dart zig php proto v sv jsonc'],
  [hash, 'py rb sh bash zsh pl pm r yml yaml toml mk cmake tf nix jl ex exs conf cfg ini ps1'],
  [dashes, 'sql lua hs elm adb ads vhd'],
  [stars, 'css scss less'],
  [angles, 'html htm xml svg vue'],
  [percent, 'tex erl'],
  [semicolon, 'asm s clj cljs lisp el scm'],
]; // prettier-ignore
const syntaxes = new Map(
  byExtension.flatMap(([syntax, names]) => names.split(' ').map((name) => [name, syntax] as const)),
);
const byName = new Map([['Makefile', hash], ['Dockerfile', hash], ['CMakeLists.txt', hash], ['Gemfile', hash]]); // prettier-ignore

/** How comments look in a file; undefined where its language has none, or is not known. */
export function commentSyntaxOf(path: string): Syntax | undefined {
  const name = path.slice(path.lastIndexOf('/') + 1);
  return byName.get(name) ?? syntaxes.get(name.slice(name.lastIndexOf('.') + 1).toLowerCase());
}

/** A comment of one line that says why something is broken here; undefined where the file's language has no comments. */
export function breakageComment(path: string, breakage: Breakage): string | undefined {
  const syntax = commentSyntaxOf(path);
  if (syntax === undefined) return undefined;
  const { opening, closing } = syntax;
  const note = noteOf(breakage);
  if (closing === undefined) return `${opening} ${note}`;
  // Nothing in it may end it.
  const safe = note.replaceAll(closing, closing.split('').join(' ')).replaceAll('--', '- -');
  return `${opening} ${closing === '-->' ? safe : note.replaceAll('*/', '* /')} ${closing}`;
}

/** Before the line of a text, with that line's indentation and line end. `line` counts from 0. */
export function insertComment(text: string, line: number, comment: string): string {
  const lines = text.split(/(?<=\n)/);
  // What a first line says of a file has to stay the first.
  const isHead = /^(?:#!|<\?)/.test(text);
  const at = Math.min(isHead ? Math.max(1, line) : line, lines.length);
  const below = lines[at] ?? '';
  const indent = /^[ \t]*/.exec(below)?.[0] ?? '';
  const end = (lines[at] ?? lines[at - 1] ?? '').endsWith('\r\n') ? '\r\n' : '\n';
  const before = lines.slice(0, at);
  const last = before.at(-1);
  if (last !== undefined && !last.endsWith('\n')) before[before.length - 1] = `${last}${end}`;
  return [...before, `${indent}${comment}${end}`, ...lines.slice(at)].join('');
}
