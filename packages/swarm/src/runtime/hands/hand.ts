import { fork, type ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { AgentEnd } from '../../agent/agent.ts';
import type { AgentId, TaskId } from '../../core/ids.ts';
import type { Task } from '../../core/task.ts';
import type { FromHand, HandStart, ToHand } from './messages.ts';

interface Live {
  readonly task: TaskId;
  readonly resolve: (end: AgentEnd) => void;
  readonly reject: (error: Error) => void;
}

/** Who hears of what happens in a hand. */
export interface HandListener {
  onItem(item: FromHand, hand: Hand): void;
  /** It is gone, and these agents with it. */
  onDeath(hand: Hand, lost: readonly { readonly agent: AgentId; readonly task: TaskId }[]): void;
}

const launcher = fileURLToPath(new URL('../../../bin/mound-hand.js', import.meta.url));
/** Between being asked to end and being made to. */
const graceMs = 10_000;

/** One more process that works for a run, as the first sees it. */
export class Hand {
  readonly #child: ChildProcess;
  readonly #listener: HandListener;
  readonly #live = new Map<AgentId, Live>();
  readonly ready: Promise<void>;
  readonly #gone: Promise<void>;
  #isReady = false;
  #isClosing = false;
  #isGone = false;

  constructor(start: HandStart, listener: HandListener) {
    this.#listener = listener;
    // Nothing of how this process was started is another's business.
    this.#child = fork(launcher, [], {
      execArgv: [],
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    this.#gone = new Promise((resolve) => this.#child.once('exit', () => resolve()));
    this.ready = new Promise((resolve, reject) => {
      const onDead = (): void => reject(new Error('a process of the run ended before it could work'));
      this.#child.once('exit', onDead);
      this.#child.on('message', (items: readonly FromHand[]) => {
        for (const item of items) {
          if (item.kind === 'ready') {
            this.#child.removeListener('exit', onDead);
            this.#isReady = true;
            resolve();
          } else if (item.kind === 'failed') reject(new TypeError(item.says));
          else this.#take(item);
        }
      });
    });
    this.ready.catch(() => undefined);
    this.#child.once('error', () => this.#die());
    this.#child.once('exit', () => this.#die());
    this.send({ kind: 'start', start });
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  get liveCount(): number {
    return this.#live.size;
  }

  /** It can work. */
  get isThere(): boolean {
    return this.#isReady && !this.#isGone;
  }

  holds(task: TaskId): boolean {
    return [...this.#live.values()].some((live) => live.task === task);
  }

  send(message: ToHand): void {
    // One that has just died is noticed by its exit.
    if (this.#child.connected) this.#child.send(message, () => undefined);
  }

  work(
    agent: AgentId,
    task: Task,
    facts: { readonly attempts: number; readonly goesOn: boolean; readonly isResumed: boolean },
    signal: AbortSignal,
  ): Promise<AgentEnd> {
    return new Promise((resolve, reject) => {
      const onAbort = (): void => this.send({ kind: 'abort', agent });
      const over = (): void => signal.removeEventListener('abort', onAbort);
      this.#live.set(agent, {
        task: task.id,
        resolve: (end) => (over(), resolve(end)),
        reject: (error) => (over(), reject(error)),
      });
      signal.addEventListener('abort', onAbort, { once: true });
      this.send({ kind: 'work', agent, task, ...facts });
      if (signal.aborted) onAbort();
    });
  }

  #take(item: FromHand): void {
    if (item.kind !== 'ended' && item.kind !== 'broke') return this.#listener.onItem(item, this);
    const live = this.#live.get(item.agent);
    this.#live.delete(item.agent);
    if (item.kind === 'ended') live?.resolve(item.end);
    else live?.reject(new Error(item.says));
  }

  #die(): void {
    if (this.#isGone) return;
    this.#isGone = true;
    if (this.#isClosing && this.#live.size === 0) return;
    const lost = [...this.#live].map(([agent, { task }]) => ({ agent, task }));
    this.#listener.onDeath(this, lost);
  }

  /** Its agents are lost; who waits for them is told. */
  lose(end: AgentEnd): void {
    const live = [...this.#live.values()];
    this.#live.clear();
    for (const { resolve } of live) resolve(end);
  }

  async close(): Promise<void> {
    if (this.#isGone) return;
    this.#isClosing = true;
    this.send({ kind: 'close' });
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), graceMs);
    await this.#gone;
    clearTimeout(timer);
  }
}
