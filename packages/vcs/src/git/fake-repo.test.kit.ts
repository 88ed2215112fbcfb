import { createHash } from 'node:crypto';
import { MoundError } from '../core/errors.ts';
import type { BlobId, CommitId, RepoPath, Seq } from '../core/ids.ts';
import type { Intent } from '../core/intent.ts';
import type { Mode } from '../core/mode.ts';
import { bytesOfPath, pathOfBytes } from '../core/path.ts';
import type {
  BranchView,
  FileHead,
  GitIntake,
  GitLanding,
  GitMarks,
  RecordHead,
  Repo,
  Snapshot,
  TagView,
} from '../repo/api.ts';
import type { CommitView } from '../views/types.ts';

interface Version {
  readonly seq: number;
  readonly content: Buffer | undefined;
  readonly mode: Mode;
}

interface Branch {
  readonly name: string;
  readonly parent: string | undefined;
  readonly forkSeq: number;
  readonly files: Map<string, Version[]>;
  readonly landings: CommitView[];
}

/** What this room uses of a repository. */
export type GitRepo = Pick<
  Repo,
  'branch' | 'branches' | 'commit' | 'fork' | 'gitIntake' | 'gitMarks' | 'land' | 'log' | 'snapshot' | 'tag' | 'tags'
> & { close(): Promise<void> };

const idOf = (content: Uint8Array): BlobId => createHash('sha256').update(content).digest('hex') as BlobId;
const later = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, Math.random() * 2));

/** A store in memory, stricter than the real one: it refuses what an import must never ask. */
export class FakeRepo implements GitRepo {
  readonly #branches = new Map<string, Branch>();
  readonly #commits = new Map<string | number, CommitView>();
  readonly #records = new Map<string, { readonly seq: number; readonly value: Buffer | null }[]>();
  readonly #tags = new Map<string, number>();
  readonly #seqs = new Map<string, Seq>();
  readonly #gitIds = new Map<number, string>();
  #seq = 0;
  /** Landings after which the store dies, for tests of a kill. */
  landingsLeft = Number.MAX_SAFE_INTEGER;
  time = Date.UTC(2024, 0, 1);

  readonly gitMarks: GitMarks = {
    seqOf: (gitId) => this.#seqs.get(gitId),
    gitIdOf: (seq) => this.#gitIds.get(seq),
    add: async (pairs) => {
      for (const { seq, gitId } of pairs) this.#mark(seq, gitId);
    },
  };

  constructor() {
    this.#branches.set('main', { name: 'main', parent: undefined, forkSeq: 0, files: new Map(), landings: [] });
  }

  async close(): Promise<void> {
    await later();
  }

  gitIntake(): GitIntake {
    let added: GitLanding[] = [];
    return {
      known: () => undefined,
      get isFull() {
        return added.length >= 3;
      },
      add: (landing) => void added.push(landing),
      land: async () => {
        for (const landing of added) this.#landGit(landing);
        added = [];
        await later();
      },
    };
  }

  #landGit(landing: GitLanding): void {
    if (this.landingsLeft-- <= 0) throw new MoundError('repo-closed', 'killed by the test');
    if (this.#seqs.has(landing.gitId)) throw new Error(`${landing.gitId} landed twice`);
    const mustSeq = (gitId: string): number => {
      const seq = this.#seqs.get(gitId);
      if (seq === undefined) throw new Error(`${gitId} has not landed`);
      return seq;
    };
    const base = landing.base === undefined ? undefined : this.commit(mustSeq(landing.base));
    if (!this.#branches.has(landing.branch)) {
      this.#seq++;
      const fork = { parent: base?.branch ?? 'main', forkSeq: base?.seq ?? 0 };
      this.#branches.set(landing.branch, { name: landing.branch, ...fork, files: new Map(), landings: [] });
    }
    const branch = this.#must(landing.branch);
    if (this.#headOf(branch)?.seq !== base?.seq) throw new Error(`${landing.branch} is not at ${landing.base}`);
    const parents = [...landing.parents].map((gitId) => this.commit(mustSeq(gitId)));
    const own = parents.findIndex((parent) => parent.seq === base?.seq);
    if (own >= 0) parents.splice(own, 1);
    const view = this.#append(branch, {
      author: landing.author,
      message: landing.message,
      time: landing.time,
      parents: [base, ...parents].map((parent) => parent?.commit).filter((commit) => commit !== undefined),
      gitRaw: Buffer.from(landing.raw),
      changes: landing.changes.map(({ path, content, mode }) => ({
        path: pathOfBytes(path),
        content: Buffer.isBuffer(content) ? content : undefined,
        mode: mode ?? 'file',
      })),
    });
    this.#mark(view.seq, landing.gitId);
  }

  async land(intent: Intent): ReturnType<Repo['land']> {
    const branch = this.#must(intent.branch ?? 'main');
    if ((intent.changes ?? []).length === 0) this.#seq++;
    for (const { key, value } of intent.records ?? []) {
      const history = this.#records.get(key) ?? [];
      history.push({ seq: this.#seq, value: value === null ? null : Buffer.from(value) });
      this.#records.set(key, history);
    }
    await later();
    if (!intent.changes?.length) return { kind: 'landed', seq: this.#seq as Seq, commit: undefined };
    const head = this.#headOf(branch)?.commit;
    const view = this.#append(branch, {
      ...intent,
      time: this.time++,
      parents: head === undefined ? [] : [head],
      changes: intent.changes.map((change) => ({
        path: change.path as RepoPath,
        content: change.kind === 'put' ? Buffer.from(change.content ?? '') : undefined,
        mode: change.kind === 'put' ? (change.mode ?? 'file') : 'file',
      })),
    });
    return { kind: 'landed', seq: view.seq, commit: view.commit };
  }

  #append(
    branch: Branch,
    landing: Pick<CommitView, 'author' | 'message' | 'time' | 'parents'> &
      Partial<Pick<CommitView, 'gitRaw' | 'task' | 'rationale' | 'operationId'>> & {
        readonly changes: readonly {
          readonly path: RepoPath;
          readonly content: Buffer | undefined;
          readonly mode: Mode;
        }[];
      },
  ): CommitView {
    const seq = ++this.#seq as Seq;
    const changes = landing.changes.map(({ path, content, mode }) => {
      const previous = this.#find(branch, path, seq - 1)?.seq ?? 0;
      const history = branch.files.get(path) ?? [];
      history.push({ seq, content, mode });
      branch.files.set(path, history);
      return { path, previous, blob: content && idOf(content), mode: content && mode };
    });
    const { author, message, time, parents, gitRaw, task, rationale, operationId } = landing;
    const view: CommitView = {
      seq,
      commit: createHash('sha256').update(`commit ${seq}`).digest('hex') as CommitId,
      parents,
      branch: branch.name,
      author,
      coAuthors: [],
      time,
      message,
      changes,
      ...(gitRaw && { gitRaw }),
      ...(task !== undefined && { task }),
      ...(rationale !== undefined && { rationale }),
      ...(operationId !== undefined && { operationId }),
    };
    branch.landings.push(view);
    this.#commits.set(seq, view).set(view.commit as string, view);
    return view;
  }

  async fork(name: string, options: { readonly from?: string; readonly at?: number } = {}): Promise<BranchView> {
    if (this.#branches.has(name)) throw new Error(`branch ${name} exists`);
    const from = this.#must(options.from ?? 'main');
    const forkSeq = options.at ?? this.#seq;
    if (forkSeq > this.#seq) throw new MoundError('no-such-seq', `no seq ${forkSeq}`);
    this.#seq++;
    this.#branches.set(name, { name, parent: from.name, forkSeq, files: new Map(), landings: [] });
    await later();
    return this.branch(name);
  }

  branches(): BranchView[] {
    return [...this.#branches.keys()].map((name) => this.branch(name));
  }

  branch(name: string): BranchView {
    const branch = this.#must(name);
    const { parent, forkSeq } = branch;
    return { name, parent, forkSeq, seq: branch.landings.at(-1)?.seq ?? forkSeq, commit: this.#headOf(branch)?.commit };
  }

  commit(idOrSeq: string | number): CommitView {
    const view = this.#commits.get(idOrSeq);
    if (!view) throw new MoundError('no-such-commit', `no commit ${idOrSeq}`);
    return view;
  }

  *log(options: { readonly branch?: string; readonly from?: number } = {}): Generator<CommitView> {
    const { landings } = this.#must(options.branch ?? 'main');
    for (const view of landings.toReversed()) if (view.seq <= (options.from ?? this.#seq)) yield view;
  }

  async tag(name: string, seq: number): Promise<TagView> {
    this.#seq++;
    this.#tags.set(name, seq);
    await later();
    return { name, seq: seq as Seq };
  }

  tags(): TagView[] {
    return [...this.#tags].map(([name, seq]) => ({ name, seq: seq as Seq }));
  }

  snapshot(at?: number, branchName = 'main'): Snapshot {
    const seq = (at ?? this.#seq) as Seq;
    const branch = this.#must(branchName);
    const read = (path: string): Buffer | undefined => this.#find(branch, path, seq)?.content;
    const record = (key: string): RecordHead | undefined => {
      const last = this.#records.get(key)?.findLast((entry) => entry.seq <= seq);
      return last?.value ? { key, version: last.seq as Seq, objects: [], value: last.value } : undefined;
    };
    const records = (prefix = ''): RecordHead[] =>
      [...this.#records.keys()]
        .filter((key) => key.startsWith(prefix))
        .map(record)
        .filter((head) => head !== undefined);
    const list = (): FileHead[] => this.#list(branch, seq);
    const head = (path: string): FileHead | undefined => list().find((file) => file.path === path);
    const readText = (path: string): string | undefined => read(path)?.toString();
    const untold = { redirects: () => [], whereabouts: () => undefined };
    return { branch: branchName, seq, durableSeq: seq, head, read, readText, list, record, records, ...untold };
  }

  #list(branch: Branch, seq: number): FileHead[] {
    const paths = new Set<string>();
    for (let at: Branch | undefined = branch; at; at = this.#branches.get(at.parent ?? '')) {
      for (const path of at.files.keys()) paths.add(path);
    }
    const heads: FileHead[] = [];
    for (const path of [...paths].toSorted((a, b) => bytesOfPath(a as RepoPath).compare(bytesOfPath(b as RepoPath)))) {
      const found = this.#find(branch, path, seq);
      if (!found?.content) continue;
      const { content, mode } = found;
      heads.push({
        path: path as RepoPath,
        version: found.seq as Seq,
        blob: idOf(content),
        mode,
        size: content.length,
      });
    }
    return heads;
  }

  #find(branch: Branch, path: string, seq: number): Version | undefined {
    const found = branch.files.get(path)?.findLast((entry) => entry.seq <= seq);
    if (found || branch.parent === undefined) return found;
    return this.#find(this.#must(branch.parent), path, Math.min(seq, branch.forkSeq));
  }

  #headOf(branch: Branch, upTo = Number.MAX_SAFE_INTEGER): CommitView | undefined {
    const own = branch.landings.findLast(({ seq }) => seq <= upTo);
    if (own || branch.parent === undefined) return own;
    return this.#headOf(this.#must(branch.parent), Math.min(upTo, branch.forkSeq));
  }

  #must(name: string): Branch {
    const branch = this.#branches.get(name);
    if (!branch) throw new MoundError('no-such-branch', `no branch ${name}`);
    return branch;
  }

  #mark(seq: number, gitId: string): void {
    this.#seqs.set(gitId, seq as Seq);
    this.#gitIds.set(seq, gitId);
  }
}
