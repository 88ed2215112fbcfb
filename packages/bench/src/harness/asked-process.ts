import { fork, type ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';

import { Interrupted } from './interrupt.ts';

/** Launchers in `bin/`: a child runs the build, whatever its parent runs. */
export type ChildProgram =
  'commit-agents' | 'git-work' | 'mound-server' | 'scale-compacter' | 'scale-reader' | 'swarm-load-agents';

type Answer = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly fault: string };

/**
 * A child of the bench that answers requests, one at a time. It is killed when
 * the signal fires, and goes when its parent goes.
 */
export class AskedProcess<Request extends object> {
  readonly #child: ChildProcess;
  readonly #signal: AbortSignal;
  readonly #name: string;
  readonly #kill: () => void;
  readonly #ended: Promise<void>;

  constructor(name: ChildProgram, signal: AbortSignal) {
    if (signal.aborted) throw new Interrupted();
    this.#name = name;
    this.#signal = signal;
    this.#child = fork(fileURLToPath(new URL(`../../bin/${name}.js`, import.meta.url)), [], {
      serialization: 'advanced',
      // A debugger's or test runner's flags are not for it.
      execArgv: [],
      detached: true,
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    this.#kill = () => this.#child.kill('SIGKILL');
    signal.addEventListener('abort', this.#kill, { once: true });
    this.#ended = new Promise((resolve) => {
      this.#child.once('exit', () => {
        signal.removeEventListener('abort', this.#kill);
        resolve();
      });
      this.#child.once('error', () => resolve());
    });
  }

  /** Undefined where it could not be started. */
  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** What the child's handler gave, or an error with what it threw. */
  async ask<Value>(request: Request): Promise<Value> {
    const answered = new Promise<Answer>((resolve, reject) => {
      const onExit = (): void => reject(new Error(`${this.#name} has ended`));
      this.#child.once('exit', onExit);
      this.#child.once('message', (answer) => {
        this.#child.off('exit', onExit);
        resolve(answer as Answer);
      });
      if (!this.#child.connected) onExit();
      else this.#child.send(request, (error) => error !== null && reject(error));
    });
    const answer = await answered.catch((error: unknown) => {
      throw this.#signal.aborted ? new Interrupted() : error;
    });
    if (!answer.ok) throw new Error(`${this.#name}: ${answer.fault}`);
    return answer.value as Value;
  }

  async close(): Promise<void> {
    if (this.#child.connected) this.#child.disconnect();
    await this.#ended;
  }
}

/** The child's side: answers requests in turn until the parent hangs up, then `end`s. */
export async function answerParent(
  handle: (request: unknown) => Promise<unknown>,
  end: () => Promise<void>,
): Promise<void> {
  const answer = async (request: unknown): Promise<void> => {
    const found: Answer = await handle(request).then(
      (value) => ({ ok: true, value }),
      (error: unknown) => ({ ok: false, fault: error instanceof Error ? error.message : String(error) }),
    );
    if (process.connected) process.send?.(found);
  };
  let last = Promise.resolve();
  process.on('message', (request) => {
    last = last.then(() => answer(request));
  });
  await new Promise<void>((resolve) => process.once('disconnect', resolve));
  await last;
  await end();
}
