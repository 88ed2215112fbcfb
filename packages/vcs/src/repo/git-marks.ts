import type { Seq } from '../core/ids.ts';
import { seqKey } from '../format/keys.ts';
import type { Lander } from '../land/lander.ts';
import type { Store } from '../store/store.ts';
import type { GitMarks } from './api.ts';

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
