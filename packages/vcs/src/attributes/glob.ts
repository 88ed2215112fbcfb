/**
 * A pattern as git's attributes and ignore rules match paths with it (its
 * wildmatch with slashes kept apart), bytes against bytes: both are Latin-1
 * strings, so `?` takes one byte. `*` and `?` stop at a slash; a `**` that
 * stands alone between slashes takes any number of directories, another one is
 * a `*`. Time is bounded by the product of both lengths.
 */
export interface Glob {
  /** Bytes that a match starts with, before the first wildcard. */
  readonly literal: string;
  /** undefined: no path matches, as with a `[` that is not closed. */
  readonly parts: readonly Part[] | undefined;
}

/**
 * `star`: bytes without a slash; `stars`: any bytes; `directories`: nothing, or
 * any bytes that end with a slash.
 */
type Part =
  | { readonly kind: 'star' | 'stars' | 'directories' }
  | { readonly kind: 'one'; readonly has: (byte: number) => boolean };

const slash = 0x2f;
const special = /[*?[\\]/;

/** Compiles a pattern; never throws. */
export function compileGlob(pattern: string): Glob {
  const wild = pattern.search(special);
  const literal = wild < 0 ? pattern : pattern.slice(0, wild);
  return { literal, parts: partsOf(pattern.slice(literal.length)) };
}

/** Compiles what stands behind the literal start. As in git, its first byte counts as the start of a segment. */
function partsOf(pattern: string): Part[] | undefined {
  const parts: Part[] = [];
  let at = 0;
  while (at < pattern.length) {
    const sign = pattern[at] as string;
    if (sign === '*') {
      let end = at;
      while (pattern[end] === '*') end++;
      const isAlone = (at === 0 || pattern[at - 1] === '/') && /^(?:$|\\?\/)/.test(pattern.slice(end, end + 2));
      const isDirectories = end - at > 1 && isAlone && pattern[end] === '/';
      if (isDirectories) parts.push({ kind: 'directories' });
      else parts.push({ kind: end - at > 1 && isAlone ? 'stars' : 'star' });
      at = isDirectories ? end + 1 : end;
    } else if (sign === '?') {
      parts.push({ kind: 'one', has: (byte) => byte !== slash });
      at++;
    } else if (sign === '[') {
      const set = classOf(pattern, at + 1);
      if (set === undefined) return undefined;
      parts.push({ kind: 'one', has: set.has });
      at = set.end;
    } else {
      if (sign === '\\') at++;
      const wanted = pattern.charCodeAt(at);
      // A pattern that ends with a backslash matches nothing.
      if (Number.isNaN(wanted)) return undefined;
      parts.push({ kind: 'one', has: (byte) => byte === wanted });
      at++;
    }
  }
  return parts;
}

interface ByteClass {
  readonly has: (byte: number) => boolean;
  /** Where the pattern goes on. */
  readonly end: number;
}

/** The class whose `[` stands before `start`; undefined where it is not closed or names no known class. */
function classOf(pattern: string, start: number): ByteClass | undefined {
  const members = new Uint8Array(256);
  const isNegated = pattern[start] === '!' || pattern[start] === '^';
  let at = isNegated ? start + 1 : start;
  const first = at;
  /** The byte that a range could start with; 0 for none. */
  let previous = 0;
  for (; at === first || pattern[at] !== ']'; at++) {
    if (at >= pattern.length) return undefined;
    const sign = pattern[at] as string;
    if (sign === '[' && pattern[at + 1] === ':') {
      const close = pattern.indexOf(']', at + 2);
      if (close < 0) return undefined;
      if (close - at >= 3 && pattern[close - 1] === ':') {
        const named = namedClasses.get(pattern.slice(at + 2, close - 1));
        if (named === undefined) return undefined;
        for (let byte = 0; byte < 128; byte++) if (named.test(String.fromCharCode(byte))) members[byte] = 1;
        at = close;
        previous = 0;
        continue;
      }
    }
    if (sign === '-' && previous !== 0 && at + 1 < pattern.length && pattern[at + 1] !== ']') {
      at += pattern[at + 1] === '\\' ? 2 : 1;
      if (at >= pattern.length) return undefined;
      members.fill(1, previous, pattern.charCodeAt(at) + 1);
      previous = 0;
      continue;
    }
    if (sign === '\\') at++;
    if (at >= pattern.length) return undefined;
    previous = pattern.charCodeAt(at);
    members[previous] = 1;
  }
  return { end: at + 1, has: (byte) => byte !== slash && (members[byte] === 1) !== isNegated };
}

const namedClasses: ReadonlyMap<string, RegExp> = new Map([
  ['alnum', /[0-9A-Za-z]/],
  ['alpha', /[A-Za-z]/],
  ['blank', /[ \t]/],
  // oxlint-disable-next-line no-control-regex -- the class is of control bytes
  ['cntrl', /[\x00-\x1f\x7f]/],
  ['digit', /[0-9]/],
  ['graph', /[!-~]/],
  ['lower', /[a-z]/],
  ['print', /[ -~]/],
  ['punct', /[!-/:-@[-`{-~]/],
  // Git's own notion: neither \v nor \f.
  ['space', /[ \t\n\r]/],
  ['upper', /[A-Z]/],
  ['xdigit', /[0-9A-Fa-f]/],
]);

/** Whether a whole text, a path of `/`-separated segments, matches. */
export function matchesGlob({ literal, parts }: Glob, text: string): boolean {
  if (parts === undefined || !text.startsWith(literal)) return false;
  const length = text.length - literal.length;
  if (parts.length === 0) return length === 0;
  /** Which lengths of the text, behind the literal, the parts so far can take. */
  let reached = new Uint8Array(length + 1);
  reached[0] = 1;
  for (const part of parts) {
    const next = new Uint8Array(length + 1);
    let isOpen = false;
    for (let at = 0; at <= length; at++) {
      const before = at === 0 ? 0 : text.charCodeAt(literal.length + at - 1);
      switch (part.kind) {
        case 'one':
          if (at > 0 && reached[at - 1] === 1 && part.has(before)) next[at] = 1;
          break;
        case 'star':
          isOpen = reached[at] === 1 || (isOpen && before !== slash);
          if (isOpen) next[at] = 1;
          break;
        case 'stars':
          isOpen ||= reached[at] === 1;
          if (isOpen) next[at] = 1;
          break;
        case 'directories':
          if (reached[at] === 1 || (isOpen && before === slash)) next[at] = 1;
          isOpen ||= reached[at] === 1;
          break;
      }
    }
    reached = next;
  }
  return reached[length] === 1;
}
