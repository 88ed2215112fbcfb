import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { openRepo, type Repo } from '@mound/vcs';
import type { JsonValue } from '../../core/json.ts';
import type { RunId } from '../../core/ids.ts';
import { systemTime } from '../../core/time.ts';
import { PriceBook, type PriceOverride } from '../../cost/prices.ts';
import type { Model } from '../../model/model.ts';
import { BudgetBook } from '../budget-book.ts';
import { CommandRoom } from '../command-room.ts';
import { RunContext } from '../run-context.ts';
import { RunKeys } from '../run-keys.ts';
import { runWorker } from '../run-worker.ts';
import { Tally } from '../tally.ts';
import { TaskBook } from '../task-book.ts';
import type { FromHand, HandStart, ToHand } from './messages.ts';
import { Line, RemoteDesk, RemoteDraws } from './remote-desk.ts';

/** What the module of a run's processes makes in each of them. */
export interface HandParts {
  /** By the `model` of each role that works. */
  readonly models: Readonly<Record<string, Model>>;
  readonly prices?: readonly PriceOverride[];
  /** When the process ends in order. */
  readonly close?: () => Promise<void> | void;
}

/** What that module exports as `makeHand`. */
export type HandModule = (
  options: JsonValue,
  parts: { readonly repo: Repo; readonly run: RunId },
) => HandParts | Promise<HandParts>;

/** Longest that agents may take to end where the first process is gone. */
const orphanMs = 5000;

/** The life of one process that works for a run. */
export async function main(): Promise<void> {
  const line = new Line((items: readonly FromHand[]) => {
    if (process.connected) process.send?.(items, () => undefined);
  });
  const desk = new RemoteDesk(line);
  // Ctrl-C at a terminal reaches all processes: the first one says what to do.
  process.on('SIGINT', () => undefined);
  await new Promise<void>((done) => {
    let worker: Worker | undefined;
    const opening = async (start: HandStart): Promise<void> => {
      try {
        worker = await Worker.open(start, line, desk);
        line.post({ kind: 'ready' });
      } catch (error) {
        line.post({ kind: 'failed', says: error instanceof Error ? error.message : String(error) });
      }
    };
    const closing = async (): Promise<void> => {
      await worker?.close();
      line.flush();
      done();
    };
    process.on('message', (message: ToHand) => {
      switch (message.kind) {
        case 'start':
          return void opening(message.start);
        case 'work':
          worker?.work(message);
          return;
        case 'phase':
          return desk.setPhase(message.phase);
        case 'abort':
          return desk.abortAgent(message.agent);
        case 'notice':
          return desk.notify(message.notice);
        case 'answer':
          return line.answer(message);
        case 'close':
          return void closing();
      }
    });
    process.once('disconnect', () => {
      desk.abortAll();
      setTimeout(() => process.exit(1), orphanMs).unref();
      void worker?.idle().then(() => process.exit(1));
    });
  });
  if (process.connected) process.disconnect();
}

class Worker {
  readonly #context: RunContext;
  readonly #line: Line;
  readonly #desk: RemoteDesk;
  readonly #parts: HandParts;
  readonly #running = new Set<Promise<void>>();

  private constructor(context: RunContext, line: Line, desk: RemoteDesk, parts: HandParts) {
    this.#context = context;
    this.#line = line;
    this.#desk = desk;
    this.#parts = parts;
  }

  static async open(start: HandStart, line: Line, desk: RemoteDesk): Promise<Worker> {
    const { dir, run, limits, policy, roles, commands, module, options } = start;
    const repo = await openRepo(dir);
    const { makeHand } = (await import(pathToFileURL(resolve(module)).href)) as { readonly makeHand: HandModule };
    const parts = await makeHand(options, { repo, run });
    const prices = new PriceBook(parts.prices ?? [], systemTime);
    const keys = new RunKeys(run);
    const budgets = new BudgetBook(repo, keys);
    const context = new RunContext({
      repo,
      keys,
      time: systemTime,
      book: new TaskBook(repo, keys, systemTime, policy.unsafeWithout?.includes('fences') !== true),
      budgets,
      draws: new RemoteDraws(line, repo, keys, budgets),
      commands: new CommandRoom(repo, commands),
      tally: new Tally(),
      limits,
      policy,
      prices,
      costs: { record: (spender, spent) => line.post({ kind: 'spent', spender, spent }) },
      roles,
      models: parts.models,
      content: undefined,
      onAcknowledged: undefined,
    });
    context.announce = (event) => desk.dispatch(event);
    return new Worker(context, line, desk, parts);
  }

  work(message: Extract<ToHand, { kind: 'work' }>): void {
    const { agent, task } = message;
    const signal = this.#desk.begin(message);
    this.#context.tasks.set(task.id, task);
    const running = runWorker(this.#context, this.#desk, agent, task.id, signal).then(
      (end) => this.#line.post({ kind: 'ended', agent, end }),
      (error: unknown) => {
        this.#line.post({ kind: 'broke', agent, says: error instanceof Error ? error.message : String(error) });
      },
    );
    const over = running.finally(() => {
      this.#desk.end(agent, task.id);
      this.#context.tasks.delete(task.id);
      this.#running.delete(over);
    });
    this.#running.add(over);
  }

  async idle(): Promise<void> {
    await Promise.all(this.#running);
  }

  async close(): Promise<void> {
    await this.idle();
    this.#context.parts.commands.close();
    await this.#parts.close?.();
    await this.#context.repo.close();
  }
}
