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
import { Artefacts } from './artefacts.ts';
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
  /** What builds leave that an agent's directory begins with: paths from the root of the tree, `*` is any name. */
  readonly artefacts: readonly string[];
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
  readonly elsewhere: readonly string[];
}

/** Where agents' commands run: a directory for each agent's name, with caches of its own beside it, a bounded number at once. */
export class CommandRoom {
  readonly #repo: Repo;
  readonly #settings: CommandSettings;
  readonly #artefacts: Artefacts;
  readonly #checkouts = new Map<AgentId, Checkout>();
  readonly #caches = new Map<string, Promise<OwnCaches>>();
  readonly #elsewhere = new Set<string>();
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  constructor(repo: Repo, settings: CommandSettings) {
    this.#repo = repo;
    this.#settings = settings;
    this.#artefacts = new Artefacts(settings.artefacts);
  }

  async run(agent: AgentId, request: CommandRequest): Promise<RanCommand | Refusal> {
    const { directory } = this.#settings;
    if (directory === undefined) return refused('this run runs no commands. Say what should be run in your report.');
    await this.#enter();
    try {
      if (request.signal.aborted) return refused('the run is being stopped.');
      const caches = await this.#cachesOf(agent, directory);
      return await this.#runIn(this.#checkoutOf(agent, directory), caches, request);
    } finally {
      this.#leave();
    }
  }

  async #runIn(checkout: Checkout, caches: OwnCaches, request: CommandRequest): Promise<RanCommand> {
    const { limits, sandbox, environment } = this.#settings;
    const { keep } = request;
    let how: 'good' | 'bad' | 'killed' = 'killed';
    await this.#artefacts.begin(checkout);
    try {
      const { isNew } = checkout;
      checkout.update(request.seq, request.draft);
      if (isNew) await this.#artefacts.fill(checkout);
      const seconds = Math.min((request.timeoutMs ?? Infinity) / 1000, limits.seconds);
      const startedMs = performance.now();
      const end = await runCommand({
        command: ['/bin/sh', '-c', request.command],
        cwd: checkout.directory,
        env: { ...environment, ...caches.variables },
        isMerged: true,
        limits: { ...limits, seconds },
        sandbox,
        writable: [caches.directory, ...caches.elsewhere],
        signal: request.signal,
      });
      const ms = Math.round(performance.now() - startedMs);
      const changes = checkout.changes(keep).map((change) => ({
        ...change,
        isKept: keep.length > 0 && isInScope(keep, change.path),
      }));
      if (end.kind === 'exited') how = end.code === 0 ? 'good' : 'bad';
      return { kind: 'ran', end, ms, changes };
    } finally {
      await this.#artefacts.end(checkout, how);
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
        ...(caches && { writable: [caches.directory, ...caches.elsewhere] }),
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
    for (const place of this.#elsewhere) rmSync(place, { recursive: true, force: true });
    this.#elsewhere.clear();
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
    const made = makeCaches(own, this.#settings.caches).then(({ variables, elsewhere }) => {
      for (const place of elsewhere) this.#elsewhere.add(place);
      return { directory: own, variables, elsewhere };
    });
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
