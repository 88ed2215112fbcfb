import type { Message, ModelTurn, ToolCall, ToolMessage } from './model.ts';

/**
 * An agent's transcript. It is well-formed at all times: ids of calls are
 * unique, and each call has exactly one result, which follows it.
 */
export class History {
  readonly #messages: Message[];
  #onAdded: ((message: Message) => void) | undefined;
  #turns: number;
  #open: ToolCall[] = [];

  constructor(...start: Message[]) {
    this.#messages = start;
    // One that goes on must not use an id again.
    this.#turns = turnsIn(start);
  }

  /** One that tells of each message that is added, as it is added. */
  static observed(start: readonly Message[], onAdded: (message: Message) => void): History {
    const history = new History(...start);
    history.#onAdded = onAdded;
    return history;
  }

  /** A copy. Calls that have no result yet get one that says so. */
  messages(): Message[] {
    this.close('not run');
    return [...this.#messages];
  }

  say(content: string): void {
    this.close('not run');
    this.#add({ role: 'user', content });
  }

  /** Takes a model's turn; the answer is its calls under ids that are unique in this history. */
  turn({ text, calls, origin }: ModelTurn): readonly ToolCall[] {
    this.close('not run');
    const number = this.#turns++;
    // Providers count from 0 in every turn, or send no ids at all.
    const own = calls.map((call, at): ToolCall => ({
      ...call,
      id: `t${number}_${at}`,
      wireId: call.wireId ?? call.id,
    }));
    this.#open = [...own];
    this.#add({ role: 'assistant', content: text, calls: own, ...(origin && { origin }) });
    return own;
  }

  answer(call: ToolCall, content: string): void {
    if (!this.#open.includes(call)) throw new Error(`call ${call.id} has its result, or is none of this turn`);
    this.#open = this.#open.filter((other) => other !== call);
    this.#add(resultOf(call, content));
  }

  #add(message: Message): void {
    this.#messages.push(message);
    this.#onAdded?.(message);
  }

  /** Answers what is left of the turn's calls with why they were not run. */
  close(says: string): void {
    for (const call of this.#open) this.#add(resultOf(call, JSON.stringify({ ok: false, says })));
    this.#open = [];
  }

  /** Puts a shorter history in place of this one; it must be well-formed itself. */
  replace(messages: readonly Message[]): void {
    const fault = faultOfHistory(messages);
    if (fault !== undefined) throw new Error(fault);
    this.#open = [];
    this.#messages.splice(0, this.#messages.length, ...messages);
  }
}

/** Turns of the model in a history. */
export const turnsIn = (messages: readonly Message[]): number =>
  messages.reduce((count, message) => count + (message.role === 'assistant' ? 1 : 0), 0);

const resultOf = ({ id, name }: ToolCall, content: string): ToolMessage => ({
  role: 'tool',
  callId: id,
  name,
  content,
});

/** What a provider would refuse in a history, or undefined. */
export function faultOfHistory(messages: readonly Message[]): string | undefined {
  const seen = new Set<string>();
  let open: string[] = [];
  for (const [at, message] of messages.entries()) {
    if (message.role === 'tool') {
      if (!open.includes(message.callId)) return `message ${at}: a result without its call`;
      open = open.filter((id) => id !== message.callId);
      continue;
    }
    if (open.length > 0) return `message ${at}: ${open.length} calls before it have no result`;
    if (message.role !== 'assistant') continue;
    for (const { id } of message.calls) {
      if (seen.has(id)) return `message ${at}: the id ${id} is used twice`;
      seen.add(id);
      open.push(id);
    }
  }
  return open.length > 0 ? `${open.length} calls have no result` : undefined;
}
