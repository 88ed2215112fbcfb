import { absent, version, type Author, type Outcome, type RecordWrite, type Repo } from '@mound/vcs';
import { addAmounts, eachDimension, isUnlimited, noAmount, type Amount, type Cap } from '../core/amount.ts';
import { rootTask, type TaskId } from '../core/ids.ts';
import {
  charge,
  openNode,
  reserve,
  settle,
  shareOf,
  shortageOf,
  type BudgetNode,
  type Shortage,
} from '../state/budget.ts';
import type { RunKeys } from './run-keys.ts';

/** What one agent's requests need of the budget tree. */
export interface Draws {
  node(id: TaskId): BudgetNode | undefined;
  isFree(id: TaskId): boolean;
  hold(id: TaskId, amount: Amount): Shortage | undefined | Promise<Shortage | undefined>;
  release(id: TaskId, held: Amount, spent: Amount): void;
  settle(at: Settlement, step: SettlementStep): Promise<Outcome | Shortage>;
}

/** What an agent has spent, on the first node of the chain that is open; `ended`: its task's own node is closed, too. */
export interface Settlement {
  readonly draws: readonly TaskId[];
  readonly spent: Amount;
  readonly ended?: OwnNode;
}

export type SettlementStep = Pick<Step, 'records' | 'author' | 'message' | 'operationId'>;

interface Kept {
  readonly node: BudgetNode;
  /** Seq of the record; 0 where there is none yet. */
  readonly version: number;
}

/** What one caller wants of the tree, together with records of its own: all of it lands, or nothing. */
interface Step {
  readonly apply: (nodes: Nodes) => Shortage | undefined;
  readonly records: readonly RecordWrite[];
  readonly author: Author;
  readonly message: string;
  readonly operationId: string | undefined;
  readonly resolve: (answer: Outcome | Shortage) => void;
  readonly reject: (error: unknown) => void;
}

/** Nodes as a step sees and changes them. */
class Nodes {
  readonly #kept: ReadonlyMap<TaskId, Kept>;
  readonly changed: Map<TaskId, BudgetNode> = new Map();

  constructor(kept: ReadonlyMap<TaskId, Kept>, changed: ReadonlyMap<TaskId, BudgetNode> = new Map()) {
    this.#kept = kept;
    this.changed = new Map(changed);
  }

  get(id: TaskId): BudgetNode | undefined {
    return this.changed.get(id) ?? this.#kept.get(id)?.node;
  }

  set(id: TaskId, node: BudgetNode): void {
    this.changed.set(id, node);
  }
}

/** A task's own node, and the one that it was reserved from. */
export interface OwnNode {
  readonly id: TaskId;
  readonly above: TaskId;
}

/** A step that lost against another process is tried again so often. */
const triesMax = 100;

/**
 * The budget tree of a run, in records. Steps wait for one another within this
 * process and go into one intent together; another process is met by
 * compare-and-swap.
 */
export class BudgetBook implements Draws {
  readonly #repo: Repo;
  readonly #keys: RunKeys;
  #kept: ReadonlyMap<TaskId, Kept> = new Map();
  /** What requests in flight may cost, by the node that they draw on. */
  readonly #held: Map<TaskId, Amount> = new Map();
  /** Spent and not yet in a record. */
  readonly #unwritten: Map<TaskId, Amount> = new Map();
  #waiting: Step[] = [];
  #isBusy = false;

  constructor(repo: Repo, keys: RunKeys) {
    this.#repo = repo;
    this.#keys = keys;
    this.reload();
  }

  reload(): void {
    const kept = new Map<TaskId, Kept>();
    const prefix = this.#keys.budget('');
    for (const { key, value, version: seq } of this.#repo.snapshot().records(prefix)) {
      const node = JSON.parse(value.toString('utf8')) as BudgetNode;
      kept.set(key.slice(prefix.length) as TaskId, { node, version: seq });
    }
    this.#kept = kept;
  }

  /** The record of the goal's own budget. */
  opening(cap: Cap): RecordWrite {
    return { key: this.#keys.budget(rootTask), expect: absent, value: JSON.stringify(openNode(cap)) };
  }

  /** New bounds for the goal at a resume: what is not named stays, as does what has been spent and reserved. */
  raise(bounds: Partial<Cap>): RecordWrite[] {
    const kept = this.#kept.get(rootTask);
    if (kept === undefined || Object.keys(bounds).length === 0) return [];
    const node: BudgetNode = { ...kept.node, cap: { ...kept.node.cap, ...bounds } };
    return [{ key: this.#keys.budget(rootTask), expect: version(kept.version), value: JSON.stringify(node) }];
  }

  node(id: TaskId): BudgetNode | undefined {
    return this.#kept.get(id)?.node;
  }

  /** True where nothing of this node is bounded: then spending on it needs no record. */
  isFree(id: TaskId): boolean {
    const node = this.node(id);
    return node === undefined || isUnlimited(node.cap);
  }

  share(id: TaskId, count: number): Cap | undefined {
    const node = this.node(id);
    return node && shareOf(node, count, this.#burden(id));
  }

  /** Holds what a request may cost; a shortage where the node does not cover it. */
  hold(id: TaskId, amount: Amount): Shortage | undefined {
    const node = this.node(id);
    const short = node && shortageOf(node, amount, this.#burden(id));
    if (short !== undefined) return short;
    this.#held.set(id, addAmounts(this.#held.get(id) ?? noAmount, amount));
    return undefined;
  }

  /** What was held is free again; what was spent counts at once, and is written at the next settlement. */
  release(id: TaskId, held: Amount, spent: Amount): void {
    const left = this.#held.get(id) ?? noAmount;
    this.#held.set(
      id,
      eachDimension((dimension) => left[dimension] - held[dimension]),
    );
    this.#unwritten.set(id, addAmounts(this.#unwritten.get(id) ?? noAmount, spent));
  }

  /** Reserves for new tasks of a planner, in one intent with `records`. */
  reserve(
    above: TaskId,
    caps: readonly (readonly [TaskId, Cap])[],
    step: Pick<Step, 'records' | 'author' | 'message' | 'operationId'>,
  ): Promise<Outcome | Shortage> {
    return this.#do(step, (nodes) => {
      for (const [id, cap] of caps) {
        const node = nodes.get(above);
        if (node === undefined) continue;
        const answer = reserve(node, cap, this.#burden(above));
        if (answer.kind === 'short') return answer;
        nodes.set(above, answer.above);
        nodes.set(id, answer.node);
      }
      return undefined;
    });
  }

  /**
   * Writes what an agent has spent, in one intent with `records`, on the first
   * node of the chain that is open; `ended`: the task's own node is closed too,
   * and its rest given back to the node above.
   */
  settle(at: Settlement, step: SettlementStep): Promise<Outcome | Shortage> {
    return this.#do(
      step,
      (nodes) => {
        const draws = at.draws.find((id) => nodes.get(id)?.state === 'open');
        const node = draws && nodes.get(draws);
        if (draws !== undefined && node !== undefined && !isUnlimited(node.cap))
          nodes.set(draws, charge(node, at.spent));
        if (at.ended === undefined) return undefined;
        const [own, above] = [nodes.get(at.ended.id), nodes.get(at.ended.above)];
        const closed = own && above && settle(above, own);
        if (closed === undefined) return undefined;
        nodes.set(at.ended.id, closed.node);
        nodes.set(at.ended.above, closed.above);
        return undefined;
      },
      () => {
        const [draws = rootTask] = at.draws;
        const left = this.#unwritten.get(draws) ?? noAmount;
        this.#unwritten.set(
          draws,
          eachDimension((dimension) => left[dimension] - at.spent[dimension]),
        );
      },
    );
  }

  #burden(id: TaskId): Amount {
    return addAmounts(this.#held.get(id) ?? noAmount, this.#unwritten.get(id) ?? noAmount);
  }

  #do(
    step: Pick<Step, 'records' | 'author' | 'message' | 'operationId'>,
    apply: Step['apply'],
    onLanded?: () => void,
  ): Promise<Outcome | Shortage> {
    return new Promise((resolve, reject) => {
      const tell = (answer: Outcome | Shortage): void => {
        if (answer.kind === 'landed') onLanded?.();
        resolve(answer);
      };
      this.#waiting.push({ ...step, apply, resolve: tell, reject });
      if (!this.#isBusy) void this.#work();
    });
  }

  async #work(): Promise<void> {
    this.#isBusy = true;
    while (this.#waiting.length > 0) {
      const steps = this.#waiting;
      this.#waiting = [];
      // One with an operation id has to be an intent of its own.
      const together = steps.filter(({ operationId }) => operationId === undefined);
      const alone = steps.filter(({ operationId }) => operationId !== undefined);
      if (together.length > 1) await this.#landTogether(together);
      else if (together.length === 1) alone.unshift(...together);
      for (const step of alone) await this.#landAlone(step);
    }
    this.#isBusy = false;
  }

  /** In one intent; again as one where another process was first. One by one only where a caller's own record stands in the way. */
  async #landTogether(steps: readonly Step[]): Promise<void> {
    let waiting = steps;
    for (let tries = 1; ; tries++) {
      const nodes = new Nodes(this.#kept);
      const taken: Step[] = [];
      for (const step of waiting) {
        const trial = new Nodes(this.#kept, nodes.changed);
        const short = step.apply(trial);
        if (short !== undefined) {
          step.resolve(short);
          continue;
        }
        for (const [id, node] of trial.changed) nodes.set(id, node);
        taken.push(step);
      }
      const [first] = taken;
      if (first === undefined) return;
      try {
        const outcome = await this.#land(nodes, taken, first);
        if (outcome.kind !== 'rejected') {
          for (const step of taken) step.resolve(outcome);
          return;
        }
        this.reload();
        const lost = outcome.code === 'record-stale' && this.#isStale(outcome.paths);
        if (!lost || tries >= triesMax) {
          // Those that were refused above have been told.
          for (const step of taken) await this.#landAlone(step);
          return;
        }
        waiting = taken;
      } catch (error) {
        for (const step of taken) step.reject(error);
        return;
      }
    }
  }

  async #landAlone(step: Step): Promise<void> {
    try {
      for (let tries = 1; ; tries++) {
        const nodes = new Nodes(this.#kept);
        const short = step.apply(nodes);
        if (short !== undefined) return step.resolve(short);
        const outcome = await this.#land(nodes, [step], step);
        const lost = outcome.kind === 'rejected' && outcome.code === 'record-stale' && this.#isStale(outcome.paths);
        if (outcome.kind === 'rejected') this.reload();
        if (!lost || tries >= triesMax) return step.resolve(outcome);
      }
    } catch (error) {
      step.reject(error);
    }
  }

  /** True where one of the tree's own records was stale, and not one that the caller brought. */
  #isStale(paths: readonly string[]): boolean {
    const prefix = this.#keys.budget('');
    return paths.some((path) => path.startsWith(prefix));
  }

  async #land(nodes: Nodes, steps: readonly Step[], named: Step): Promise<Outcome> {
    const changed = [...nodes.changed];
    const records = changed.map(([id, node]): RecordWrite => {
      const seq = this.#kept.get(id)?.version ?? 0;
      return { key: this.#keys.budget(id), expect: seq === 0 ? absent : version(seq), value: JSON.stringify(node) };
    });
    const own = steps.flatMap((step) => step.records);
    if (records.length + own.length === 0) return { kind: 'unchanged', seq: this.#repo.snapshot().seq };
    const { author, message, operationId } = named;
    const outcome = await this.#repo.land({
      author,
      message: steps.length > 1 ? `${message} and ${steps.length - 1} more` : message,
      records: [...own, ...records],
      ...(operationId !== undefined && { operationId }),
    });
    if (outcome.kind === 'landed') {
      const kept = new Map(this.#kept);
      for (const [id, node] of changed) kept.set(id, { node, version: outcome.seq });
      this.#kept = kept;
    }
    return outcome;
  }
}
