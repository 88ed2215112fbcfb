import { closeSync, fstatSync, lstatSync, mkdirSync, openSync, symlinkSync, writeSync, type Stats } from 'node:fs';
import type { LineEndSettings } from '../attributes/index.ts';
import type { BlobId, RepoPath } from '../core/ids.ts';
import type { Mode } from '../core/mode.ts';
import { parentsOfPath } from '../core/path.ts';
import type { WorkspaceRow } from '../format/workspace.ts';
import type { Overlay } from '../repo/overlay.ts';
import type { FileState } from '../repo/workspace-api.ts';
import { collides, DiskNames, isNoName } from './disk-names.ts';
import { collisionsOf, diskPathOf, type DiskPath } from './disk-path.ts';
import type { CachedFile } from './file-cache.ts';
import type { FileCloner } from './file-cloner.ts';
import type { FileLinker } from './file-linker.ts';
import { sparseFilter } from './ignore-rules.ts';
import { isPlain, toDisk } from './line-ends.ts';
import { Attributes } from './path-attributes.ts';
import type { SkippedPath, WrittenTree } from './written-tree.ts';

interface TreeFile {
  readonly path: RepoPath;
  readonly mode: Mode;
  /** Undefined: an edit, which is linked to nothing. */
  readonly landed: { readonly blob: BlobId; readonly size: number } | undefined;
  readonly read: () => Buffer;
}

/** What a workspace holds, in no order that matters. */
function* filesOf(overlay: Overlay, workspace: WorkspaceRow): Generator<TreeFile> {
  const rows = new Map(overlay.rows().map((row) => [row.path, row]));
  const readRow = (path: RepoPath): Buffer => overlay.content(workspace, path)?.content ?? Buffer.alloc(0);
  for (const [path, row] of rows) {
    const target = overlay.target(workspace, path, row);
    if (target !== undefined) yield { path, mode: target.mode, landed: undefined, read: () => readRow(path) };
  }
  for (const { path, version } of overlay.versions(workspace)) {
    const { target } = version;
    if (target === undefined || rows.has(path)) continue;
    const { blob, mode } = target;
    yield { path, mode, landed: { blob, size: version.size }, read: () => overlay.reader.viewOf(version) };
  }
}

/** Paths of a workspace that are to be in place on disk, by what they are; refused ones are none of them. */
export function placesOf(
  overlay: Overlay,
  workspace: WorkspaceRow,
  names: DiskNames,
): { readonly known: RepoPath[]; readonly gitlinks: RepoPath[] } {
  const isChosen = sparseFilter(workspace.sparse);
  const known: RepoPath[] = [];
  const gitlinks: RepoPath[] = [];
  for (const { path, mode } of filesOf(overlay, workspace)) {
    if (!isChosen(path) || names.refusalOfNew(path) !== undefined) continue;
    (mode === 'gitlink' ? gitlinks : known).push(path);
  }
  return { known, gitlinks };
}

/**
 * Writes what a workspace holds into a directory that nobody else knows yet. Symlinks come last, so that no file is ever
 * written through one; a gitlink is an empty directory. `note` is told the stat data of each file, and whether it
 * is linked.
 */
export function writeTree(
  overlay: Overlay,
  workspace: WorkspaceRow,
  root: string,
  settings: TreeSettings,
  note: NoteFile,
): WrittenTree {
  const { hasSymlinks } = settings;
  const writing = new TreeWriting(overlay, workspace, root, note, settings);
  const isChosen = sparseFilter(workspace.sparse);
  const names = new DiskNames(root);
  const links: TreeFile[] = [];
  for (const file of filesOf(overlay, workspace)) {
    if (!isChosen(file.path)) continue;
    const reason = names.refusalOf(file.path);
    if (reason !== undefined) writing.skipped.push({ path: file.path, reason });
    else if (file.mode === 'symlink' && hasSymlinks) links.push(file);
    else writing.attempt(file, () => writing.file(file));
  }
  for (const link of links) writing.attempt(link, () => writing.link(link));
  const { files, linked, cloned, gitlinks, skipped, paths } = writing;
  return { files, linked, cloned, gitlinks, skipped, collisions: collisionsOf(paths) };
}

/** How a tree is written. */
export interface TreeSettings {
  readonly hasSymlinks: boolean;
  readonly lineEnds: LineEndSettings;
  /** None: files are written. */
  readonly linker?: FileLinker | undefined;
  /** None: nothing is cloned. */
  readonly cloner?: FileCloner | undefined;
}

type NoteFile = (path: RepoPath, stat: Stats, isLinked: boolean) => void;

class TreeWriting {
  files = 0;
  linked = 0;
  cloned = 0;
  readonly gitlinks: RepoPath[] = [];
  readonly skipped: SkippedPath[] = [];
  readonly paths: RepoPath[] = [];
  private readonly root: string;
  private readonly note: NoteFile;
  private readonly linker: FileLinker | undefined;
  private readonly cloner: FileCloner | undefined;
  private readonly attributes: Attributes;
  private readonly directories = new Set<string>(['']);

  constructor(overlay: Overlay, workspace: WorkspaceRow, root: string, note: NoteFile, settings: TreeSettings) {
    this.root = root;
    this.note = note;
    this.linker = settings.linker;
    this.cloner = settings.cloner;
    this.attributes = treeAttributes(overlay, workspace, settings.lineEnds);
  }

  /** A name that the file system takes for another that is there already is told, not written over it. */
  attempt({ path }: TreeFile, write: () => void): void {
    try {
      this.paths.push(path);
      write();
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      const reason = reasons[code ?? ''];
      if (reason === undefined) throw error;
      this.skipped.push({ path, reason });
    }
  }

  file({ path, mode, landed, read }: TreeFile): void {
    this.above(path);
    const at = diskPathOf(this.root, path);
    if (mode === 'gitlink') {
      mkdirSync(at);
      this.gitlinks.push(path);
      return;
    }
    const lineEnds = this.attributes.of(path);
    const isExecutable = mode === 'executable';
    const shared = mode !== 'symlink' && isPlain(lineEnds) ? landed : undefined;
    if (shared !== undefined && this.share(path, { blob: shared.blob, isExecutable }, shared.size, at, read)) return;
    // What `read` gives is a view: nothing else may be read before it is written.
    const content = mode === 'symlink' ? read() : toDisk(read(), lineEnds);
    const handle = openSync(at, 'wx', isExecutable ? 0o777 : 0o666);
    try {
      for (let done = 0; done < content.length;) done += writeSync(handle, content, done);
      this.note(path, fstatSync(handle), false);
    } finally {
      closeSync(handle);
    }
    if (shared !== undefined && this.linker === undefined) this.cloner?.keep(shared.blob, shared.size, at);
    this.files++;
  }

  /** Whether a file came to be as a link or a clone of the cache's. */
  private share(path: RepoPath, file: CachedFile, size: number, at: DiskPath, read: () => Uint8Array): boolean {
    const link = this.linker?.link(file, size, at, read);
    const stat = link ?? (this.linker === undefined ? this.cloner?.clone(file, size, at) : undefined);
    if (stat === undefined) return false;
    this.note(path, stat, link !== undefined);
    if (link === undefined) this.cloned++;
    else this.linked++;
    this.files++;
    return true;
  }

  link({ path, read }: TreeFile): void {
    this.above(path);
    const at = diskPathOf(this.root, path);
    symlinkSync(read(), at);
    this.note(path, lstatSync(at), false);
    this.files++;
  }

  private above(path: RepoPath): void {
    const at = diskPathOf(this.root, path);
    if (typeof at !== 'string') {
      mkdirSync(at.subarray(0, at.lastIndexOf('/')), { recursive: true });
      return;
    }
    const directory = path.slice(0, Math.max(0, path.lastIndexOf('/')));
    if (this.directories.has(directory)) return;
    // One that is there and was not made here is another's, whose name this file system takes for the same.
    for (const parent of parentsOfPath(path).toReversed()) {
      if (this.directories.has(parent)) continue;
      mkdirSync(`${this.root}/${parent}`);
      this.directories.add(parent);
    }
  }
}

const reasons: Readonly<Record<string, string>> = {
  EEXIST: collides,
  ENOTDIR: 'lies below what is a file on this file system',
  ENAMETOOLONG: 'is too long for this file system',
  EILSEQ: isNoName,
  EINVAL: isNoName,
};

/** Attributes as a workspace's own files say them; `after` gives what some of them are about to hold. */
export function treeAttributes(
  overlay: Overlay,
  workspace: WorkspaceRow,
  settings: LineEndSettings,
  after: ReadonlyMap<RepoPath, FileState | undefined> = new Map(),
): Attributes {
  return new Attributes(settings, (path) => {
    const state = after.has(path) ? after.get(path) : overlay.content(workspace, path);
    return state === undefined || state.mode === 'symlink' ? undefined : state.content;
  });
}
