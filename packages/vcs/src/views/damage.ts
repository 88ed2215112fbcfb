import type { CommitId } from '../core/ids.ts';
import type { Place } from '../format/entry.ts';
import type { LogReader } from '../log/log-reader.ts';

/** Commits listed for one damaged object. */
const commitsMax = 20;

interface Root {
  readonly commits: CommitId[];
  count: number;
}

const keyOf = ({ seq, index }: Place): string => `${seq}/${index}`;

/**
 * What depends on damaged objects: bases stand before what is written against
 * them, so one walk of the log finds every version whose bytes run through one.
 */
export class Damage {
  private readonly roots = new Map<string, Root>();
  private readonly entries = new Set<number>();
  private readonly beneath = new Set<string>();

  get isAny(): boolean {
    return this.roots.size > 0;
  }

  /** Whether a log entry itself cannot be read. */
  get isInLog(): boolean {
    return this.entries.size > 0;
  }

  /** A version whose own bytes cannot be read. */
  addObject(place: Place): void {
    this.roots.set(keyOf(place), { commits: [], count: 0 });
  }

  /** A log entry that cannot be read: every version in it. */
  addEntry(seq: number): void {
    this.entries.add(seq);
    this.roots.set(`${seq}`, { commits: [], count: 0 });
  }

  neededBy(place: Place): { readonly count: number; readonly commits: readonly CommitId[] } | undefined {
    return this.roots.get(keyOf(place)) ?? this.roots.get(`${place.seq}`);
  }

  /** Walks the log once and counts, for each damaged object, the commits that need it. */
  count(reader: LogReader): void {
    const tainted = new Map<string, readonly Root[]>();
    const rootsAt = (place: Place): readonly Root[] => {
      const root = this.roots.get(keyOf(place));
      const entry = this.entries.has(place.seq) ? this.roots.get(`${place.seq}`) : undefined;
      return [...(root ? [root] : []), ...(entry ? [entry] : []), ...(tainted.get(keyOf(place)) ?? [])];
    };
    const { lastSeq } = reader.store.counters;
    for (let seq = 1; seq <= lastSeq; seq++) {
      if (this.entries.has(seq)) continue;
      const entry = reader.mustGetEntry(seq);
      if (entry.kind !== 'landing') continue;
      const hit = new Set<Root>();
      for (const [index, { body }] of entry.changes.entries()) {
        const through = body.base.seq === 0 ? [] : rootsAt(body.base);
        if (through.length > 0) tainted.set(keyOf({ seq, index }), through);
        for (const root of through) hit.add(root);
        const own = this.roots.get(keyOf({ seq, index }));
        if (own) hit.add(own);
      }
      for (const root of hit) {
        root.count++;
        if (entry.commit !== undefined && root.commits.length < commitsMax) root.commits.push(entry.commit);
      }
    }
  }

  /** Whether a version's base is damaged, so that it cannot be read through no fault of its own. */
  isBeneath(base: Place): boolean {
    return (
      base.seq !== 0 && (this.entries.has(base.seq) || this.roots.has(keyOf(base)) || this.beneath.has(keyOf(base)))
    );
  }

  addBeneath(place: Place): void {
    this.beneath.add(keyOf(place));
  }
}
