import { closeSync, mkdirSync, openSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { RepoPath } from '../core/ids.ts';
import { foldPath, hexPrefix, parentsOfPath } from '../core/path.ts';
import { storeDirName } from '../store/store-dir.ts';
import { diskPathOf, lstatOf, refusalOf } from './disk-path.ts';

/** What some file systems have no name for, or keep under another. */
const isOdd = (segment: string): boolean =>
  /[<>:"|?*\\\p{Cc}]|[. ]$/u.test(segment) || /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/i.test(segment);
/** What systems say of a name that they cannot hold. */
const nameFaults = ['EINVAL', 'ENOENT', 'EILSEQ', 'ENAMETOOLONG'];

export const collides = 'collides with another path on this file system';
export const isNoName = 'is no name for this file system';

/** Which paths the file system of a workspace's directory has a place for. For one operation. */
export class DiskNames {
  private readonly root: string;
  private readonly odd = new Map<string, boolean>();
  private folds: boolean | undefined;
  private readonly look: typeof lstatOf;

  constructor(root: string, look = lstatOf) {
    this.root = root;
    this.look = look;
  }

  /** Why no file of this path may be made, or can be held, whatever else stands there; undefined: it may. */
  refusalOf(path: RepoPath): string | undefined {
    const refusal = refusalOf(path);
    if (refusal !== undefined || path.startsWith(hexPrefix)) return refusal;
    const isHeld = path.split('/').every((segment) => !isOdd(segment) || this.holds(segment));
    return isHeld ? undefined : isNoName;
  }

  /** The same of a path that nothing was put at: what stands there under a name in other case is another's. */
  refusalOfNew(path: RepoPath): string | undefined {
    const refusal = this.refusalOf(path);
    if (refusal !== undefined || path.startsWith(hexPrefix) || !this.isFolding()) return refusal;
    for (const part of [...parentsOfPath(path).toReversed(), path]) {
      if (this.look(diskPathOf(this.root, part)) === undefined) return undefined;
      const at = part.lastIndexOf('/');
      const names = readdirSync(join(this.root, part.slice(0, Math.max(0, at))));
      const segment = part.slice(at + 1);
      if (names.includes(segment)) continue;
      return isAnswered(segment, names) ? collides : undefined;
    }
    return undefined;
  }

  /** Whether names that differ in case only are one. */
  private isFolding(): boolean {
    this.folds ??= this.look(join(this.root, storeDirName.toUpperCase())) !== undefined;
    return this.folds;
  }

  /** Found out by making a file of that name where nobody looks. */
  private holds(segment: string): boolean {
    const known = this.odd.get(segment);
    if (known !== undefined) return known;
    const place = join(this.root, storeDirName, `names-${process.pid}`);
    rmSync(place, { recursive: true, force: true });
    const made = mkdirSync(place, { recursive: true }) ?? place;
    try {
      const isHeld = isHeldIn(place, segment);
      this.odd.set(segment, isHeld);
      return isHeld;
    } finally {
      rmSync(made, { recursive: true, force: true });
    }
  }
}

/** Whether one of the names answers to another; where none does, a system in user space remembers what is gone. */
function isAnswered(segment: string, names: readonly string[]): boolean {
  const folded = foldPath(segment as RepoPath);
  const isShortName = /~\d/.test(segment);
  return isShortName || names.some((name) => foldPath(name as RepoPath) === folded);
}

function isHeldIn(place: string, segment: string): boolean {
  try {
    closeSync(openSync(join(place, segment), 'wx'));
  } catch (error) {
    if (nameFaults.includes((error as NodeJS.ErrnoException).code ?? '')) return false;
    throw error;
  }
  return readdirSync(place).includes(segment);
}
