import { any, version, type Change, type Outcome, type Repo } from '@mound/vcs';

import { flipped, rewritten, type SwarmLoad, type SwarmStep } from '../../workloads/swarm-load.ts';

/** What the author of a step was told; `kept`: its whole intent lies in an open conflict. */
export const answerKinds = ['landed', 'merged', 'unchanged', 'kept', 'rejected'] as const;
export type AnswerKind = (typeof answerKinds)[number];

export interface Answer {
  readonly agent: number;
  /** Of the agent, from 0. */
  readonly step: number;
  /** How often the step was offered before, and kept. */
  readonly tries: number;
  readonly kind: AnswerKind;
  /** When the answer came, by the process's clock of the run. */
  readonly atMs: number;
  /** From the call to its answer. */
  readonly latencyMs: number;
}

/** Which lines gave way to which, by their marks. */
export interface Replaced {
  /** What the edit of a line took the place of, as it was last offered. */
  readonly by: ReadonlyMap<number, number>;
  /** The same of edits that several agents made, who may have seen different lines. */
  readonly byPileOn: readonly (readonly [mark: number, before: number])[];
}

/** An edit that was kept is made anew on what is there by then, so many times. */
const triesMax = 3;

export interface AgentsOptions {
  /** Numbers of the agents that work here. */
  readonly agents: readonly number[];
  readonly durationMs: number;
  /** From the beginning of one step of an agent to the beginning of its next. */
  readonly periodMs: number;
  /** From reading to landing. */
  readonly thinkMs: number;
  /** The negative control: whatever landed meanwhile is overwritten. */
  readonly overwrites: boolean;
  readonly signal: AbortSignal;
}

export interface AgentsRun {
  readonly answers: readonly Answer[];
  readonly replaced: Replaced;
  /** Steps that began later than they were due, by a tenth of a period or more. */
  readonly late: number;
}

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, Math.max(0, ms)));

/** A process's part of the swarm: each agent reads, thinks, edits and lands, at its own pace. */
export class Agents {
  readonly #repo: Repo;
  readonly #load: SwarmLoad;
  readonly #options: AgentsOptions;
  readonly #answers: Answer[] = [];
  readonly #replaced = { by: new Map<number, number>(), byPileOn: new Array<[number, number]>() };
  #late = 0;
  #began = 0;

  constructor(repo: Repo, load: SwarmLoad, options: AgentsOptions) {
    this.#repo = repo;
    this.#load = load;
    this.#options = options;
  }

  async run(): Promise<AgentsRun> {
    const { agents } = this.#options;
    this.#began = performance.now();
    await Promise.all(agents.map((agent) => this.#work(agent)));
    return { answers: this.#answers, replaced: this.#replaced, late: this.#late };
  }

  get #nowMs(): number {
    return performance.now() - this.#began;
  }

  async #work(agent: number): Promise<void> {
    const { periodMs, durationMs, signal } = this.#options;
    const all = this.#load.parameters.agents;
    // Spread over one period, so that the load is even.
    let dueMs = (periodMs * ((agent * 7919) % all)) / all;
    let conflict: string | undefined;
    for (let [step, tries] = [0, 0]; ; dueMs = Math.max(dueMs + periodMs, this.#nowMs - periodMs)) {
      await sleep(dueMs - this.#nowMs);
      if (this.#nowMs >= durationMs || signal.aborted) return;
      if (this.#nowMs - dueMs > periodMs / 10) this.#late++;
      const outcome = await this.#make(agent, step, tries, conflict);
      conflict = outcome.kind === 'conflicted' ? outcome.conflict : undefined;
      tries = conflict !== undefined && tries + 1 < triesMax ? tries + 1 : 0;
      if (tries === 0) [step, conflict] = [step + 1, undefined];
    }
  }

  async #make(agent: number, step: number, tries: number, replaces: string | undefined): Promise<Outcome> {
    const { seed } = this.#load.parameters;
    const work = this.#load.step(agent, step);
    const seen = this.#read(work);
    await sleep(this.#options.thinkMs);
    const changes = this.#changes(work, seen);
    const name = `agent-${agent}`;
    const calledMs = this.#nowMs;
    const outcome = await this.#repo.land({
      author: { name, kind: 'agent', agent: name, role: 'worker' },
      message: work.kind === 'flip' ? `Set ${work.path} right` : `Edit ${work.edits.length} files (${agent}/${step})`,
      operationId: operationIdOf(seed, { agent, step, tries }),
      changes,
      ...(replaces !== undefined && { replaces }),
    });
    const atMs = this.#nowMs;
    this.#answers.push({ agent, step, tries, kind: answerOf(outcome), atMs, latencyMs: atMs - calledMs });
    return outcome;
  }

  #read(work: SwarmStep): Seen[] {
    const snapshot = this.#repo.snapshot();
    const paths = work.kind === 'flip' ? [work.path] : work.edits.map(({ path }) => path);
    return paths.map((path) => {
      const [head, content] = [snapshot.head(path), snapshot.read(path)];
      if (head === undefined || content === undefined) throw new Error(`there is no ${path}`);
      return { path, version: head.version, content };
    });
  }

  #changes(work: SwarmStep, seen: readonly Seen[]): Change[] {
    return seen.map(({ path, version: seq, content }, at) => {
      const edit = work.kind === 'edit' ? work.edits[at] : undefined;
      const made = edit === undefined ? { content: flipped(content), replaced: [] } : rewritten(edit, content);
      const isPileOn = work.kind === 'edit' && work.isPileOn;
      for (const [line, before] of made.replaced.entries()) this.#note(edit?.marks[line], before, isPileOn);
      return { kind: 'put', path, content: made.content, expect: this.#options.overwrites ? any : version(seq) };
    });
  }

  #note(mark: number | undefined, before: number | undefined, isPileOn: boolean): void {
    if (mark === undefined || before === mark) return;
    const { by, byPileOn } = this.#replaced;
    if (isPileOn) {
      if (before !== undefined) byPileOn.push([mark, before]);
    } else if (before === undefined) by.delete(mark);
    else by.set(mark, before);
  }
}

interface Seen {
  readonly path: string;
  readonly version: number;
  readonly content: Buffer;
}

export const operationIdOf = (seed: number, { agent, step, tries }: Pick<Answer, 'agent' | 'step' | 'tries'>): string =>
  `swarm-load-${seed}-${agent}-${step}-${tries}`;

function answerOf({ kind }: Outcome): AnswerKind {
  if (kind === 'conflicted') return 'kept';
  if (kind === 'parked') throw new Error('an intent was parked, though nothing is frozen');
  return kind;
}
