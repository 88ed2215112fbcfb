import type { Role } from '../core/role.ts';
import { addUsage, noUsage, type Usage } from '../core/usage.ts';
import type { AgentEndReason } from '../events/event.ts';
import { ModelError } from '../model/model-error.ts';
import type { Message, Model, ModelTurn } from '../model/model.ts';
import type { ToolAnswer } from '../tools/tool.ts';
import type { Toolset } from '../tools/toolset.ts';

export interface AgentOptions {
  readonly role: Role;
  readonly model: Model;
  /** The first user message. */
  readonly brief: string;
  readonly toolset: Toolset;
  readonly signal: AbortSignal;
  /** Longer tool answers are cut, with a note. */
  readonly answerCharsMax: number;
}

export interface AgentEnd {
  readonly reason: AgentEndReason;
  readonly turns: number;
  readonly usage: Usage;
  readonly detail?: string;
}

/** Turns in a row in which no call could be run, after which an agent is given up. */
const idleTurnsMax = 3;

const nudge = 'Call one of your tools. Call finish when your work is over.';

/**
 * Asks the model, runs its calls in their order, answers, and again, until it
 * finishes, its turns are used up, or it makes no calls that can be run.
 */
export async function runAgent(options: AgentOptions): Promise<AgentEnd> {
  const { role, model, toolset, signal } = options;
  const messages: Message[] = [
    { role: 'system', content: role.prompt },
    { role: 'user', content: options.brief },
  ];
  const tools = toolset.specs();
  let usage = noUsage;
  let idleTurns = 0;
  const end = (reason: AgentEndReason, turns: number, detail?: string): AgentEnd =>
    detail === undefined ? { reason, turns, usage } : { reason, turns, usage, detail };

  for (let turns = 0; turns < role.maxTurns; turns++) {
    if (signal.aborted) return end('aborted', turns);
    let turn: ModelTurn;
    try {
      turn = await untilAborted(model.complete({ role: role.name, messages: [...messages], tools }, signal), signal);
    } catch (error) {
      if (signal.aborted) return end('aborted', turns);
      if (!(error instanceof ModelError)) throw error;
      if (error.usage !== undefined) usage = addUsage(usage, error.usage);
      return end('model-failed', turns, `${error.code}: ${error.message}`);
    }
    usage = addUsage(usage, turn.usage);
    messages.push({ role: 'assistant', content: turn.text, calls: turn.calls });
    if (turn.calls.length === 0) messages.push({ role: 'user', content: nudge });

    let ran = false;
    for (const call of turn.calls) {
      if (signal.aborted) return end('aborted', turns + 1);
      const answer = await toolset.call(call);
      if (answer.ends === true) return end('finished', turns + 1);
      ran ||= call.fault === undefined;
      messages.push({
        role: 'tool',
        callId: call.id,
        name: call.name,
        content: renderAnswer(answer, options.answerCharsMax),
      });
    }
    idleTurns = ran ? 0 : idleTurns + 1;
    if (idleTurns >= idleTurnsMax) {
      return turn.calls.length === 0
        ? end('no-calls', turns + 1, 'wrote text and called no tool')
        : end('malformed-calls', turns + 1, 'called tools with arguments that are no JSON');
    }
  }
  return end('turns', role.maxTurns, `used up its ${role.maxTurns} turns`);
}

/** One JSON object: `ok`, `says`, and what the tool adds. Where that is too long, its short fields stay whole. */
function renderAnswer(answer: ToolAnswer, charsMax: number): string {
  const text = JSON.stringify({ ok: answer.ok, says: answer.says, ...answer.more });
  if (text.length <= charsMax) return text;
  const says = `${answer.says} (the answer of ${text.length} characters was cut at ${charsMax}: ask for less at a time)`;
  const short = Object.entries(answer.more ?? {}).filter(([, value]) => typeof value !== 'object' && isShort(value));
  return JSON.stringify({ ok: answer.ok, says, ...Object.fromEntries(short), cut: text.slice(0, charsMax) });
}

const isShort = (value: unknown): boolean => typeof value !== 'string' || value.length <= 200;

/** A model that does not heed its signal must not keep the agent's slot. */
async function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  let onAbort: (() => void) | undefined;
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => reject(new ModelError('aborted', 'aborted by the caller'));
    signal.addEventListener('abort', onAbort, { once: true });
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    if (onAbort !== undefined) signal.removeEventListener('abort', onAbort);
  }
}
