import { slotsOf } from './slots.js';

/** What a process wrote to its log, in the order in which it happened there. Times are in ns of one clock. */
export type Line =
  | {
      readonly kind: 'read';
      readonly path: string;
      readonly version: string | number;
      readonly text: string;
      readonly begun: number;
    }
  | {
      readonly kind: 'begun';
      readonly id: string;
      readonly slot: number;
      readonly paths: readonly string[];
      readonly begun: number;
    }
  | { readonly kind: 'acknowledged'; readonly id: string; readonly order?: number; readonly ended: number }
  | { readonly kind: 'refused'; readonly id: string; readonly ended: number };

/** One landing as the subject's history has it. */
export interface Landing {
  readonly id: string;
  readonly version: string;
  readonly parents: readonly string[];
  /** What the acknowledgement said, where the subject says something. */
  readonly order?: number;
  readonly changes: readonly { readonly path: string; readonly text: string; readonly previous?: number }[];
}

export interface Observed {
  readonly lines: readonly Line[];
  /** Oldest first; the first one made the files. */
  readonly history: readonly Landing[];
  /** At the branch's head. */
  readonly files: ReadonlyMap<string, string>;
  /** Number of slots in each file, and what fills each file between them. */
  readonly slots: number;
  readonly fillers: ReadonlyMap<string, string>;
}

export interface Verdict {
  readonly acknowledged: number;
  readonly refused: number;
  readonly reads: number;
  /** Acknowledged intents that the history does not hold. */
  readonly lost: readonly string[];
  /** Landed, though nobody lived to be told. */
  readonly unknown: readonly string[];
  /** Whatever else is wrong. */
  readonly faults: readonly string[];
}

/** The largest position told before a time, for any time. */
class ToldBefore {
  private readonly times: number[] = [];
  private readonly positions: number[] = [];

  constructor(told: readonly { readonly at: number; readonly position: number }[]) {
    for (const { at, position } of told.toSorted((a, b) => a.at - b.at)) {
      this.times.push(at);
      this.positions.push(Math.max(position, this.positions.at(-1) ?? -1));
    }
  }

  position(time: number): number {
    let low = 0;
    let high = this.times.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.times[middle] ?? 0) < time) low = middle + 1;
      else high = middle;
    }
    return this.positions[low - 1] ?? -1;
  }
}

/**
 * Judges what several processes were told against the history that is there:
 * every acknowledgement is in it, once, in an order that agrees with real time;
 * nothing else is but what a killed process had begun; the commits are one
 * chain, each file's versions another without a gap, and each landing changed
 * its own line alone; what was read was written, and was not older than what
 * had been acknowledged.
 */
export class Judge {
  private readonly faults: string[] = [];
  private readonly observed: Observed;
  private readonly positions = new Map<string, number>();
  /** Text of each path at each of its positions. */
  private readonly texts = new Map<string, Map<number, string>>();

  constructor(observed: Observed) {
    this.observed = observed;
  }

  judge(): Verdict {
    const { lines, history } = this.observed;
    for (const [position, { id }] of history.entries()) {
      if (this.positions.has(id)) this.faults.push(`${id} landed twice`);
      this.positions.set(id, position);
    }
    const begun = new Map(lines.flatMap((line) => (line.kind === 'begun' ? [[line.id, line]] : [])));
    const acknowledged = lines.filter((line) => line.kind === 'acknowledged');
    const refused = lines.filter((line) => line.kind === 'refused');
    const answered = new Set([...acknowledged, ...refused].map(({ id }) => id));
    for (const { id } of refused) if (this.positions.has(id)) this.faults.push(`${id} was refused and landed`);
    for (const { id } of history.slice(1)) if (!begun.has(id)) this.faults.push(`${id} landed and was never asked for`);
    this.chains(begun);
    this.order(lines);
    this.reads(lines);
    return {
      acknowledged: acknowledged.length,
      refused: refused.length,
      reads: lines.filter(({ kind }) => kind === 'read').length,
      lost: acknowledged.filter(({ id }) => !this.positions.has(id)).map(({ id }) => id),
      unknown: history.slice(1).flatMap(({ id }) => (answered.has(id) ? [] : [id])),
      faults: this.faults,
    };
  }

  private slotsOf(path: string, text: string): string[] | undefined {
    const filler = this.observed.fillers.get(path);
    return filler === undefined ? undefined : slotsOf(text, this.observed.slots, filler);
  }

  /** The branch's one chain of commits, and the versions of each file. */
  private chains(begun: ReadonlyMap<string, Line & { kind: 'begun' }>): void {
    const { history, files } = this.observed;
    const newest = new Map<string, { order: number | undefined; slots: string[] | undefined }>();
    for (const [position, { id, parents, order, changes }] of history.entries()) {
      const before = history[position - 1];
      if (parents.length !== (before ? 1 : 0) || parents[0] !== before?.version) {
        this.faults.push(`${id} is no child of the landing before it`);
      }
      for (const { path, text, previous } of changes) {
        const last = newest.get(path);
        if (previous !== undefined && previous !== (last?.order ?? 0)) {
          this.faults.push(`${id} names version ${previous} of ${path} before it, not ${last?.order ?? 0}`);
        }
        const slots = this.slotsOf(path, text);
        const slot = begun.get(id)?.slot;
        if (position > 0 && !isOneStep(last?.slots, slots, slot, id)) {
          this.faults.push(`${id} changed more of ${path} than its own line`);
        }
        newest.set(path, { order, slots });
        this.textsOf(path).set(position, text);
      }
      const asked = begun.get(id)?.paths ?? changes.map(({ path }) => path);
      if (
        asked.toSorted().join() !==
        changes
          .map(({ path }) => path)
          .toSorted()
          .join()
      ) {
        this.faults.push(`${id} landed in part`);
      }
    }
    for (const [path, texts] of this.texts) {
      if (files.get(path) !== [...texts.values()].at(-1)) this.faults.push(`${path} is not its newest version`);
    }
    if (files.size !== this.texts.size) this.faults.push('the head has other files than the history');
  }

  private textsOf(path: string): Map<number, string> {
    const texts = this.texts.get(path) ?? new Map<number, string>();
    this.texts.set(path, texts);
    return texts;
  }

  /** An intent that began after another was acknowledged lands behind it. */
  private order(lines: readonly Line[]): void {
    const told = lines.flatMap((line) => {
      const position = line.kind === 'acknowledged' ? this.positions.get(line.id) : undefined;
      return line.kind === 'acknowledged' && position !== undefined ? [{ at: line.ended, position }] : [];
    });
    const before = new ToldBefore(told);
    for (const line of lines) {
      const position = 'id' in line ? this.positions.get(line.id) : undefined;
      if (position === undefined) continue;
      if (line.kind === 'begun' && before.position(line.begun) >= position) {
        this.faults.push(`${line.id} landed before what was acknowledged when it began`);
      }
      const order = this.observed.history[position]?.order;
      if (line.kind === 'acknowledged' && line.order !== order) {
        this.faults.push(`${line.id} was told ${line.order} and stands at ${order}`);
      }
    }
  }

  /** What was read was written at that version, and is as new as what had been acknowledged. */
  private reads(lines: readonly Line[]): void {
    const { history } = this.observed;
    const at = new Map<string | number, number>();
    for (const [position, { version, order }] of history.entries()) at.set(order ?? version, position);
    const told = new Map<string, ToldBefore>();
    for (const path of this.texts.keys()) told.set(path, this.toldOf(path, lines));
    for (const line of lines) {
      if (line.kind !== 'read') continue;
      const { path, version, text, begun } = line;
      const position = at.get(version);
      if (position === undefined) {
        this.faults.push(`${path} was read at ${version}, which the history does not hold`);
        continue;
      }
      const newest = [...(this.texts.get(path) ?? [])].findLast(([written]) => written <= position);
      if (newest?.[1] !== text) this.faults.push(`${path} was read at ${version} with another text than was written`);
      if ((told.get(path)?.position(begun) ?? -1) > position) {
        this.faults.push(`${path} was read at ${version}, older than what had been acknowledged`);
      }
    }
  }

  private toldOf(path: string, lines: readonly Line[]): ToldBefore {
    const texts = this.texts.get(path);
    return new ToldBefore(
      lines.flatMap((line) => {
        const position = line.kind === 'acknowledged' ? this.positions.get(line.id) : undefined;
        const isOfPath = position !== undefined && texts?.has(position) === true;
        return line.kind === 'acknowledged' && isOfPath ? [{ at: line.ended, position }] : [];
      }),
    );
  }
}

function isOneStep(
  before: readonly string[] | undefined,
  after: readonly string[] | undefined,
  slot: number | undefined,
  id: string,
): boolean {
  if (before === undefined || after === undefined || slot === undefined) return false;
  return after.every((held, at) => held === (at === slot ? id : before[at]));
}
