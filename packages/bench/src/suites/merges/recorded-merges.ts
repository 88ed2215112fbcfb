import { isMoundError, seededRandom, type Mode } from '@mound/vcs';
import { diffCommit, ObjectReader, resolveGitDir, type TreeChange } from '@mound/vcs/git';

import { runCommand } from '../../harness/child-process.ts';
import { throwIfInterrupted } from '../../harness/interrupt.ts';
import { gitEnvironment } from '../../subjects/git/git-repo.ts';
import type { MergeTriple } from '../../workloads/merge-triples.ts';
import { graphOf, mergeBases, type GraphCommit } from './merge-bases.ts';

/** What was found of a history, and what was left out. */
export interface MergeCounts {
  merges: number;
  /** Read, of a sample. */
  read: number;
  /** With several merge bases: git would merge those first. */
  crissCross: number;
  withoutBase: number;
  /** Files that both sides changed, of a mode other than a file's on some side, or that a side deleted. */
  otherFiles: number;
  /** The same three contents at the same path as in a merge before. */
  repeated: number;
}

interface ChangedFile {
  readonly mode: Mode;
  readonly id: string;
}

/**
 * The three-way file merges of a git history: for each merge commit with two parents
 * and one merge base every file that both parents changed, each in its own way, at
 * the same path. The repository is only read.
 */
export class RecordedMerges {
  readonly counts: MergeCounts = { merges: 0, read: 0, crissCross: 0, withoutBase: 0, otherFiles: 0, repeated: 0 };
  readonly #graph: readonly GraphCommit[];
  readonly #merges: readonly number[];
  readonly #reader: ObjectReader;
  readonly #seen = new Set<string>();

  private constructor(graph: readonly GraphCommit[], merges: readonly number[], reader: ObjectReader) {
    this.#graph = graph;
    this.#merges = merges;
    this.#reader = reader;
  }

  /** Of `mergesMax` merges drawn by `seed` where there are more. Errors: `not-a-git-repository`, `git-missing`. */
  static async open(
    dir: string,
    sample: { mergesMax: number; seed: number },
    signal: AbortSignal,
  ): Promise<RecordedMerges> {
    const gitDir = await resolveGitDir(dir);
    const args = [`--git-dir=${gitDir}`, 'log', '--all', '--topo-order', '--format=%H %T %P'];
    const log = await runCommand('git', args, { cwd: gitDir, env: gitEnvironment(), signal });
    const graph = graphOf(log.toString('latin1'));
    const merges = [...graph.keys()].filter((place) => graph[place]?.parents.length === 2);
    const drawn = draw(merges, sample.mergesMax, sample.seed);
    const recorded = new RecordedMerges(graph, drawn, new ObjectReader(gitDir));
    recorded.counts.merges = merges.length;
    return recorded;
  }

  get mergeCount(): number {
    return this.#merges.length;
  }

  /** Triples in the order of the history, newest first, `onMerge` told before each merge. */
  async *triples(signal: AbortSignal, onMerge: () => void): AsyncGenerator<MergeTriple> {
    for (const place of this.#merges) {
      throwIfInterrupted(signal);
      onMerge();
      yield* await this.#triplesOf(this.#graph[place] as GraphCommit);
    }
  }

  async close(): Promise<void> {
    await this.#reader.close();
  }

  async #triplesOf(merge: GraphCommit): Promise<MergeTriple[]> {
    this.counts.read++;
    const [first = 0, second = 0] = merge.parents;
    const [base, ...others] = mergeBases(this.#graph, first, second);
    if (others.length > 0) this.counts.crissCross++;
    else if (base === undefined) this.counts.withoutBase++;
    if (base === undefined || others.length > 0) return [];
    const [current, incoming, committed] = await Promise.all(
      [first, second]
        .map((place) => this.#changes(base, this.#graph[place]?.tree))
        .concat(this.#changes(base, merge.tree)),
    );
    const triples: MergeTriple[] = [];
    for (const [path, change] of current ?? []) {
      const other = incoming?.get(path);
      if (other === undefined || other.id === change.id || other.id === change.oldId || change.id === change.oldId)
        continue;
      triples.push(...(await this.#triple(merge.id, path, change, other, committed?.get(path))));
    }
    return triples;
  }

  async #changes(base: number, tree: string | undefined): Promise<Map<string, TreeChange>> {
    const changes = await diffCommit(this.#reader, this.#graph[base]?.tree, tree as string);
    return new Map(changes.map((change) => [change.path.toString('latin1'), change]));
  }

  async #triple(
    merge: string,
    path: string,
    current: TreeChange,
    incoming: TreeChange,
    committed: TreeChange | undefined,
  ): Promise<MergeTriple[]> {
    const base = current.oldId;
    const [currentFile, incomingFile] = [fileOf(current), fileOf(incoming)];
    if (base === undefined || currentFile === undefined || incomingFile === undefined) {
      this.counts.otherFiles++;
      return [];
    }
    const key = `${base} ${currentFile.id} ${incomingFile.id} ${path}`;
    if (this.#seen.has(key)) {
      this.counts.repeated++;
      return [];
    }
    this.#seen.add(key);
    const result = committed === undefined ? { id: base } : fileOf(committed);
    const [baseContent, currentContent, incomingContent, committedContent] = await Promise.all([
      this.#read(base),
      this.#read(currentFile.id),
      this.#read(incomingFile.id),
      result === undefined ? null : this.#read(result.id),
    ]);
    if (baseContent === undefined || currentContent === undefined || incomingContent === undefined) {
      this.counts.otherFiles++;
      return [];
    }
    return [
      {
        origin: `${merge} ${Buffer.from(path, 'latin1').toString('utf8')}`,
        path: Buffer.from(path, 'latin1').toString('utf8'),
        base: baseContent,
        current: currentContent,
        incoming: incomingContent,
        committed: committedContent ?? null,
      },
    ];
  }

  /** undefined for what is no blob (a gitlink's id) or beyond the store's bound. */
  async #read(id: string): Promise<Buffer | undefined> {
    try {
      return await this.#reader.content(id, 'blob');
    } catch (error) {
      if (isMoundError(error) && error.code !== 'git-failed') return undefined;
      throw error;
    }
  }
}

function fileOf({ mode, id }: TreeChange): ChangedFile | undefined {
  return id !== undefined && (mode === 'file' || mode === 'executable') ? { mode, id } : undefined;
}

/** `count` of them, each as likely as any other, in their order. */
function draw(all: readonly number[], count: number, seed: number): number[] {
  if (all.length <= count) return [...all];
  const random = seededRandom(seed);
  const left = [...all];
  for (let at = 0; at < count; at++) {
    const other = at + random.below(left.length - at);
    [left[at], left[other]] = [left[other] as number, left[at] as number];
  }
  return left.slice(0, count).toSorted((one, other) => one - other);
}
