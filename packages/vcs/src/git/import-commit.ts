import { MoundError } from '../core/errors.ts';
import { isPathFault, parsePath, pathOfBytes } from '../core/path.ts';
import type { GitChange, GitIntake, GitLanding } from '../repo/api.ts';
import { decodeText, parseCommit, parseIdentity } from './commit-object.ts';
import { BlobCache } from './blob-cache.ts';
import { renamesOf } from './import-renames.ts';
import { objectsBehind } from './kept-objects.ts';
import { malformedOf } from './malformed.ts';
import { ObjectReader, type GitObject } from './object-reader.ts';
import { OddTrees } from './odd-trees.ts';
import { TreeCache } from './tree-cache.ts';
import { diffTrees, type TreeChange } from './tree-diff.ts';
import { isGitlink, parseTree, splitEntries } from './tree-object.ts';

/** A commit read from git and ready to land but for its place in the log. */
export interface ReadCommit {
  readonly landing: Omit<GitLanding, 'branch' | 'base' | 'parents'>;
  /** Odd trees, and what of them has no place among paths: kept as they are. */
  readonly keptObjects: readonly GitObject[];
  /** New paths that no caller could make: kept as they are, and reported. */
  readonly flaggedPaths: readonly string[];
  /** Objects of it that `git fsck` takes for an error. */
  readonly malformed: readonly string[];
  readonly sizeBytes: number;
}

/** Reads commits with their changes. Many may be read at once. */
export class CommitSource {
  /** Blobs have a git of their own: it unpacks them while the other finds the next trees. */
  readonly #blobReader: ObjectReader;
  readonly #blobs: BlobCache;
  readonly #reader: ObjectReader;
  readonly #trees: TreeCache;
  readonly #odd: OddTrees;
  readonly #intake: Pick<GitIntake, 'known'>;
  readonly #raws = new Map<string, Promise<{ readonly raw: Buffer; readonly tree: string }>>();

  /** `intake` is asked what it has stored of a blob, so that this need not be read again. */
  constructor(gitDir: string, intake: Pick<GitIntake, 'known'>) {
    this.#intake = intake;
    this.#blobReader = new ObjectReader(gitDir);
    this.#blobs = new BlobCache(this.#blobReader);
    this.#reader = new ObjectReader(gitDir);
    this.#trees = new TreeCache(this.#reader);
    this.#odd = new OddTrees(this.#trees);
  }

  async close(): Promise<void> {
    await Promise.all([this.#blobReader.close(), this.#reader.close()]);
  }

  /** A commit and what it changes against another, its first parent as a rule. */
  async read(id: string, base: string | undefined): Promise<ReadCommit> {
    const [{ raw, tree }, baseTree] = await Promise.all([
      this.#commit(id),
      base === undefined ? undefined : this.#commit(base).then((parent) => parent.tree),
    ]);
    const [found, oddIds] = await Promise.all([diffTrees(this.#trees, baseTree, tree), this.#odd.below(tree)]);
    const renames = await renamesOf(found, (blob) => this.#blobs.get(blob));
    const [changes, keptObjects] = await Promise.all([
      Promise.all(found.map((change) => this.#withContent(change, renames.get(change.path.toString('latin1'))))),
      this.#keep(oddIds),
    ]);
    let sizeBytes = raw.length;
    for (const { path, content } of changes)
      sizeBytes += path.byteLength + (Buffer.isBuffer(content) ? content.length : 0);
    return {
      landing: { ...describe(raw), changes, raw, gitId: id },
      keptObjects,
      flaggedPaths: flag(found),
      malformed: malformedOf([{ id, type: 'commit', content: raw }, ...keptObjects]),
      sizeBytes,
    };
  }

  async #keep(oddIds: readonly string[]): Promise<readonly GitObject[]> {
    const kept = await Promise.all(oddIds.map((id) => this.#reader.read(id)));
    const lost = kept.flatMap(({ content }) => splitEntries(parseTree(content).entries).placeless);
    const ids = lost.filter(({ mode }) => !isGitlink(mode)).map(({ id }) => id);
    for await (const object of objectsBehind(this.#reader, ids)) kept.push(object);
    return kept;
  }

  async #withContent({ path, mode, id, oldId }: TreeChange, source: TreeChange | undefined): Promise<GitChange> {
    const moved = source === undefined ? {} : { movedFrom: source.path };
    const change = { path, mode, id, oldId: oldId ?? source?.oldId, ...moved };
    if (id === undefined) return { ...change, content: undefined };
    if (mode === 'gitlink') return { ...change, content: Buffer.from(id, 'latin1') };
    return { ...change, content: this.#intake.known(id) ?? (await this.#blobs.get(id)) };
  }

  /** Raw bytes and tree of a commit; the last ones are remembered, for their children. */
  #commit(id: string): Promise<{ readonly raw: Buffer; readonly tree: string }> {
    const known = this.#raws.get(id);
    if (known) return known;
    const commit = this.#reader.content(id, 'commit').then((raw) => {
      const { tree } = parseCommit(raw);
      if (tree === undefined) throw new MoundError('object-damaged', `git commit ${id} names no tree`, { id });
      return { raw, tree };
    });
    this.#raws.set(id, commit);
    if (this.#raws.size > 2048) {
      for (const oldest of this.#raws.keys()) {
        this.#raws.delete(oldest);
        break;
      }
    }
    return commit;
  }
}

const flag = (changes: readonly TreeChange[]): string[] =>
  changes
    .filter(({ id, oldId }) => id !== undefined && oldId === undefined)
    .map(({ path }) => pathOfBytes(path))
    .filter((path) => isPathFault(parsePath(path)));

function describe(raw: Buffer): Pick<GitLanding, 'author' | 'message' | 'time'> {
  const { authorLine, committerLine, encoding, message } = parseCommit(raw);
  const author = parseIdentity(authorLine, encoding);
  const seconds = parseIdentity(committerLine, encoding).time ?? author.time ?? 0;
  return {
    author: { name: author.name, kind: 'human', email: author.email },
    message: decodeText(message ?? Buffer.alloc(0), encoding),
    time: Math.min(seconds * 1000, Number.MAX_SAFE_INTEGER),
  };
}
