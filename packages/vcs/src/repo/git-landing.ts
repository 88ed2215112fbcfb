import type { CommitId, Seq } from '../core/ids.ts';
import { any } from '../core/intent.ts';
import { invariant } from '../core/errors.ts';
import { pathOfBytes } from '../core/path.ts';
import { seqKey } from '../format/keys.ts';
import type { AdmittedIntent, Edit } from '../intent/edit.ts';
import type { Lander } from '../land/lander.ts';
import { noExtras } from '../land/prepared.ts';
import type { Store } from '../store/store.ts';
import type { GitLanding, GitMarks } from './api.ts';

/** An imported commit says what happened elsewhere: it overwrites, and takes names as they are. */
export async function landGit(
  lander: Lander,
  landing: GitLanding,
): Promise<{ readonly seq: Seq; readonly commit: CommitId }> {
  const edits = landing.changes.map((change): Edit => {
    const path = pathOfBytes(change.path);
    if (change.content === null) return { kind: 'delete', path, expect: any };
    return { kind: 'put', path, expect: any, content: Buffer.from(change.content), mode: change.mode };
  });
  const admitted: AdmittedIntent = {
    branch: landing.branch,
    author: landing.author,
    message: landing.message,
    rationale: undefined,
    task: undefined,
    breakage: undefined,
    edits,
    records: [],
    reads: [],
    operationId: undefined,
    onStale: 'reject',
    onStaleRead: 'record',
    mergedSeq: 0,
    replaces: 0,
  };
  const { raw, gitId: id, time, extraParents } = landing;
  const outcome = await lander.land(admitted, { ...noExtras, git: { raw, id, time, extraParents } });
  invariant(outcome.kind === 'landed' && outcome.commit !== undefined, `imported commit ${id} lands (${outcome.kind})`);
  return { seq: outcome.seq, commit: outcome.commit };
}

export class StoreGitMarks implements GitMarks {
  private readonly store: Store;
  private readonly lander: Lander;

  constructor(store: Store, lander: Lander) {
    this.store = store;
    this.lander = lander;
  }

  seqOf(gitId: string): Seq | undefined {
    return this.store.tables.seqByGit.getBinary(Buffer.from(gitId, 'hex'))?.readUIntBE(0, 6) as Seq | undefined;
  }

  gitIdOf(seq: number): string | undefined {
    return this.store.tables.gitBySeq.getBinary(seqKey(seq))?.toString('hex');
  }

  async add(pairs: readonly { readonly seq: number; readonly gitId: string }[]): Promise<void> {
    await this.lander.act(() => {
      for (const { seq, gitId } of pairs) {
        const id = Buffer.from(gitId, 'hex');
        this.store.put('gitBySeq', seqKey(seq), id);
        this.store.put('seqByGit', id, seqKey(seq));
      }
    });
  }
}
