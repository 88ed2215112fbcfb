import { readdirSync, type Stats } from 'node:fs';
import type { LineEndSettings } from '../attributes/index.ts';
import type { RepoPath } from '../core/ids.ts';
import type { Mode } from '../core/mode.ts';
import { isGitDisguise, parentsOfPath, pathOfBytes } from '../core/path.ts';
import { blobIdOf } from '../format/hash.ts';
import type { WorkspaceRow } from '../format/workspace.ts';
import type { Overlay } from '../repo/overlay.ts';
import type { FileState, ShelvedEdit } from '../repo/workspace-api.ts';
import { writtenThroughLink } from '../repo/workspace-commit.ts';
import { storeDirName } from '../store/store-dir.ts';
import type { DiskNames } from './disk-names.ts';
import { diskPathOf, lstatOf, refusalOf, type DiskPath } from './disk-path.ts';
import { readDiskFile } from './disk-read.ts';
import { isIgnored, parseIgnoreFile, type IgnoreFile } from './ignore-rules.ts';
import { isOnDisk, toRepo } from './line-ends.ts';
import { Attributes } from './path-attributes.ts';
import type { LinkWatch, SharedFile } from './link-watch.ts';
import type { StatIndex } from './stat-index.ts';

/** An edit found on disk, and the stat data of the file that holds it; undefined: it is gone. */
export interface DiskEdit extends ShelvedEdit {
  readonly stat: Stats | undefined;
  /** Whether the file is one of the cache's. */
  readonly isLinked: boolean;
  /** Where it was written to through a link. */
  readonly shared?: SharedFile | undefined;
}

export interface Scanned {
  /** What differs from the workspace's rows. */
  readonly edits: readonly DiskEdit[];
  /** Paths on disk that a workspace does not take: names that no path may have, devices, sockets. */
  readonly refused: readonly { readonly path: string; readonly reason: string }[];
}

export interface ScanOptions {
  /** Paths that ought to be in place: one that is not was deleted. */
  readonly known: Iterable<RepoPath>;
  /** What a sync that was interrupted has written already: no edit. */
  readonly planned: ReadonlyMap<RepoPath, (FileState & { readonly blob: string }) | undefined>;
  readonly hasSymlinks: boolean;
  readonly hasModes: boolean;
  readonly names: DiskNames;
  /** What is ignored beside the `.gitignore`s, which count first. */
  readonly excludes: readonly IgnoreFile[];
  readonly links: LinkWatch;
  readonly lineEnds: LineEndSettings;
}

/** Looks at a workspace's files. What is found unchanged is noted in the index. */
export class Scan {
  private readonly overlay: Overlay;
  private readonly workspace: WorkspaceRow;
  private readonly root: string;
  private readonly index: StatIndex;
  private readonly options: ScanOptions;
  private readonly attributes: Attributes;
  private readonly edits: DiskEdit[] = [];
  private readonly refused: { path: string; reason: string }[] = [];
  private readonly seenRows: Uint8Array;
  private isWhole = false;
  private readonly seen = new Set<RepoPath>();
  private readonly reachable = new Map<RepoPath, boolean>();
  /** Stat data of files that hold what the rows say. */
  readonly clean = new Map<RepoPath, Stats>();
  /** Directories with files in place: they are looked into even where they are ignored. */
  private directories: Set<string> | undefined;

  constructor(overlay: Overlay, workspace: WorkspaceRow, root: string, index: StatIndex, options: ScanOptions) {
    this.overlay = overlay;
    this.workspace = workspace;
    this.root = root;
    this.index = index;
    this.options = options;
    this.seenRows = new Uint8Array(index.capacity);
    this.attributes = diskAttributes(root, options.lineEnds);
  }

  /** Errors: `file-changing`, and what the system says of a directory that cannot be read. */
  run(): Scanned {
    this.isWhole = true;
    this.directory(this.root, '', this.options.excludes);
    for (const path of this.options.known) {
      const row = this.index.row(path);
      const isSeen = row !== undefined && row < this.seenRows.length ? this.seenRows[row] === 1 : false;
      if (!isSeen && !this.seen.has(path)) this.gone(path);
    }
    return { edits: this.edits, refused: this.refused };
  }

  /** Looks at single paths, whatever is ignored. */
  look(paths: Iterable<RepoPath>): Scanned {
    for (const path of paths) {
      // What answers to a name that was never put in place is another path's file.
      if (!this.index.has(path) && this.options.names.refusalOfNew(path) !== undefined) continue;
      const at = diskPathOf(this.root, path);
      const stat = this.isReachable(path) ? lstatOf(at) : undefined;
      if (stat?.isDirectory() === true) this.directory(at, `${path}/`, 'none');
      if (stat !== undefined && !stat.isDirectory()) this.entry(at, path, stat, 'none');
      else if (this.index.has(path)) this.gone(path);
    }
    return { edits: this.edits, refused: this.refused };
  }

  /** Whether all above it are directories and no symlinks. */
  private isReachable(path: RepoPath): boolean {
    return parentsOfPath(path).every((parent) => {
      const known = this.reachable.get(parent);
      if (known !== undefined) return known;
      const isDirectory = lstatOf(diskPathOf(this.root, parent))?.isDirectory() === true;
      this.reachable.set(parent, isDirectory);
      return isDirectory;
    });
  }

  private directory(at: DiskPath, prefix: string, above: Ignores): void {
    const names = readdirSync(at);
    // Another workspace or a repository of its own.
    if (prefix !== '' && names.includes(storeDirName)) return;
    const ignores =
      typeof above !== 'string' && names.includes('.gitignore') ? withIgnoreFile(at, prefix, above) : above;
    if (prefix.startsWith('//hex:')) return this.oddDirectory(at, prefix, ignores);
    for (const name of names) {
      if (name.includes('\ufffd')) return this.oddDirectory(at, prefix, ignores);
      this.name(typeof at === 'string' ? `${at}/${name}` : joined(at, Buffer.from(name)), `${prefix}${name}`, ignores);
    }
  }

  /** Names that may not be UTF-8 are taken by their bytes. */
  private oddDirectory(at: DiskPath, prefix: string, ignores: Ignores): void {
    const above = prefix.startsWith('//hex:') ? Buffer.from(prefix.slice(6), 'hex') : Buffer.from(prefix);
    for (const name of readdirSync(at, { encoding: 'buffer' })) {
      this.name(joined(at, name), pathOfBytes(Buffer.concat([above, name])), ignores);
    }
  }

  private name(at: DiskPath, path: string, ignores: Ignores): void {
    const stat = lstatOf(at);
    if (stat === undefined) return;
    if (!stat.isDirectory()) return this.entry(at, path as RepoPath, stat, ignores);
    const name = path.slice(path.lastIndexOf('/') + 1);
    if (path === storeDirName || isGitDisguise(name) || this.index.gitlinks.has(path)) return;
    const isHidden = isIgnoredBy(ignores, path, true);
    if (isHidden && !this.isInUse(path)) return;
    this.directory(at, path.startsWith('//hex:') ? `${path}2f` : `${path}/`, isHidden ? 'all' : ignores);
  }

  private isInUse(directory: string): boolean {
    if (this.directories === undefined) {
      this.directories = new Set();
      for (const path of this.options.known) {
        for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1)) {
          const parent = path.slice(0, end);
          if (this.directories.has(parent)) break;
          this.directories.add(parent);
        }
      }
    }
    return this.directories.has(directory);
  }

  private entry(at: DiskPath, path: RepoPath, stat: Stats, ignores: Ignores): void {
    const row = this.index.row(path);
    if (row !== undefined) {
      if (row < this.seenRows.length) this.seenRows[row] = 1;
      if (this.index.isSame(row, stat)) return this.isClean(path, stat);
    }
    this.seen.add(path);
    const target = this.overlay.target(this.workspace, path);
    const isNew = target === undefined && !this.options.planned.has(path);
    if (isNew && isIgnoredBy(ignores, path, false)) return;
    if (isNew) {
      const fault = refusalOf(path);
      const name = path.slice(path.lastIndexOf('/') + 1);
      // A file of this name is what git leaves in a worktree.
      if (fault !== undefined || path.startsWith('//hex:')) {
        const reason = fault ?? 'is not valid UTF-8; only an import takes such names';
        if (!isGitDisguise(name)) this.refused.push({ path, reason });
        return;
      }
    }
    const file = readDiskFile(at, path);
    if (file === undefined) {
      if (stat.isFile() || stat.isSymbolicLink()) this.gone(path);
      else this.refused.push({ path, reason: 'is no file, directory or symlink' });
      return;
    }
    this.compare(path, file.content, file.stat, target);
  }

  private compare(path: RepoPath, raw: Buffer, stat: Stats, target: ReturnType<Overlay['target']>): void {
    const { links } = this.options;
    const mode = this.modeOf(stat, target?.mode);
    const beneath = (): Buffer | undefined => this.overlay.content(this.workspace, path)?.content;
    const lineEnds = this.attributes.of(path);
    const content = mode === 'symlink' ? raw : toRepo(raw, lineEnds, beneath);
    const blob = blobIdOf(content);
    const isSame = (): boolean => target?.blob === blob || (mode !== 'symlink' && isOnDisk(raw, beneath(), lineEnds));
    if (target?.mode === mode && isSame()) {
      this.index.set(path, stat, links.isLinked(path, stat, blob));
      return this.isClean(path, stat);
    }
    const planned = this.options.planned.get(path);
    const isPlanned = (): boolean =>
      planned?.blob === blob || (mode !== 'symlink' && isOnDisk(raw, planned?.content, lineEnds));
    if (planned?.mode === mode && isPlanned()) return;
    const shared = links.writtenThrough(path, stat, raw, target);
    if (shared !== undefined) {
      this.edits.push({ path, content, mode, stat, isLinked: true, shared, conflict: writtenThroughLink });
    } else this.edits.push({ path, content, mode, stat, isLinked: links.isLinked(path, stat, blob) });
  }

  /** Noted where few paths are looked at; of a whole scan nobody asks. */
  private isClean(path: RepoPath, stat: Stats): void {
    if (!this.isWhole) this.clean.set(path, stat);
  }

  private modeOf(stat: Stats, before: Mode | undefined): Mode {
    if (stat.isSymbolicLink()) return 'symlink';
    if (before === 'symlink' && !this.options.hasSymlinks) return 'symlink';
    if (!this.options.hasModes) return before === 'executable' ? 'executable' : 'file';
    return (stat.mode & 0o100) === 0 ? 'file' : 'executable';
  }

  private gone(path: RepoPath): void {
    if (this.overlay.target(this.workspace, path) === undefined) return;
    if (this.options.planned.has(path) && this.options.planned.get(path) === undefined) return;
    this.edits.push({ path, content: null, mode: 'file', stat: undefined, isLinked: false });
  }
}

const joined = (directory: DiskPath, name: Buffer): Buffer =>
  Buffer.concat([Buffer.from(directory), Buffer.from('/'), name]);

/** What counts below a directory: its ignore files, the root's first, or that nothing or all that is new is ignored. */
type Ignores = readonly IgnoreFile[] | 'none' | 'all';

const isIgnoredBy = (ignores: Ignores, path: string, isDirectory: boolean): boolean =>
  typeof ignores === 'string' ? ignores === 'all' : isIgnored(ignores, path, isDirectory);

function withIgnoreFile(at: DiskPath, prefix: string, above: readonly IgnoreFile[]): readonly IgnoreFile[] {
  const file = readDiskFile(joined(at, Buffer.from('.gitignore')), '.gitignore' as RepoPath);
  // Git does not follow one that is a symlink.
  if (file === undefined || !file.stat.isFile()) return above;
  return [...above, parseIgnoreFile(file.content, prefix)];
}

/** Attributes as the files on disk say them. */
export function diskAttributes(root: string, settings: LineEndSettings): Attributes {
  return new Attributes(settings, (path) => {
    const file = readDiskFile(diskPathOf(root, path), path);
    return file?.stat.isFile() === true ? file.content : undefined;
  });
}
