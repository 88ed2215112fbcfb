import type { Role } from '../core/role.ts';
import { emptyHandoff, type Handoff } from '../core/task.ts';
import { addUsage, noUsage, type Spend, type Usage } from '../core/usage.ts';
import { ContextCare } from '../context/context-care.ts';
import type { AgentEndReason } from '../events/event.ts';
import { History, turnsIn } from '../model/history.ts';
import { ModelError } from '../model/model-error.ts';
import {
  spentOf,
  type Message,
  type Model,
  type ModelNotice,
  type ModelRequest,
  type ModelTurn,
  type TurnWarning,
} from '../model/model.ts';
import type { ToolAnswer } from '../tools/tool.ts';
import type { Toolset } from '../tools/toolset.ts';
import { agentSpan, callSpan } from './spans.ts';
import { LoopWatch, type LoopLimits, type Step } from './loop-watch.ts';

/** Why an agent may not ask its model now. */
export interface Halt {
  readonly reason: AgentEndReason;
  readonly detail?: string;
}

/** What one request came to, for who counts it. */
export interface TurnCost {
  /** One entry for each request that was made for it. */
  readonly spent: readonly Spend[];
  readonly ms: number;
  /** No message came of it. */
  readonly failed: boolean;
}

/** Where the runtime takes part in an agent's turns. */
export interface AgentHooks {
  /** Before each request: waits while the run is paused, holds what the request may cost, or halts the agent. */
  beforeRequest(request: ModelRequest): Promise<Halt | undefined>;
  /** After each request, whether it succeeded or not. */
  afterRequest(cost: TurnCost): void;
  /** What the agent is to be told before its next request. */
  takeNotices(): readonly string[];
  /** A message of the history, before anything that follows from it is done. */
  onMessage(message: Message): void;
}

export interface AgentOptions {
  /** Its id in the run, for spans. */
  readonly agent?: string;
  readonly role: Role;
  readonly model: Model;
  /** The first user message. */
  readonly brief: string;
  readonly toolset: Toolset;
  readonly signal: AbortSignal;
  /** Longer tool answers are cut, with a note. */
  readonly answerCharsMax: number;
  /** What came after the brief, where an agent goes on; every call in it has its result. */
  readonly history?: readonly Message[];
  readonly hooks?: AgentHooks;
  readonly loops?: Partial<LoopLimits>;
  /** Anything that changes when the tree or the score does; without it, quiet turns are not counted. */
  readonly progress?: () => string | number;
  readonly onSpent?: (spent: readonly Spend[]) => void;
  readonly onNotice?: (notice: ModelNotice) => void;
  readonly onWarning?: (
    warning: TurnWarning | { readonly code: 'compacted' | 'looping'; readonly says: string },
  ) => void;
}

export interface AgentEnd {
  readonly reason: AgentEndReason;
  /** Of its whole life, those before it was resumed included. */
  readonly turns: number;
  /** Since it was started or resumed. */
  readonly usage: Usage;
  readonly detail?: string;
  /** Of one that did not finish: what is known of its work, in the runtime's words. */
  readonly handoff?: Handoff;
}

/** Turns in a row in which no call could be run, after which an agent is given up. */
const idleTurnsMax = 3;
/** Refusals of one history for its length, after which compaction is of no use. */
const overflowsMax = 4;

const nudge = 'Call one of your tools. Call finish when your work is over.';
const cutNudge = 'Your answer was cut off at its length limit. Go on in smaller steps: one call of a tool at a time.';

/**
 * Asks the model, runs its calls in their order, answers, and again, until it
 * finishes, its turns are used up, it goes round in circles, or its context is
 * used up and cannot be made smaller.
 */
export const runAgent = (options: AgentOptions): Promise<AgentEnd> =>
  agentSpan(options, () => new Agent(options).run());

class Agent {
  readonly #options: AgentOptions;
  readonly #history: History;
  readonly #care: ContextCare;
  readonly #loops: LoopWatch;
  #usage: Usage = noUsage;
  #turns: number;
  #idleTurns = 0;
  #overflows = 0;
  #lastText = '';

  constructor(options: AgentOptions) {
    this.#options = options;
    const { role, brief, model, toolset, loops, history = [], hooks } = options;
    const start: Message[] = [{ role: 'system', content: role.prompt }, { role: 'user', content: brief }, ...history];
    this.#history = History.observed(start, (message) => hooks?.onMessage(message));
    this.#turns = turnsIn(history);
    if (history.length === 0) hooks?.onMessage({ role: 'user', content: brief });
    this.#care = new ContextCare(model.contextTokens, toolset.specs());
    this.#loops = new LoopWatch(loops);
  }

  async run(): Promise<AgentEnd> {
    const { role, signal } = this.#options;
    while (this.#turns < role.maxTurns) {
      if (signal.aborted) return this.#end('aborted');
      const end = await this.#turn();
      if (end !== undefined) return end;
    }
    return this.#end('turns', `used up its ${role.maxTurns} turns`);
  }

  async #turn(): Promise<AgentEnd | undefined> {
    for (const content of this.#options.hooks?.takeNotices() ?? []) this.#history.say(content);
    const fit = this.#care.fit(this.#history);
    if (fit.kind === 'exhausted') return this.#end('context-exhausted', fit.says);
    if (fit.kind === 'compacted') {
      const says = `its history was compacted from about ${fit.fromTokens} to ${fit.toTokens} tokens`;
      this.#options.onWarning?.({ code: 'compacted', says });
    }
    const asked = await this.#ask();
    if ('reason' in asked) return asked;
    if ('overflowed' in asked) return undefined;
    this.#turns += 1;
    return this.#take(asked);
  }

  async #ask(): Promise<ModelTurn | AgentEnd | { readonly overflowed: true }> {
    const { role, model, toolset, signal, onNotice } = this.#options;
    const request: ModelRequest = { role: role.name, messages: this.#history.messages(), tools: toolset.specs() };
    const halt = await this.#options.hooks?.beforeRequest(request);
    if (signal.aborted) return this.#end('aborted');
    if (halt !== undefined) return this.#end(halt.reason, halt.detail);
    const startedMs = performance.now();
    let isWaiting = false;
    const notice = (told: ModelNotice): void => {
      if (told.kind === 'fallback' && isWaiting) onNotice?.({ kind: 'asking' });
      isWaiting = told.kind === 'waiting';
      onNotice?.(told);
    };
    try {
      const turn = await untilAborted(model.complete(request, signal, { notice }), signal, model.abortMsMax ?? 0);
      this.#spend(spentOf(turn, model), startedMs, false);
      this.#care.took(this.#history, turn);
      this.#overflows = 0;
      for (const warning of turn.warnings ?? []) this.#options.onWarning?.(warning);
      return turn;
    } catch (error) {
      this.#spend(error instanceof ModelError ? error.spent : [], startedMs, true);
      if (signal.aborted) return this.#end('aborted');
      if (!(error instanceof ModelError)) throw error;
      if (error.code !== 'context-overflow') return this.#end('model-failed', `${error.code}: ${error.message}`);
      this.#overflows += 1;
      if (this.#overflows > overflowsMax) {
        return this.#end(
          'context-exhausted',
          `refused ${this.#overflows} times, compacted each time: ${error.message}`,
        );
      }
      this.#care.overflowed(this.#history, error.contextTokens);
      return { overflowed: true };
    } finally {
      // Whatever became of the wait, it is over.
      if (isWaiting) onNotice?.({ kind: 'asking' });
    }
  }

  #spend(spent: readonly Spend[], startedMs: number, failed: boolean): void {
    for (const { usage } of spent) if (usage !== undefined) this.#usage = addUsage(this.#usage, usage);
    this.#options.hooks?.afterRequest({ spent, ms: Math.ceil(performance.now() - startedMs), failed });
    if (spent.length > 0) this.#options.onSpent?.(spent);
  }

  /** Runs the turn's calls. */
  async #take(turn: ModelTurn): Promise<AgentEnd | undefined> {
    const { toolset, signal, answerCharsMax } = this.#options;
    if (turn.text !== '') this.#lastText = turn.text;
    const calls = this.#history.turn(turn);
    const steps: Step[] = [];
    for (const [at, call] of calls.entries()) {
      if (signal.aborted) return this.#end('aborted');
      // The turn was counted when it was taken.
      const key = callKeyOf(this.#turns - 1, at);
      const answer = await callSpan(this.#options, call, () => toolset.call(call, key));
      steps.push({ call, answer });
      this.#history.answer(call, renderAnswer(answer, answerCharsMax));
      if (answer.ends !== undefined) return this.#end(answer.ends);
    }
    if (calls.length === 0) this.#history.say(turn.finish === 'length' ? cutNudge : nudge);
    this.#idleTurns = calls.some(({ fault }) => fault === undefined) ? 0 : this.#idleTurns + 1;
    if (this.#idleTurns >= idleTurnsMax) {
      return calls.length === 0
        ? this.#end('no-calls', 'wrote text and called no tool')
        : this.#end('malformed-calls', `called tools with arguments that are no JSON: ${calls[0]?.fault}`);
    }
    return calls.length === 0 ? undefined : this.#watch(steps);
  }

  #watch(steps: readonly Step[]): AgentEnd | undefined {
    const verdict = this.#loops.note(steps, this.#options.progress?.());
    if (verdict === undefined) return undefined;
    this.#options.onWarning?.({ code: 'looping', says: verdict.says });
    if (verdict.kind === 'stop') return this.#end('looping', verdict.says);
    this.#history.say(verdict.says);
    return undefined;
  }

  #end(reason: AgentEndReason, detail?: string): AgentEnd {
    const end = { reason, turns: this.#turns, usage: this.#usage, ...(detail !== undefined && { detail }) };
    if (reason === 'finished' || reason === 'stopped') return end;
    const concerns = [`stopped by the runtime: ${reason}${detail === undefined ? '' : ` (${detail})`}`];
    const findings = this.#lastText === '' ? [] : [`its last words: ${this.#lastText.slice(0, 500)}`];
    return { ...end, handoff: { ...emptyHandoff, concerns, findings } };
  }
}

/** Names a call within its agent's life: turn and place, from 0. What the call asks the store stands under it. */
export const callKeyOf = (turn: number, at: number): string => `${turn}.${at}`;

/** One JSON object: `ok`, `says`, and what the tool adds. Where that is too long, its short fields stay whole. */
export function renderAnswer(answer: ToolAnswer, charsMax: number): string {
  const text = JSON.stringify({ ok: answer.ok, says: answer.says, ...answer.more });
  if (text.length <= charsMax) return text;
  const says = `${answer.says.slice(0, 2000)} (the answer of ${text.length} characters was cut at ${charsMax}: ask for less at a time)`;
  const short = Object.entries(answer.more ?? {}).filter(([, value]) => typeof value !== 'object' && isShort(value));
  return JSON.stringify({ ok: answer.ok, says, ...Object.fromEntries(short), cut: text.slice(0, charsMax) });
}

const isShort = (value: unknown): boolean => typeof value !== 'string' || value.length <= 200;

/** A model that does not heed its signal must not keep the agent's slot; one that has something to put away gets the time that it names. */
async function untilAborted<T>(work: Promise<T>, signal: AbortSignal, graceMs: number): Promise<T> {
  let onAbort: (() => void) | undefined;
  let grace: NodeJS.Timeout | undefined;
  const aborted = new Promise<never>((_, reject) => {
    const giveUp = (): void => reject(new ModelError('aborted', 'aborted by the caller'));
    onAbort = () => {
      if (graceMs > 0) grace = setTimeout(giveUp, graceMs);
      else giveUp();
    };
    signal.addEventListener('abort', onAbort, { once: true });
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    clearTimeout(grace);
    if (onAbort !== undefined) signal.removeEventListener('abort', onAbort);
  }
}
