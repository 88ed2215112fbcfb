import { MoundError, type Mode } from '@mound/vcs';
import {
  contentOf,
  diffCommit,
  listFirstParentCommits,
  ObjectReader,
  resolveGitDir,
  type GitCommitSummary,
} from '@mound/vcs/git';

/** One path as a commit left it; `id` undefined: deleted. */
export interface RecordedChange {
  readonly path: string;
  readonly mode: Mode;
  readonly id: string | undefined;
}

export interface RecordedCommit extends GitCommitSummary {
  readonly changes: readonly RecordedChange[];
}

/** A git history read along first parents, each commit with what it changed. */
export class GitHistory {
  readonly gitDir: string;
  readonly commits: readonly GitCommitSummary[];
  private readonly reader: ObjectReader;

  private constructor(gitDir: string, commits: readonly GitCommitSummary[], reader: ObjectReader) {
    this.gitDir = gitDir;
    this.commits = commits;
    this.reader = reader;
  }

  /** Errors: `not-a-git-repository`, `git-missing`, `git-too-old`, `no-such-commit` where there is no commit yet. */
  static async open(dir: string): Promise<GitHistory> {
    const gitDir = await resolveGitDir(dir);
    const commits = await listFirstParentCommits(gitDir, 'HEAD');
    return new GitHistory(gitDir, commits, new ObjectReader(gitDir));
  }

  /** The same history up to a number of commits; it shares the reader. */
  first(count: number): GitHistory {
    return new GitHistory(this.gitDir, this.commits.slice(0, count), this.reader);
  }

  /** Commits `from` to `to` (exclusive) with their changes. */
  async read(from: number, to: number): Promise<RecordedCommit[]> {
    return Promise.all(
      this.commits.slice(from, to).map(async (commit, at) => {
        const before = this.commits[from + at - 1]?.tree;
        const changes = await diffCommit(this.reader, before, commit.tree);
        return { ...commit, changes: changes.map((change) => recordedChange(commit.id, change)) };
      }),
    );
  }

  async content(change: Pick<RecordedChange, 'mode' | 'id'>): Promise<Buffer | undefined> {
    return change.id === undefined ? undefined : contentOf(this.reader, change.mode, change.id);
  }

  async close(): Promise<void> {
    await this.reader.close();
  }
}

type TreeChange = Awaited<ReturnType<typeof diffCommit>>[number];

function recordedChange(commit: string, { path, mode, id }: TreeChange): RecordedChange {
  const text = path.toString('utf8');
  if (!Buffer.from(text).equals(path)) {
    const shown = path.toString('latin1');
    throw new MoundError(
      'invalid-argument',
      `commit ${commit} changes '${shown}', whose name is not UTF-8; only 'mound import' takes it`,
    );
  }
  return { path: text, mode: mode ?? 'file', id };
}
