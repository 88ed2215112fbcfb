import { join } from 'node:path';
import type { AgentEnd } from '../../agent/agent.ts';
import { addAmounts, eachDimension, noAmount, type Amount } from '../../core/amount.ts';
import type { AgentId, TaskId } from '../../core/ids.ts';
import type { JsonValue } from '../../core/json.ts';
import { noUsage } from '../../core/usage.ts';
import type { SwarmState } from '../../state/state.ts';
import type { CommandSettings } from '../command-room.ts';
import type { Desk } from '../desk.ts';
import { restoreTasks, settleLost } from '../restore.ts';
import type { RunContext } from '../run-context.ts';
import { Hand } from './hand.ts';
import type { Ask, FromHand, HandStart } from './messages.ts';

/** How the agents of a run spread over processes. */
export interface ProcessesOptions {
  /** In all, this one included. */
  readonly count: number;
  /** Path of a module whose export `makeHand` is a {@link HandModule}: each process has models of its own. */
  readonly module: string;
  /** Handed to it. */
  readonly options: JsonValue;
}

const negated = (amount: Amount): Amount => eachDimension((dimension) => -amount[dimension]);

/** Deaths of processes, after which the run goes on with those that are left. */
const deathsMax = 20;

interface Pending {
  readonly hand: Hand;
  readonly task: TaskId;
  readonly text: string;
  readonly onTold: () => void;
}

/** The swarm, as its processes need it. */
export interface LeadDesk extends Desk {
  /** The next agent of the task goes on where this one was cut off. */
  wasCutOff(task: TaskId): void;
  tell(task: TaskId, text: string, onTold: () => void): void;
  fail(error: unknown): void;
}

/**
 * The other processes of a run. The first plans, schedules and merges; each does
 * its share of the tasks, on the repository itself. What must be one for all
 * (the schedule, the budget tree, what was spent) stays in the first.
 */
export class Hands {
  readonly #context: RunContext;
  readonly #start: HandStart;
  readonly #hands: Hand[] = [];
  /** What requests of a process may cost, by the node that they draw on. */
  readonly #held = new Map<Hand, Map<TaskId, Amount>>();
  readonly #pending = new Map<number, Pending>();
  #desk: LeadDesk | undefined;
  #noticeCount = 0;
  #deaths = 0;
  #phase: SwarmState['phase'] = 'new';
  #isClosing = false;

  private constructor(context: RunContext, options: ProcessesOptions, commands: CommandSettings) {
    this.#context = context;
    const { limits, policy, roles } = context.parts;
    const atOnce = Math.max(1, Math.floor(commands.commandsMax / options.count));
    const { module, options: given } = options;
    this.#start = {
      dir: context.repo.dir,
      run: context.run,
      limits,
      policy,
      roles,
      commands: { ...commands, commandsMax: atOnce },
      module,
      options: given,
    };
  }

  /** Resolves when all can work. Errors: `TypeError` with what the module says. */
  static async start(context: RunContext, options: ProcessesOptions, commands: CommandSettings): Promise<Hands> {
    const hands = new Hands(context, options, commands);
    for (let at = 1; at < options.count; at++) hands.#hands.push(hands.#make(at));
    try {
      await Promise.all(hands.#hands.map(({ ready }) => ready));
    } catch (error) {
      await hands.close();
      throw error;
    }
    return hands;
  }

  #make(at: number): Hand {
    const { commands } = this.#start;
    const directory = commands.directory && join(commands.directory, `process-${at}`);
    return new Hand(
      { ...this.#start, commands: { ...commands, directory } },
      {
        onItem: (item, hand) => this.#take(item, hand),
        onDeath: (hand, lost) => void this.#replace(hand, at, lost),
      },
    );
  }

  attach(desk: LeadDesk): void {
    this.#desk = desk;
  }

  get pids(): number[] {
    return this.#hands.flatMap(({ pid }) => pid ?? []);
  }

  get liveCount(): number {
    return this.#hands.reduce((sum, { liveCount }) => sum + liveCount, 0);
  }

  /** The process with the fewest agents; undefined where that is this one, which has so many. */
  place(ownCount: number): Hand | undefined {
    const [best] = this.#hands
      .filter(({ isThere }) => isThere)
      .toSorted((left, right) => left.liveCount - right.liveCount);
    return best !== undefined && best.liveCount <= ownCount ? best : undefined;
  }

  work(hand: Hand, agent: AgentId, task: TaskId, signal: AbortSignal): Promise<AgentEnd> {
    const desk = this.#mustDesk();
    const facts = { attempts: desk.attemptsOf(task), goesOn: desk.goesOn(task), isResumed: desk.isResumed };
    return hand.work(agent, this.#context.mustTask(task), facts, signal);
  }

  setPhase(phase: SwarmState['phase']): void {
    if (phase === this.#phase) return;
    this.#phase = phase;
    for (const hand of this.#hands) hand.send({ kind: 'phase', phase });
  }

  /** False where no process works on the task. */
  tell(task: TaskId, text: string, onTold: () => void): boolean {
    const hand = this.#hands.find((one) => one.holds(task));
    if (hand === undefined) return false;
    const id = ++this.#noticeCount;
    this.#pending.set(id, { hand, task, text, onTold });
    hand.send({ kind: 'notice', notice: { id, task, text } });
    return true;
  }

  #mustDesk(): LeadDesk {
    if (this.#desk === undefined) throw new Error('the processes belong to no swarm yet');
    return this.#desk;
  }

  #take(item: FromHand, hand: Hand): void {
    const desk = this.#mustDesk();
    const { draws, costs } = this.#context.parts;
    switch (item.kind) {
      case 'event':
        return desk.dispatch(item.event);
      case 'spent':
        return costs.record(item.spender, item.spent);
      case 'release':
        this.#addHeld(hand, item.draws, negated(item.held));
        return draws.release(item.draws, item.held, item.spent);
      case 'told': {
        const told = this.#pending.get(item.notice);
        this.#pending.delete(item.notice);
        return told?.onTold();
      }
      case 'stop':
        return desk.stop(item.reason, item.how, item.detail);
      case 'ask':
        return void this.#answer(hand, item.id, item.ask);
      default:
        throw new Error(`a process of the run said '${item.kind}' out of turn`);
    }
  }

  async #answer(hand: Hand, id: number, ask: Ask): Promise<void> {
    const { draws } = this.#context.parts;
    try {
      const value = ask.kind === 'hold' ? await this.#hold(hand, ask) : await draws.settle(ask.at, ask.step);
      hand.send({ kind: 'answer', id, value });
    } catch (error) {
      hand.send({ kind: 'answer', id, error: error instanceof Error ? error.message : String(error) });
    }
  }

  async #hold(hand: Hand, { draws, amount }: Extract<Ask, { kind: 'hold' }>): Promise<unknown> {
    const short = await this.#context.parts.draws.hold(draws, amount);
    if (short === undefined) this.#addHeld(hand, draws, amount);
    return short;
  }

  #addHeld(hand: Hand, draws: TaskId, amount: Amount): void {
    const held = this.#held.get(hand) ?? new Map<TaskId, Amount>();
    held.set(draws, addAmounts(held.get(draws) ?? noAmount, amount));
    this.#held.set(hand, held);
  }

  /** Its tasks go on with other agents where its agents were cut off, and another process takes its place. */
  async #replace(
    hand: Hand,
    at: number,
    lost: readonly { readonly agent: AgentId; readonly task: TaskId }[],
  ): Promise<void> {
    const desk = this.#desk;
    const end: AgentEnd = { reason: 'lost', turns: 0, usage: noUsage, detail: 'its process died' };
    try {
      if (desk === undefined || this.#isClosing) return;
      // What was being asked may have been spent: so its transcript says, too.
      for (const [draws, amount] of this.#held.get(hand) ?? [])
        this.#context.parts.draws.release(draws, amount, amount);
      this.#held.delete(hand);
      // What it had spent stands in transcripts alone.
      const tasks = new Set(lost.map(({ task }) => task));
      await settleLost(this.#context, restoreTasks(this.#context), tasks);
      for (const { agent, task } of lost) {
        desk.wasCutOff(task);
        if (!desk.isStopping) desk.dispatch({ kind: 'task.reopened', task, agent, reason: 'its process died' });
      }
      for (const [id, notice] of this.#pending) {
        if (notice.hand !== hand) continue;
        this.#pending.delete(id);
        desk.tell(notice.task, notice.text, notice.onTold);
      }
      this.#deaths += 1;
      if (this.#deaths > deathsMax || desk.isStopping) return;
      const next = this.#make(at);
      this.#hands.splice(this.#hands.indexOf(hand), 1, next);
      next.send({ kind: 'phase', phase: this.#phase });
      next.ready.catch(() => void next.close());
    } catch (error) {
      desk?.fail(error);
    } finally {
      hand.lose(end);
    }
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    await Promise.all(this.#hands.map((hand) => hand.close()));
  }
}
