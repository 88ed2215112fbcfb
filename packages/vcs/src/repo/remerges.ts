import type { RepoPath } from '../core/ids.ts';
import type { Outcome } from '../core/outcome.ts';
import type { Target } from '../log/version.ts';
import { reject } from '../intent/reject.ts';
import type { Lander } from '../land/lander.ts';
import { noExtras } from '../land/prepared.ts';
import type { LogReader } from '../log/log-reader.ts';
import type { Conflicts, OpenConflict } from '../views/conflicts.ts';

const isSame = (a: Target | undefined, b: Target | undefined): boolean => a?.blob === b?.blob && a?.mode === b?.mode;

/**
 * Kept intents of open conflicts, decided again as they were asked: on demand,
 * and by themselves once every conflicted path holds what the intent wanted
 * there, whoever brought it.
 */
export class Remerges {
  private readonly reader: LogReader;
  private readonly lander: Lander;
  private readonly conflicts: Conflicts;

  constructor(reader: LogReader, lander: Lander, conflicts: Conflicts) {
    this.reader = reader;
    this.lander = lander;
    this.conflicts = conflicts;
  }

  /** Lands the kept intent of a conflict where its sides merge by now. Errors: `no-such-conflict`. */
  async remerge(id: string): Promise<Outcome> {
    this.reader.refresh();
    const open = this.conflicts.get(id);
    if (open.closedBy === 0) return this.again(open);
    return reject('no-such-conflict', `conflict ${id} is not open`, "list the open ones with 'mound conflicts'");
  }

  /** The operation id led to the conflict: `outcome` finds what became of it from there. */
  private again({ entry, kept }: OpenConflict): Promise<Outcome> {
    const extras = { ...noExtras, resolves: entry.seq, ending: 'remerge' } as const;
    return this.lander.land({ ...kept, operationId: undefined }, extras);
  }

  private isMet({ entry, closedBy }: OpenConflict): boolean {
    if (closedBy !== 0) return false;
    return entry.paths.every(({ path, incoming }) => {
      const pathId = this.reader.getPathId(path as RepoPath);
      const head = pathId === undefined ? undefined : this.reader.heads.get(entry.branchId, pathId);
      return isSame(head?.target, incoming);
    });
  }

  /** Ends those whose sides are the same by now; what else their intents hold lands, or they stay open. */
  readonly closeMet = async (seqs: readonly number[]): Promise<void> => {
    this.reader.refresh();
    const met = seqs.map((seq) => this.conflicts.get(`c${seq}`)).filter((open) => this.isMet(open));
    if (met.length > 0) this.reader.store.steps.reach('sides-met');
    // One that cannot be decided now stays open, and keeps nobody else from going on.
    await Promise.allSettled(met.map((open) => this.again(open)));
  };

  /** The same for all: whoever landed what an incoming side is may have died before it came to this. */
  async closeAllMet(): Promise<void> {
    const { store } = this.reader;
    if (store.isReadOnly || store.counters.conflictsOpen === 0) return;
    const seqs = new Set<number>();
    for (const value of store.tables.conflictSides.getRange({}).map((row) => row.value)) {
      for (let at = 0; at < value.length; at += 6) seqs.add(value.readUIntBE(at, 6));
    }
    await this.closeMet([...seqs]);
  }
}
