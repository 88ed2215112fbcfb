import { MoundError } from '../core/errors.ts';
import { bytesOfPath } from '../core/path.ts';
import type { Repo } from '../repo/api.ts';
import type { CommitView } from '../views/types.ts';
import { buildCommit } from './commit-build.ts';
import { parseCommit } from './commit-object.ts';
import { editDirectory, emptyDirectory, plainDirectory, type Directory, type DirectoryEdit } from './directory.ts';
import type { ExportStep } from './export-plan.ts';
import { getKeptObject } from './git-records.ts';
import { keptObjects } from './kept-objects.ts';
import { emptyTreeId } from './object-id.ts';
import type { ObjectReader } from './object-reader.ts';
import type { PackWriter } from './pack-writer.ts';
import { isDirectory, isGitlink, modeNumberOf, parseTree, splitEntries } from './tree-object.ts';

export type CommitRepo = Pick<Repo, 'commit' | 'gitMarks' | 'snapshot'>;

/** Blobs whose git id is remembered, so that most are read and hashed once. */
const blobIdsMax = 500_000;

/** Writes landings as git commits, parents before children. */
export class CommitExport {
  readonly #repo: CommitRepo;
  readonly #writer: PackWriter;
  readonly #reader: ObjectReader;
  /** The tree after a landing, while landings are left that build on it. */
  readonly #trees = new Map<number, Directory>();
  readonly #childCounts = new Map<number, number>();
  readonly #ids = new Map<number, string>();
  readonly #blobIds = new Map<string, string>();
  /** Git ids of commits whose parents git has and Mound has not (a shallow clone's edge). */
  readonly shallow: string[] = [];

  constructor(repo: CommitRepo, writer: PackWriter, reader: ObjectReader, steps: readonly ExportStep[]) {
    this.#repo = repo;
    this.#writer = writer;
    this.#reader = reader;
    for (const { base } of steps) {
      if (base !== undefined) this.#childCounts.set(base, (this.#childCounts.get(base) ?? 0) + 1);
    }
  }

  idOf(seq: number): string {
    const id = this.#ids.get(seq) ?? this.#repo.gitMarks.gitIdOf(seq);
    if (id === undefined) throw new MoundError('no-such-commit', `seq ${seq} has no git commit yet`, { seq });
    return id;
  }

  /** Errors: `object-damaged` where the tree is not the one that an imported commit names. */
  async write({ seq, parents, base }: ExportStep): Promise<string> {
    const view = this.#repo.commit(seq);
    const before = await this.#takeTree(base);
    const after = await this.#applyChanges(view, before);
    if ((this.#childCounts.get(seq) ?? 0) > 0) this.#trees.set(seq, after);
    if (after.id === emptyTreeId) this.#writer.add('tree', Buffer.alloc(0));
    const parentIds = parents.map((parent) => this.idOf(parent));
    const raw = view.gitRaw ? this.#checkRaw(view, view.gitRaw, after, parentIds) : undefined;
    const id = this.#writer.add('commit', raw ?? buildCommit(after.id, parentIds, view));
    this.#ids.set(seq, id);
    return id;
  }

  /** The tree that a landing starts from; forgotten after its last child. */
  async #takeTree(base: number | undefined): Promise<Directory> {
    if (base === undefined) return emptyDirectory;
    const left = (this.#childCounts.get(base) ?? 1) - 1;
    this.#childCounts.set(base, left);
    const tree = this.#trees.get(base) ?? (await this.#storedTree(base));
    if (left > 0) this.#trees.set(base, tree);
    else this.#trees.delete(base);
    return tree;
  }

  /** From an earlier export: the tree lies in git. */
  async #storedTree(seq: number): Promise<Directory> {
    const { tree } = parseCommit(await this.#reader.content(this.idOf(seq), 'commit'));
    const odd = (id: string): Buffer | undefined => getKeptObject(this.#repo, id)?.content;
    return plainDirectory(tree ?? emptyTreeId, odd, (raw) => void this.#writer.add('tree', raw));
  }

  async #applyChanges(view: CommitView, before: Directory): Promise<Directory> {
    const edits: DirectoryEdit[] = [];
    const snapshot = this.#repo.snapshot(view.seq, view.branch);
    for (const { path, blob, mode, movedFrom } of view.changes) {
      const raw = bytesOfPath(path).toString('latin1');
      if (movedFrom !== undefined) edits.push({ path: bytesOfPath(movedFrom).toString('latin1'), file: undefined });
      if (blob === undefined || mode === undefined) {
        edits.push({ path: raw, file: undefined });
        continue;
      }
      const known = mode === 'gitlink' ? undefined : this.#blobIds.get(blob);
      if (known !== undefined) {
        edits.push({ path: raw, file: { mode: modeNumberOf(mode), id: known } });
        continue;
      }
      const content = snapshot.read(path);
      if (!content)
        throw new MoundError('object-damaged', `the content of '${path}' at seq ${view.seq} is gone`, { path });
      const id = mode === 'gitlink' ? content.toString('latin1') : this.#writeBlob(blob, content, fileAt(before, raw));
      edits.push({ path: raw, file: { mode: modeNumberOf(mode), id } });
    }
    if (edits.length === 0) return before;
    return editDirectory(before, edits, this.#reader, (raw, replaced) => void this.#writer.add('tree', raw, replaced));
  }

  #writeBlob(blob: string, content: Buffer, older: string | undefined): string {
    const id = this.#writer.add('blob', content, older);
    this.#blobIds.set(blob, id);
    if (this.#blobIds.size > blobIdsMax) {
      for (const oldest of this.#blobIds.keys()) {
        this.#blobIds.delete(oldest);
        break;
      }
    }
    return id;
  }

  #checkRaw(view: CommitView, raw: Buffer, computed: Directory, parentIds: readonly string[]): Buffer {
    const { tree = '', parents } = parseCommit(raw);
    if (tree !== computed.id && !this.#writeOddTree(tree)) {
      const fields = { seq: view.seq, tree, computed: computed.id };
      throw new MoundError(
        'object-damaged',
        `seq ${view.seq} gives tree ${computed.id}, its git commit ${tree}`,
        fields,
      );
    }
    if (parents.some((parent) => !parentIds.includes(parent))) {
      this.shallow.push(this.#repo.gitMarks.gitIdOf(view.seq) ?? '');
    }
    return raw;
  }

  /** Trees that cannot be computed were kept when they were imported, down to the computed ones. */
  #writeOddTree(id: string): boolean {
    const kept = getKeptObject(this.#repo, id);
    if (kept?.type !== 'tree') return false;
    this.#writer.add('tree', kept.content);
    const { placed, placeless } = splitEntries(parseTree(kept.content).entries);
    for (const { mode, id: below } of placed) if (isDirectory(mode)) this.#writeOddTree(below);
    for (const { mode, id: lost } of placeless) {
      if (isGitlink(mode)) continue;
      for (const { type, content } of keptObjects(this.#repo, lost)) this.#writer.add(type, content);
    }
    return true;
  }
}

/** The git id of the file at a path, as far as its directories are in memory. */
function fileAt(root: Directory, path: string): string | undefined {
  let directory: Directory | undefined = root;
  const names = path.split('/');
  const name = names.pop();
  for (const part of names) {
    directory = directory?.entries?.find((entry) => entry.name === part && entry.directory)?.directory;
  }
  return directory?.entries?.find((entry) => entry.name === name && !entry.directory)?.id;
}
