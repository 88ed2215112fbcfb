import type { Outcome, Repo } from '@mound/vcs';
import type { Halt } from '../../agent/agent.ts';
import { isUnlimited, type Amount } from '../../core/amount.ts';
import type { AgentId, TaskId } from '../../core/ids.ts';
import type { RunEndReason, SwarmEvent } from '../../events/event.ts';
import type { BudgetNode, Shortage } from '../../state/budget.ts';
import type { SwarmState } from '../../state/state.ts';
import type { BudgetBook, Draws, Settlement, SettlementStep } from '../budget-book.ts';
import type { Desk } from '../desk.ts';
import type { RunKeys } from '../run-keys.ts';
import type { Ask, FromHand, Notice, ToHand } from './messages.ts';

/** The way to the first process: what happens goes there in its order, several things in one message. */
export class Line {
  readonly #send: (items: readonly FromHand[]) => void;
  readonly #asked = new Map<number, { resolve: (value: unknown) => void; reject: (error: Error) => void }>();
  #items: FromHand[] = [];
  #count = 0;

  constructor(send: (items: readonly FromHand[]) => void) {
    this.#send = send;
  }

  post(item: FromHand): void {
    this.#items.push(item);
    if (this.#items.length === 1) setImmediate(() => this.flush());
  }

  flush(): void {
    const items = this.#items;
    this.#items = [];
    if (items.length > 0) this.#send(items);
  }

  ask(ask: Ask): Promise<unknown> {
    const id = ++this.#count;
    return new Promise((resolve, reject) => {
      this.#asked.set(id, { resolve, reject });
      this.post({ kind: 'ask', id, ask });
    });
  }

  answer({ id, value, error }: Extract<ToHand, { kind: 'answer' }>): void {
    const asked = this.#asked.get(id);
    this.#asked.delete(id);
    if (error === undefined) asked?.resolve(value);
    else asked?.reject(new Error(error));
  }
}

interface Held {
  readonly agent: AgentId;
  readonly attempts: number;
  goesOn: boolean;
}

/** What stands for the swarm in one of its other processes. */
export class RemoteDesk implements Desk {
  readonly #line: Line;
  readonly #held = new Map<TaskId, Held>();
  readonly #controllers = new Map<AgentId, AbortController>();
  readonly #notices = new Map<TaskId, Notice[]>();
  #phase: SwarmState['phase'] = 'running';
  #waiting: (() => void)[] = [];
  isResumed = false;

  constructor(line: Line) {
    this.#line = line;
  }

  /** An agent begins here. */
  begin({ agent, task, attempts, goesOn, isResumed }: Extract<ToHand, { kind: 'work' }>): AbortSignal {
    this.isResumed = isResumed;
    this.#held.set(task.id, { agent, attempts, goesOn });
    const controller = new AbortController();
    this.#controllers.set(agent, controller);
    return controller.signal;
  }

  end(agent: AgentId, task: TaskId): void {
    this.#controllers.delete(agent);
    if (this.#held.get(task)?.agent === agent) this.#held.delete(task);
  }

  get isIdle(): boolean {
    return this.#controllers.size === 0;
  }

  get isStopping(): boolean {
    return this.#phase === 'stopping' || this.#phase === 'ended';
  }

  setPhase(phase: SwarmState['phase']): void {
    this.#phase = phase;
    if (phase === 'paused') return;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const go of waiting) go();
  }

  dispatch(event: SwarmEvent): void {
    if (event.kind === 'task.reopened') this.#held.delete(event.task);
    this.#line.post({ kind: 'event', event });
  }

  attemptsOf(task: TaskId): number {
    return this.#held.get(task)?.attempts ?? 0;
  }

  isHolder(task: TaskId, agent: AgentId): boolean {
    return this.#held.get(task)?.agent === agent;
  }

  goesOn(task: TaskId): boolean {
    const held = this.#held.get(task);
    if (held?.goesOn !== true) return false;
    held.goesOn = false;
    return true;
  }

  async gate(): Promise<Halt | undefined> {
    while (this.#phase === 'paused') await new Promise<void>((resolve) => this.#waiting.push(resolve));
    return this.isStopping ? { reason: 'stopped' } : undefined;
  }

  notify(notice: Notice): void {
    this.#notices.set(notice.task, [...(this.#notices.get(notice.task) ?? []), notice]);
  }

  takeNotices(task: TaskId): readonly string[] {
    const notices = this.#notices.get(task);
    if (notices === undefined) return [];
    this.#notices.delete(task);
    for (const { id } of notices) this.#line.post({ kind: 'told', notice: id });
    return notices.map(({ text }) => text);
  }

  stop(reason: RunEndReason, how: 'turns' | 'now', detail?: string): void {
    this.#line.post({ kind: 'stop', reason, how, ...(detail !== undefined && { detail }) });
  }

  abortAgent(agent: AgentId): void {
    this.#controllers.get(agent)?.abort();
  }

  /** The first process is gone: nobody is asked any more. */
  abortAll(): void {
    this.setPhase('stopping');
    for (const controller of this.#controllers.values()) controller.abort();
  }
}

/** One budget tree for all processes: what is bounded is asked of the first. */
export class RemoteDraws implements Draws {
  readonly #line: Line;
  readonly #repo: Repo;
  readonly #keys: RunKeys;
  readonly #own: BudgetBook;
  /** Bounds do not change while a process lives. */
  readonly #nodes = new Map<TaskId, BudgetNode | undefined>();

  constructor(line: Line, repo: Repo, keys: RunKeys, own: BudgetBook) {
    this.#line = line;
    this.#repo = repo;
    this.#keys = keys;
    this.#own = own;
  }

  node(id: TaskId): BudgetNode | undefined {
    if (this.#nodes.has(id)) return this.#nodes.get(id);
    const head = this.#repo.snapshot().record(this.#keys.budget(id));
    const node = head && (JSON.parse(head.value.toString('utf8')) as BudgetNode);
    if (node !== undefined) this.#nodes.set(id, node);
    return node;
  }

  isFree(id: TaskId): boolean {
    const node = this.node(id);
    return node === undefined || isUnlimited(node.cap);
  }

  hold(draws: TaskId, amount: Amount): Shortage | undefined | Promise<Shortage | undefined> {
    if (this.isFree(draws)) return undefined;
    return this.#line.ask({ kind: 'hold', draws, amount }) as Promise<Shortage | undefined>;
  }

  release(draws: TaskId, held: Amount, spent: Amount): void {
    if (!this.isFree(draws)) this.#line.post({ kind: 'release', draws, held, spent });
  }

  settle(at: Settlement, step: SettlementStep): Promise<Outcome | Shortage> {
    const isFree = at.ended === undefined && at.draws.every((id) => this.isFree(id));
    if (isFree) return this.#own.settle(at, step);
    return this.#line.ask({ kind: 'settle', at, step }) as Promise<Outcome | Shortage>;
  }
}
