import { join } from 'node:path';
import type { CommitOperation } from '../../workloads/operation.ts';
import { commitSubjects } from '../../subjects/index.ts';
import { measureSubject } from '../../subjects/measure-subject.ts';
import type { GitHistory } from './source.ts';

export interface PeerRate {
  readonly subject: string;
  /** Absent where the subject is missing on this machine. */
  readonly commitsPerSecond?: number;
  readonly missing?: string;
}

/** Ways of git that make each commit durable, as an agent would use them. */
const peerNames = ['git-plumbing', 'git-porcelain'];
const budgetMs = 4_000;
const commitsMax = 300;

/** The history's own commits as operations; those with a gitlink are left out, which no peer here can write. */
async function operationsOf(history: GitHistory): Promise<CommitOperation[]> {
  const commits = await history.read(0, Math.min(commitsMax, history.commits.length));
  const operations: CommitOperation[] = [];
  for (const [at, commit] of commits.entries()) {
    if (commit.changes.length === 0 || commit.changes.some(({ mode }) => mode === 'gitlink')) continue;
    const changes = await Promise.all(
      commit.changes.map(async (change) => ({
        path: change.path,
        content: (await history.content(change)) ?? null,
        mode: change.mode as 'file' | 'executable' | 'symlink',
      })),
    );
    const { subject, id } = commit;
    operations.push({ id: `peer-${at}`, agent: 'peer', message: subject || '(no subject)', rationale: id, changes });
  }
  return operations;
}

/** git making the same commits, one after another, each flushed, for a few seconds. */
export async function measurePeers(history: GitHistory, dir: string, signal: AbortSignal): Promise<PeerRate[]> {
  const operations = await operationsOf(history);
  const rates: PeerRate[] = [];
  for (const subject of commitSubjects.filter(({ name }) => peerNames.includes(name))) {
    const run = {
      files: new Map<string, Buffer>(),
      operations,
      dir: join(dir, subject.name),
      inFlight: 1,
      budgetMs,
      signal,
    };
    const finding = await measureSubject(subject, run);
    if ('missing' in finding) rates.push({ subject: subject.name, missing: finding.missing });
    else if (finding.faults.length > 0) throw new Error(`${subject.name} lost a commit: ${finding.faults[0] ?? ''}`);
    else rates.push({ subject: subject.name, commitsPerSecond: finding.commitsPerSecond });
  }
  return rates;
}
