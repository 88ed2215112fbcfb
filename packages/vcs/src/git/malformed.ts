import type { GitObject } from './object-reader.ts';
import { isDirectory, parseTree, type TreeEntry } from './tree-object.ts';

/**
 * What `git fsck` calls an error of an object, by git's own name for it; undefined where it finds none. Of a commit or
 * a tag git tells the first. Names and modes in trees are warnings for git, and what `.gitmodules` holds is not looked at.
 */
function faultOf({ type, content }: GitObject): string | undefined {
  if (type === 'tree') return faultOfTree(content);
  if (type === 'blob') return undefined;
  const end = content.indexOf('\n\n');
  const header = end < 0 ? content : content.subarray(0, end + 1);
  if (header.includes(0)) return 'nulInHeader';
  if (header.at(-1) !== 0x0a) return 'unterminatedHeader';
  const lines = new HeaderLines(header);
  return type === 'commit' ? lines.faultOfCommit() : lines.faultOfTag();
}

/** Those of some objects that have such an error, as `type id: error`. */
export const malformedOf = (objects: readonly GitObject[]): string[] =>
  objects.flatMap((object) => {
    const fault = faultOf(object);
    return fault === undefined ? [] : [`${object.type} ${object.id}: ${fault}`];
  });

function faultOfTree(content: Buffer): string | undefined {
  const { entries, isCanonical } = parseTree(content);
  if (isCanonical) return undefined;
  if (entries.some(({ name }) => name === '')) return 'badTree';
  const isSorted = entries.every((entry, at) => {
    const before = entries[at - 1];
    // Of one name twice git says that, and not that the order is wrong.
    return before === undefined || before.name === entry.name || isBefore(before, entry);
  });
  if (!isSorted) return 'treeNotSorted';
  return new Set(entries.map(({ name }) => name)).size < entries.length ? 'duplicateEntries' : undefined;
}

/** As git looks: up to the end of the shorter name, and one character on. */
function isBefore(one: TreeEntry, next: TreeEntry): boolean {
  const length = Math.min(one.name.length, next.name.length);
  const until = ({ name, mode }: TreeEntry): string =>
    name.slice(0, length) + (name[length] ?? (isDirectory(mode) ? '/' : '\0'));
  return until(one) < until(next);
}

/** Reads the lines of a header in their order. */
class HeaderLines {
  private rest: string;

  constructor(header: Buffer) {
    this.rest = header.toString('latin1');
  }

  faultOfCommit(): string | undefined {
    if (!this.skip('tree ')) return 'missingTree';
    if (!this.skipId()) return 'badTreeSha1';
    while (this.skip('parent ')) if (!this.skipId()) return 'badParentSha1';
    let authors = 0;
    for (; this.skip('author '); authors++) {
      const fault = this.faultOfIdentity();
      if (fault !== undefined) return fault;
    }
    if (authors !== 1) return authors === 0 ? 'missingAuthor' : 'multipleAuthors';
    return this.skip('committer ') ? this.faultOfIdentity() : 'missingCommitter';
  }

  faultOfTag(): string | undefined {
    if (!this.skip('object ')) return 'missingObject';
    if (!this.skipId()) return 'badObjectSha1';
    if (!this.skip('type ')) return 'missingTypeEntry';
    if (!/^(?:commit|tree|blob|tag)$/.test(this.line())) return 'badType';
    if (!this.skip('tag ')) return 'missingTagEntry';
    this.line();
    return this.skip('tagger ') ? this.faultOfIdentity() : undefined;
  }

  private skip(prefix: string): boolean {
    if (!this.rest.startsWith(prefix)) return false;
    this.rest = this.rest.slice(prefix.length);
    return true;
  }

  private skipId(): boolean {
    return /^[0-9a-f]{40}$/i.test(this.line());
  }

  /** Without the newline at its end. */
  private line(): string {
    const end = this.rest.indexOf('\n');
    const line = end < 0 ? this.rest : this.rest.slice(0, end);
    this.rest = end < 0 ? '' : this.rest.slice(end + 1);
    return line;
  }

  private faultOfIdentity(): string | undefined {
    const line = this.line();
    if (line.startsWith('<')) return 'missingNameBeforeEmail';
    const [, name = '', opens = '', closes = '', date = ''] = /^([^<>]*)([<>]?)[^<>]*([<>]?)(.*)$/s.exec(line) ?? [];
    if (opens === '>') return 'badName';
    if (opens === '') return 'missingEmail';
    if (!name.endsWith(' ')) return 'missingSpaceBeforeEmail';
    if (closes !== '>') return 'badEmail';
    if (!date.startsWith(' ')) return 'missingSpaceBeforeDate';
    return faultOfDate(date.slice(1));
  }
}

function faultOfDate(date: string): string | undefined {
  if (/^0[^ ]|^0$/.test(date)) return 'zeroPaddedDate';
  // As C reads a number: spaces and a sign may stand before it.
  const [number = '', sign = '', digits = ''] = /^[ \t\v\f\r]*([-+]?)(\d+)/.exec(date) ?? [];
  const seconds = BigInt(digits === '' ? 0 : digits);
  if (seconds >= 2n ** 63n || (sign === '-' && seconds > 0n)) return 'badDateOverflow';
  if (number === '' || date[number.length] !== ' ') return 'badDate';
  return /^[-+]\d{4}$/.test(date.slice(number.length + 1)) ? undefined : 'badTimezone';
}
