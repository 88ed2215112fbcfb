import { walkCommits } from './commit-graph.ts';
import { decodeText, parseCommit, parseIdentity } from './commit-object.ts';
import { runGit } from './git-command.ts';
import { resolveGitDir } from './git-dir.ts';
import { ObjectReader } from './object-reader.ts';
import { MoundError } from '../core/errors.ts';

/** One commit of a git history, as a replay needs it. */
export interface GitCommitSummary {
  readonly id: string;
  readonly parents: readonly string[];
  readonly tree: string;
  readonly authorName: string;
  readonly authorEmail: string;
  /** Seconds since 1970; 0 where git cannot read it. */
  readonly authorTime: number;
  /** Seconds since 1970; 0 where git cannot read it. */
  readonly committerTime: number;
  readonly subject: string;
  /** What follows the subject, without the lines between. */
  readonly body: string;
}

/** The first-parent chain of a ref, oldest first. Errors: `not-a-git-repository`, `no-such-commit`. */
export async function listFirstParentCommits(gitDir: string, ref: string): Promise<GitCommitSummary[]> {
  const dir = await resolveGitDir(gitDir);
  const asked = ['rev-parse', '--verify', '-q', '--end-of-options', `${ref}^{commit}`];
  const { code, stdout } = await runGit(asked, { gitDir: dir, okCodes: [0, 1, 128] });
  if (code !== 0) throw new MoundError('no-such-commit', `git has no commit '${ref}'`, { ref });
  const tip = /[0-9a-f]{40}/.exec(stdout.toString('latin1'))?.[0] ?? '';
  const reader = new ObjectReader(dir);
  const pending: Promise<GitCommitSummary>[] = [];
  try {
    for await (const { id, parents } of walkCommits(dir, [tip], [], { isFirstParentOnly: true })) {
      const summary = reader.content(id, 'commit').then((raw) => summarise(id, parents, raw));
      summary.catch(() => undefined);
      pending.push(summary);
    }
    return await Promise.all(pending);
  } finally {
    await reader.close();
  }
}

function summarise(id: string, parents: readonly string[], raw: Buffer): GitCommitSummary {
  const commit = parseCommit(raw);
  const author = parseIdentity(commit.authorLine, commit.encoding);
  const message = decodeText(commit.message ?? Buffer.alloc(0), commit.encoding).replace(/^\n+/, '');
  const [subject = '', ...rest] = message.split(/\n\n+/);
  return {
    id,
    parents,
    tree: commit.tree ?? '',
    authorName: author.name,
    authorEmail: author.email,
    authorTime: author.time ?? 0,
    committerTime: parseIdentity(commit.committerLine, commit.encoding).time ?? 0,
    subject: subject.trim().replaceAll('\n', ' '),
    body: rest.join('\n\n').trimEnd(),
  };
}
