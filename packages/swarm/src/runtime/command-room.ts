import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Mode, Repo } from '@mound/vcs';
import type { AgentId } from '../core/ids.ts';
import { isInScope } from '../core/task.ts';
import { makeCaches } from '../command/make-caches.ts';
import { runCommand, type CommandEnd, type CommandLimits } from '../command/run-command.ts';
import type { Sandbox } from '../command/sandbox.ts';
import type { PrivateCache } from '../command/tool-caches.ts';
import { refused, type Refusal } from '../tools/operations.ts';
import { Checkout } from './checkout.ts';
import type { Draft } from './draft.ts';

export interface CommandSettings {
  /** Directory for the agents' files; undefined: agents run no commands. */
  readonly directory: string | undefined;
  readonly limits: CommandLimits;
  /** At once, of all agents. */
  readonly commandsMax: number;
  readonly sandbox: Sandbox;
  readonly environment: Readonly<Record<string, string>>;
  /** What each agent has of tools' caches for itself. */
  readonly caches: readonly PrivateCache[];
}

export interface CommandRequest {
  readonly command: string;
  readonly timeoutMs: number | undefined;
  readonly keep: readonly string[];
  readonly seq: number;
  readonly draft: Draft;
  readonly signal: AbortSignal;
}

interface CheckRequest {
  readonly env: Readonly<Record<string, string>>;
  readonly seconds: number;
  readonly signal: AbortSignal;
}

export interface RanCommand {
  readonly kind: 'ran';
  readonly end: CommandEnd;
  readonly ms: number;
  readonly changes: readonly {
    readonly path: string;
    readonly bytes: Buffer | null;
    readonly mode: Mode;
    readonly isKept: boolean;
  }[];
}

/** Caches of tools that one agent has for itself. */
interface OwnCaches {
  readonly directory: string;
  /** Variables that lead there. */
  readonly variables: Readonly<Record<string, string>>;
}

/** Where agents' commands run: a directory for each agent's name, with caches of its own beside it, a bounded number at once. */
export class CommandRoom {
  readonly #repo: Repo;
  readonly #settings: CommandSettings;
  readonly #checkouts = new Map<AgentId, Checkout>();
  readonly #caches = new Map<string, Promise<OwnCaches>>();
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  constructor(repo: Repo, settings: CommandSettings) {
    this.#repo = repo;
    this.#settings = settings;
  }

  async run(agent: AgentId, request: CommandRequest): Promise<RanCommand | Refusal> {
    const { directory, limits, sandbox, environment } = this.#settings;
    if (directory === undefined) return refused('this run runs no commands. Say what should be run in your report.');
    await this.#enter();
    try {
      if (request.signal.aborted) return refused('the run is being stopped.');
      const caches = await this.#cachesOf(agent, directory);
      const checkout = this.#checkoutOf(agent, directory);
      checkout.update(request.seq, request.draft);
      const seconds = Math.min((request.timeoutMs ?? Infinity) / 1000, limits.seconds);
      const startedMs = performance.now();
      const end = await runCommand({
        command: ['/bin/sh', '-c', request.command],
        cwd: checkout.directory,
        env: { ...environment, ...caches.variables },
        isMerged: true,
        limits: { ...limits, seconds },
        sandbox,
        writable: [caches.directory],
        signal: request.signal,
      });
      const ms = Math.round(performance.now() - startedMs);
      const { keep } = request;
      const changes = checkout.changes(keep).map((change) => ({
        ...change,
        isKept: keep.length > 0 && isInScope(keep, change.path),
      }));
      return { kind: 'ran', end, ms, changes };
    } finally {
      this.#leave();
    }
  }

  /**
   * A command on files that are no agent's, within the same limits; in a directory below {@link CommandRoom.directory}.
   */
  async check(dir: string, command: readonly [string, ...string[]], more: CheckRequest): Promise<CommandEnd> {
    const { directory, limits, sandbox, environment } = this.#settings;
    await this.#enter();
    try {
      const caches = directory === undefined ? undefined : await this.#cachesOf('checks', directory);
      return await runCommand({
        command,
        cwd: dir,
        env: { ...environment, ...caches?.variables, ...more.env },
        isMerged: true,
        limits: { ...limits, seconds: Math.min(more.seconds, limits.seconds) },
        sandbox,
        ...(caches && { writable: [caches.directory] }),
        signal: more.signal,
      });
    } finally {
      this.#leave();
    }
  }

  /** undefined: this run runs no commands. */
  get directory(): string | undefined {
    return this.#settings.directory;
  }

  /** Removes the agents' directories. */
  close(): void {
    this.#checkouts.clear();
    this.#caches.clear();
    if (this.#settings.directory !== undefined) rmSync(this.#settings.directory, { recursive: true, force: true });
  }

  #checkoutOf(agent: AgentId, directory: string): Checkout {
    const known = this.#checkouts.get(agent);
    if (known !== undefined) return known;
    const checkout = new Checkout(this.#repo, join(directory, agent));
    this.#checkouts.set(agent, checkout);
    return checkout;
  }

  /** Made when it is first needed. */
  #cachesOf(agent: string, directory: string): Promise<OwnCaches> {
    const known = this.#caches.get(agent);
    if (known !== undefined) return known;
    const own = join(directory, 'caches', agent);
    const made = makeCaches(own, this.#settings.caches).then((variables) => ({ directory: own, variables }));
    this.#caches.set(agent, made);
    // Where the disk was full, say, the next command tries again.
    made.catch(() => this.#caches.delete(agent));
    return made;
  }

  async #enter(): Promise<void> {
    if (this.#running < this.#settings.commandsMax) {
      this.#running += 1;
      return;
    }
    // Who leaves hands its place on.
    await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  #leave(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#running -= 1;
    else next();
  }
}
