import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { absent, type RecordWrite } from '@mound/vcs';
import { callKeyOf, renderAnswer, type AgentEnd, type AgentHooks, type Halt, type TurnCost } from '../agent/agent.ts';
import { eachDimension, noAmount, type Amount } from '../core/amount.ts';
import type { AgentId, TaskId } from '../core/ids.ts';
import type { Role } from '../core/role.ts';
import type { Handoff, TaskReport } from '../core/task.ts';
import { estimateTokens, noUsage, type Spend } from '../core/usage.ts';
import { CostLedger, type CostSum, type Spender } from '../cost/cost-ledger.ts';
import type { Message, ModelRequest } from '../model/model.ts';
import type { ToolAnswer } from '../tools/tool.ts';
import type { RunContext } from './run-context.ts';
import { readTranscript, Transcript, type TranscriptLine, type TranscriptSeal } from './transcript.ts';

/** What an agent's record says of it when it has ended. */
export interface AgentRecord {
  readonly format: 1;
  readonly task: TaskId;
  readonly conflict?: string;
  readonly generation: number;
  readonly agent: AgentId;
  readonly role: string;
  readonly model: string;
  readonly reason: string;
  /** Why, where it did not finish. */
  readonly detail?: string;
  /** Of one that did not finish: what is known of its work, in the runtime's words. */
  readonly left?: Handoff;
  readonly turns: number;
  readonly cost: CostSum;
  readonly byModel: Readonly<Record<string, CostSum>>;
  /** Of its requests. */
  readonly ms: number;
  readonly report?: TaskReport;
  readonly transcript?: TranscriptSeal;
}

export interface LifeOptions {
  readonly agent: AgentId;
  readonly role: Role;
  readonly task: TaskId;
  /** Generation of the claim; attempt of a merger. */
  readonly generation: number;
  readonly conflict?: string;
  readonly base: number;
  /** Its process died or stopped: go on where the transcript ends. */
  readonly goesOn: boolean;
  /** Node of the budget tree. */
  readonly draws: TaskId;
  readonly spender: Spender;
  gate(): Promise<Halt | undefined>;
  takeNotices(): readonly string[];
  /** It has ended a turn: it is alive. */
  onTurn(): void;
}

/** What stands in the transcript of an agent that goes on. */
export interface Recalled {
  /** Behind the brief; calls without a result are the last. */
  readonly messages: readonly Message[];
  readonly told: ReadonlySet<TaskId>;
  /** Generation under which the last turn ran. */
  readonly generation: number;
  readonly lostBytes: number;
}

/** One agent's requests, costs and words, as they are kept. */
export class AgentLife implements AgentHooks {
  readonly #context: RunContext;
  readonly #options: LifeOptions;
  readonly #transcript: Transcript | undefined;
  readonly recalled: Recalled | undefined;
  readonly #costs: CostLedger;
  #ms = 0;
  #held: Amount = noAmount;
  /** Of a bounded budget, for requests of which nobody says what they cost. */
  #takenNanoUsd = 0;

  constructor(context: RunContext, options: LifeOptions) {
    this.#context = context;
    this.#options = options;
    this.#costs = new CostLedger(context.parts.prices);
    const { transcripts } = context.parts.policy;
    if (transcripts === undefined) return;
    const { agent, role, task, conflict, generation, base } = options;
    const stem = conflict === undefined ? `task-${task}` : `merge-${conflict}`;
    const earlier = options.goesOn ? newestFile(transcripts, stem, generation) : undefined;
    const file = join(transcripts, earlier ?? `${stem}.${generation}.jsonl`);
    const read = earlier === undefined ? undefined : readTranscript(file);
    this.recalled = read && recall(read.lines, read.lostBytes);
    this.#transcript = new Transcript(file, read?.bytes ?? 0);
    this.#append({
      kind: 'start',
      format: 1,
      at: this.#now(),
      run: context.run,
      task,
      ...(conflict !== undefined && { conflict }),
      agent,
      role: role.name,
      model: context.model(role).name,
      generation,
      base,
    });
  }

  /** The messages behind the brief, every call with its result: what the process did not live to see is said so. */
  history(outcomeOf: (key: string, tool: string) => ToolAnswer | undefined): Message[] {
    const messages = [...(this.recalled?.messages ?? [])];
    const last = messages.findLastIndex(({ role }) => role === 'assistant');
    const asked = messages[last];
    if (asked?.role !== 'assistant') return messages;
    const answered = messages.length - last - 1;
    const turn = messages.slice(0, last).filter(({ role }) => role === 'assistant').length;
    for (const [at, call] of [...asked.calls.entries()].slice(answered)) {
      const answer = outcomeOf(callKeyOf(turn, at), call.name) ?? interrupted;
      const content = renderAnswer(answer, this.#context.parts.limits.answerCharsMax);
      const message: Message = { role: 'tool', callId: call.id, name: call.name, content };
      messages.push(message);
      this.onMessage(message);
    }
    return messages;
  }

  async beforeRequest(request: ModelRequest): Promise<Halt | undefined> {
    const halt = await this.#options.gate();
    if (halt !== undefined) return halt;
    const guess = this.#guess(request);
    const { draws: book, prices } = this.#context.parts;
    const { draws } = this.#options;
    const cost = prices.cost(guess);
    if (cost.kind === 'unknown' && this.#boundsMoney()) {
      return {
        reason: 'budget',
        detail: `money is bounded, and nobody knows what ${guess.model} costs: set its price (of a command: its budgetUsd)`,
      };
    }
    const asked: Amount = {
      tokens: tokensOf(guess),
      nanoUsd: cost.kind === 'known' ? cost.nanoUsd : 0,
      ms: 1,
    };
    const short = await book.hold(draws, asked);
    if (short !== undefined) {
      const { dimension, free } = short;
      const detail = `its budget has ${free} ${dimension} left, the next request may take ${short.asked}`;
      return { reason: 'budget', detail };
    }
    this.#held = asked;
    this.#append({ kind: 'asked', at: this.#now(), guess });
    return undefined;
  }

  afterRequest({ spent, ms, failed }: TurnCost): void {
    this.#append({ kind: 'spent', at: this.#now(), spent, ms, failed });
    const before = this.#amount();
    this.#costs.record(this.#options.spender, spent);
    this.#context.parts.costs.record(this.#options.spender, spent);
    this.#ms += ms;
    // Money that is bounded and of which nobody says where it went is gone: what was held is taken.
    const isUnknown = spent.some((spend) => this.#context.parts.prices.cost(spend).kind === 'unknown');
    if (isUnknown && this.#boundsMoney()) this.#takenNanoUsd += this.#held.nanoUsd;
    this.#context.parts.draws.release(this.#options.draws, this.#held, less(this.#amount(), before));
    this.#held = noAmount;
    this.#options.onTurn();
  }

  /** What it has cost by now. */
  get cost(): CostSum {
    return this.#costs.report().total;
  }

  takeNotices(): readonly string[] {
    return this.#options.takeNotices();
  }

  onMessage(message: Message): void {
    this.#append({ kind: 'message', at: this.#now(), message });
  }

  /** A planner has been told of these tasks: not again after a crash. */
  told(tasks: readonly TaskId[]): void {
    this.#append({ kind: 'told', at: this.#now(), tasks });
  }

  /**
   * Closes the transcript and writes what the agent came to and what it cost,
   * in one intent with the budget. `ended`: the task has ended with it.
   */
  async close(end: AgentEnd, report: TaskReport | undefined, ended: boolean): Promise<void> {
    this.#append({ kind: 'end', at: this.#now(), reason: end.reason });
    const seal = this.#transcript?.close();
    const { draws, task, agent, role } = this.#options;
    const { draws: book } = this.#context.parts;
    if (seal === undefined && book.isFree(draws) && isPlain(report) && end.handoff === undefined) return;
    const records = [this.#record(end, report, seal)];
    const closes = ended ? this.#context.ownNode(task) : undefined;
    await book.settle(
      { draws: this.#context.drawChain(task), spent: this.#amount(), ...(closes !== undefined && { ended: closes }) },
      {
        records,
        author: this.#context.author(role, agent),
        message: `report of ${agent} on ${task}`,
        operationId: undefined,
      },
    );
  }

  #record(end: AgentEnd, report: TaskReport | undefined, seal: TranscriptSeal | undefined): RecordWrite {
    const { agent, role, task, conflict, generation } = this.#options;
    const { keys } = this.#context;
    const { total, byModel } = this.#costs.report();
    const record: AgentRecord = {
      format: 1,
      task,
      ...(conflict !== undefined && { conflict }),
      generation,
      agent,
      role: role.name,
      model: this.#context.model(role).name,
      reason: end.reason,
      ...(end.detail !== undefined && { detail: end.detail }),
      ...(end.handoff !== undefined && { left: end.handoff }),
      turns: end.turns,
      cost: total,
      byModel,
      ms: this.#ms,
      ...(report !== undefined && { report }),
      ...(seal !== undefined && { transcript: seal }),
    };
    const key = conflict === undefined ? keys.handoff(task, generation) : keys.merge(conflict, generation);
    return { key, expect: absent, value: JSON.stringify(record) };
  }

  /** What the next request may cost at most, as far as can be told before it. */
  #guess(request: ModelRequest): Spend {
    const { outputTokensMax } = this.#context.parts.limits;
    const bytes = request.messages.reduce((sum, { content }) => sum + Buffer.byteLength(content), 0);
    const usage = { ...noUsage, inputTokens: estimateTokens(bytes), outputTokens: outputTokensMax, estimated: true };
    const model = this.#context.model(this.#options.role);
    const { name, endpoint, costUsdMax } = model;
    return {
      model: name,
      ...(endpoint !== undefined && { endpoint }),
      usage,
      ...(costUsdMax !== undefined && { costUsd: costUsdMax }),
    };
  }

  #boundsMoney(): boolean {
    const { draws: book } = this.#context.parts;
    return this.#context
      .drawChain(this.#options.task)
      .some((id) => (book.node(id)?.cap.nanoUsd ?? 'unlimited') !== 'unlimited');
  }

  #amount(): Amount {
    const amount = amountOf(this.#costs.report().total, this.#ms);
    return { ...amount, nanoUsd: amount.nanoUsd + this.#takenNanoUsd };
  }

  #append(line: TranscriptLine): void {
    this.#transcript?.append(line);
  }

  #now(): number {
    return this.#context.parts.time.now();
  }
}

const tokensOf = ({ usage }: Spend): number => (usage === undefined ? 0 : usage.inputTokens + usage.outputTokens);

export const amountOf = ({ usage, nanoUsd }: CostSum, ms: number): Amount => ({
  tokens: usage.inputTokens + usage.outputTokens,
  nanoUsd,
  ms,
});

const less = (left: Amount, right: Amount): Amount => eachDimension((dimension) => left[dimension] - right[dimension]);

const interrupted: ToolAnswer = {
  ok: false,
  says: 'interrupted: the process ended before this call had answered, and the repository holds no effect of it. Call it again if it is still needed.',
};

/** Says nothing that the task's own record does not say. */
function isPlain(report: TaskReport | undefined): boolean {
  if (report === undefined) return true;
  const { status, commits: _, check, ...words } = report.handoff;
  return status === 'done' && check === undefined && Object.values(words).every((list) => list.length === 0);
}

/** The transcript of the newest life of a task up to a generation. */
function newestFile(directory: string, stem: string, generation: number): string | undefined {
  if (!existsSync(directory)) return undefined;
  let newest = -1;
  for (const name of readdirSync(directory)) {
    if (!name.startsWith(`${stem}.`)) continue;
    const number = Number(/^(\d+)\.jsonl$/.exec(name.slice(stem.length + 1))?.[1] ?? -1);
    if (number <= generation && number > newest) newest = number;
  }
  return newest < 0 ? undefined : `${stem}.${newest}.jsonl`;
}

function recall(lines: readonly TranscriptLine[], lostBytes: number): Recalled | undefined {
  const messages: Message[] = [];
  const told = new Set<TaskId>();
  let generation = 0;
  for (const line of lines) {
    if (line.kind === 'message') messages.push(line.message);
    else if (line.kind === 'told') for (const task of line.tasks) told.add(task);
    else if (line.kind === 'start') ({ generation } = line);
  }
  const [brief, ...rest] = messages;
  return brief?.role === 'user' ? { messages: rest, told, generation, lostBytes } : undefined;
}
