import { MoundError } from '../core/errors.ts';
import type { Seq } from '../core/ids.ts';
import type { Author } from '../core/intent.ts';
import { limits } from '../core/limits.ts';
import type { Clock } from '../core/ports.ts';
import { seqKey } from '../format/keys.ts';
import type { Lander } from '../land/lander.ts';
import type { LogReader } from '../log/log-reader.ts';
import type { Store } from '../store/store.ts';
import type { BranchView, TagView } from './api.ts';
import { checkSeq } from './snapshot.ts';

const systemAuthor: Author = { name: 'mound', kind: 'system' };

/** Branches and tags: names for places in the log. */
export class Branches {
  private readonly store: Store;
  private readonly reader: LogReader;
  private readonly lander: Lander;
  private readonly clock: Clock;

  constructor(reader: LogReader, lander: Lander, clock: Clock) {
    this.store = reader.store;
    this.reader = reader;
    this.lander = lander;
    this.clock = clock;
  }

  async fork(
    name: string,
    options: { readonly from?: string; readonly at?: number; readonly author?: Author } = {},
  ): Promise<BranchView> {
    checkName(name, 'branch');
    const time = this.clock.now();
    const from = options.from ?? 'main';
    // What a past seq stood on never changes, so the walk back to it needs no lock.
    const past = options.at === undefined ? undefined : this.commitSeqAsOf(from, options.at);
    return this.lander.act((writer, counters) => {
      const parent = this.reader.branchNamed(from);
      const at = options.at ?? counters.lastSeq;
      if (this.reader.getBranchId(name) !== undefined) {
        throw new MoundError('invalid-argument', `branch '${name}' exists already; choose another name`, {
          branch: name,
        });
      }
      const commitSeq = past ?? writer.branch(parent.id).commitSeq;
      const branchId = writer.addBranch({ name, parentId: parent.id, forkSeq: at, commitSeq });
      writer.append({
        kind: 'fork', time, branchId, authorId: writer.authorId(options.author ?? systemAuthor),
        name, parentId: parent.id, at,
      }); // prettier-ignore
      const commit = commitSeq === 0 ? undefined : this.reader.landing(commitSeq).commit;
      return { name, parent: parent.name, forkSeq: at, seq: Math.max(at, commitSeq), commit };
    });
  }

  private commitSeqAsOf(branch: string, seq: number): number {
    this.reader.refresh();
    checkSeq(seq, this.store.counters.lastSeq);
    let at = this.reader.branchNamed(branch).commitSeq;
    while (at > seq) at = this.reader.landing(at).parents[0] ?? 0;
    return at;
  }

  list(): BranchView[] {
    this.reader.refresh();
    const names = [...this.store.tables.branchNames.getKeys({})].map((key) => key.toString('utf8'));
    return names.map((name) => this.get(name));
  }

  get(name: string): BranchView {
    this.reader.refresh();
    const row = this.reader.branchNamed(name);
    const parent = row.parentId < 0 ? undefined : this.reader.branch(row.parentId).name;
    const commit = row.commitSeq === 0 ? undefined : this.reader.landing(row.commitSeq).commit;
    return { name, parent, forkSeq: row.forkSeq, seq: Math.max(row.forkSeq, row.commitSeq), commit };
  }

  async tag(name: string, seq: number, author: Author = systemAuthor): Promise<TagView> {
    checkName(name, 'tag');
    const time = this.clock.now();
    return this.lander.act((writer, counters) => {
      checkSeq(seq, counters.lastSeq);
      writer.append({ kind: 'tag', time, branchId: 0, authorId: writer.authorId(author), name, at: seq });
      this.store.put('tags', Buffer.from(name), seqKey(seq));
      return { name, seq: seq as Seq };
    });
  }

  tags(): TagView[] {
    this.reader.refresh();
    const tags: TagView[] = [];
    for (const { key, value } of this.store.tables.tags.getRange({})) {
      tags.push({ name: key.toString('utf8'), seq: value.readUIntBE(0, 6) as Seq });
    }
    return tags;
  }
}

/** What git refuses in a ref's name, by `git check-ref-format`. */
// oxlint-disable-next-line no-control-regex
const notInRefs = /[\u0000-\u0020\u007f~^:?*[\\]|\.\.|@\{|\/\/|^[/.]|[/.]$|\.lock$|\/\./;

/** Names of branches and tags become git refs: the same characters are refused. */
function checkName(name: string, what: string): void {
  const isRefName = name !== '' && Buffer.byteLength(name) <= limits.nameBytesMax && !notInRefs.test(name);
  if (!isRefName)
    throw new MoundError('invalid-argument', `'${name}' cannot name a ${what}; use letters, digits, - and /`, { name });
}
