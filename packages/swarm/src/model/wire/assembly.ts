import { isJsonObject, type JsonObject, type JsonValue } from '../../core/json.ts';
import { estimateTokens, type Spend, type Usage } from '../../core/usage.ts';
import { ModelError } from '../model-error.ts';
import type { ModelTurn, ToolCall, TurnOrigin } from '../model.ts';
import { isWholeObject, parseArguments } from './arguments.ts';
import { providerError, readFault } from './classify.ts';
import { gather } from './gather.ts';
import type { Quirks } from './quirks.ts';
import { salvageCalls } from './salvage.ts';
import { readUsage, type ReportedUsage } from './usage-report.ts';

interface PartialCall {
  readonly index: number | undefined;
  id: string;
  name: string;
  text: string;
  extras: JsonObject;
}

/** What an answer is put together for. */
export interface AssemblyOptions {
  readonly endpoint: string;
  readonly model: string;
  readonly quirks: Quirks;
  /** Of the request's messages and tools, for an estimate where no usage is sent. */
  readonly inputBytes: number;
  /** Names of the tools that were offered. */
  readonly offered: ReadonlySet<string>;
}

const textOf = (value: JsonValue | undefined): string => (typeof value === 'string' ? value : '');
const bytesOf = (text: string): number => Buffer.byteLength(text);

/** Content is a text or a list of parts. */
function contentOf(value: JsonValue | undefined): string {
  if (!Array.isArray(value)) return textOf(value);
  return (value as readonly JsonValue[])
    .map((part) => (isJsonObject(part) ? textOf(part['text']) : textOf(part)))
    .join('');
}

const isSomething = (value: JsonValue | undefined): boolean =>
  value !== null && value !== '' && !(Array.isArray(value) && value.length === 0);

/** Reasons that say that the provider broke off. */
const failures: ReadonlySet<string> = new Set([
  'error',
  'network_error',
  'insufficient_system_resource',
  'malformed_function_call',
  'abort',
]);
const cuts: ReadonlySet<string> = new Set(['length', 'max_tokens', 'model_context_window_exceeded', 'model_length']);
const thoughts = ['reasoning_content', 'reasoning', 'thinking'] as const;
const known: ReadonlySet<string> = new Set([
  'role',
  'content',
  'tool_calls',
  'function_call',
  'refusal',
  'annotations',
  'audio',
  ...thoughts,
]);

/**
 * Puts one answer together, from a stream's chunks or from one whole message.
 * Nothing in it is final before {@link Assembly.finish}: a prefix of a call's
 * arguments that happens to parse is still a prefix.
 */
export class Assembly {
  readonly #options: AssemblyOptions;
  #text = '';
  readonly #calls: PartialCall[] = [];
  #extras: JsonObject = {};
  #reasoning: { field: string; text: string } | undefined;
  #finish: string | undefined;
  #reported: ReportedUsage | undefined;
  #chunks = 0;

  constructor(options: AssemblyOptions) {
    this.#options = options;
  }

  /** What is known to be spent so far. */
  get spent(): readonly Spend[] {
    if (this.#reported !== undefined) return [this.#spend(this.#reported.usage)];
    // The provider had begun: tokens were spent, and nobody said how many.
    return this.#chunks > 0 ? [this.#spend(this.#estimate())] : [];
  }

  #spend(usage: Usage): Spend {
    const { endpoint, model } = this.#options;
    const costUsd = this.#reported?.costUsd;
    return { endpoint, model, usage, ...(costUsd !== undefined && { costUsd }) };
  }

  /** Takes one chunk; true where it brought something of meaning (a ping or an empty delta does not). */
  push(chunk: JsonObject): boolean {
    this.#mustBeGood(chunk);
    this.#chunks += 1;
    const choices = chunk['choices'];
    const all: readonly unknown[] = Array.isArray(choices) ? choices : [];
    const choice = all.find((one) => isJsonObject(one) && (one['index'] ?? 0) === 0);
    const inner = isJsonObject(choice) ? choice['usage'] : undefined;
    const groq = isJsonObject(chunk['x_groq']) ? chunk['x_groq']['usage'] : undefined;
    const usage = [chunk['usage'], inner, groq].find((report) => isJsonObject(report));
    let semantic = false;
    if (isJsonObject(usage)) {
      const read = readUsage(usage, this.#options.quirks.cachedReport);
      semantic = read !== undefined;
      this.#reported = read ?? this.#reported;
    }
    if (!isJsonObject(choice)) return semantic;
    this.#mustBeGood(choice);
    for (const message of [choice['delta'], choice['message']]) {
      if (isJsonObject(message)) semantic = this.#pushMessage(message) || semantic;
    }
    const reason = textOf(choice['finish_reason']).toLowerCase();
    if (reason !== '') this.#finish = reason;
    return semantic || reason !== '';
  }

  /** Errors come inside of streams that began well. */
  #mustBeGood(chunk: JsonObject): void {
    const { error } = chunk;
    const isError = error !== undefined && error !== null && error !== false && error !== '';
    if (!isError && chunk['object'] !== 'error' && chunk['type'] !== 'error') return;
    throw providerError(readFault(chunk, undefined), 'error inside the stream', { spent: this.spent });
  }

  #pushMessage(message: JsonObject): boolean {
    const text = contentOf(message['content']) + textOf(message['refusal']);
    this.#text += text;
    let semantic = text !== '';
    for (const field of thoughts) {
      const thought = textOf(message[field]);
      if (thought === '' || (this.#reasoning !== undefined && this.#reasoning.field !== field)) continue;
      this.#reasoning ??= { field, text: '' };
      this.#reasoning.text += thought;
      semantic = true;
    }
    const extras = Object.entries(message).filter(([key, value]) => !known.has(key) && isSomething(value));
    if (extras.length > 0) {
      this.#extras = gather(this.#extras, Object.fromEntries(extras));
      semantic = true;
    }
    const calls: unknown = message['tool_calls'];
    for (const call of Array.isArray(calls) ? calls : []) {
      if (isJsonObject(call)) semantic = this.#pushCall(call) || semantic;
    }
    // The form before there were tools.
    const old = message['function_call'];
    return isJsonObject(old) ? this.#pushCall({ function: old }) : semantic;
  }

  #pushCall(call: JsonObject): boolean {
    const { index: position, id: given, type: _type, function: made, ...beside } = call;
    const { name: said, arguments: passed, ...within } = isJsonObject(made) ? made : {};
    const id = textOf(given);
    const name = textOf(said);
    const index = position === null || position === undefined || position === '' ? undefined : Number(position);
    const opened = this.#slotOf(index, id, name);
    const slot = opened ?? { index, id, name, text: '', extras: {} };
    if (opened === undefined) this.#calls.push(slot);
    const before = slot.text.length;
    slot.id ||= id;
    slot.name ||= name;
    // An object in place of a text is whole.
    slot.text += isJsonObject(passed) ? JSON.stringify(passed) : textOf(passed);
    const inner = Object.keys(within).length === 0 ? {} : { function: within };
    slot.extras = gather(slot.extras, { ...beside, ...inner });
    return opened === undefined || slot.text.length > before;
  }

  /**
   * By id where it is known; else by index; else the call opened last, unless a
   * new id or name opens another. An index that several calls share (0 for all)
   * does not make one of them.
   */
  #slotOf(index: number | undefined, id: string, name: string): PartialCall | undefined {
    const same = id === '' ? undefined : this.#calls.findLast((call) => call.id === id);
    if (same !== undefined && (index === undefined || same.index === index)) return same;
    if (index !== undefined) {
      const slot = this.#calls.findLast((call) => call.index === index);
      const isOther = slot !== undefined && id !== '' && slot.id !== '' && name !== '';
      const isOver = slot !== undefined && (slot.name !== name || slot.text === '' || isWholeObject(slot.text));
      return isOther && isOver ? undefined : slot;
    }
    const last = this.#calls.at(-1);
    if (last === undefined || (id !== '' && last.id !== '')) return undefined;
    if (name === '' || last.name === '') return last;
    return name === last.name && !isWholeObject(last.text) ? last : undefined;
  }

  #estimate(): Usage {
    const written = this.#calls.reduce(
      (sum, call) => sum + bytesOf(call.name) + bytesOf(call.text),
      bytesOf(this.#text),
    );
    const thought = bytesOf(this.#reasoning?.text ?? '');
    return {
      inputTokens: estimateTokens(this.#options.inputBytes),
      outputTokens: estimateTokens(written + thought),
      cachedTokens: 0,
      estimated: true,
    };
  }

  /** What was reported; where a part of the report is missing, that part is estimated, and all of it marked. */
  #usage(): Usage {
    const usage = this.#reported?.usage;
    if (usage === undefined) return this.#estimate();
    const isMissing =
      usage.inputTokens === 0 || (usage.outputTokens === 0 && (this.#text !== '' || this.#calls.length > 0));
    if (!isMissing) return usage;
    const guess = this.#estimate();
    return {
      ...usage,
      inputTokens: usage.inputTokens || guess.inputTokens,
      outputTokens: usage.outputTokens || guess.outputTokens,
      estimated: true,
    };
  }

  /** The whole turn. `isWhole`: the stream closed with `[DONE]`, or was one message. */
  finish(isWhole: boolean): ModelTurn {
    const { spent } = this;
    const finish = this.#finish;
    const isEmpty = this.#text === '' && this.#calls.length === 0;
    if (finish === undefined && (!isWhole || isEmpty)) {
      const says = isWhole
        ? 'the answer is empty and has no finish reason'
        : 'the stream ended without a finish reason and without [DONE]';
      throw new ModelError('transport', says, { spent });
    }
    if (finish !== undefined && failures.has(finish)) {
      throw new ModelError('provider', `the provider broke off with finish reason '${finish}'`, { spent });
    }
    if (finish === 'content_filter' && isEmpty) {
      throw new ModelError('filtered', 'the answer was withheld by the content filter', { spent });
    }
    const isCut = finish !== undefined && cuts.has(finish);
    const { quirks, offered } = this.#options;
    const last = this.#calls.length - 1;
    let calls = this.#calls.map((call, at) => finalCall(call, at, isCut && at === last));
    let text = this.#text;
    if (quirks.salvageCalls && calls.length === 0 && !isCut) {
      const salvage = salvageCalls(text, offered);
      ({ text } = salvage);
      calls = salvage.calls.map((call, at) => ({ id: `call_${at}`, ...call }));
    }
    const usage = this.#usage();
    const stopped = finish === 'stop' || finish === 'tool_calls' || finish === 'end_turn' || finish === 'function_call';
    const origin = this.#origin();
    return {
      text,
      calls,
      usage,
      finish: isCut ? 'length' : stopped || finish === undefined ? 'stop' : 'other',
      ...(origin && { origin }),
      spent: [this.#spend(usage)],
    };
  }

  #origin(): TurnOrigin | undefined {
    const { endpoint, model } = this.#options;
    const hasExtras = Object.keys(this.#extras).length > 0;
    const reasoning = this.#reasoning;
    const isOwn = this.#calls.some(({ extras }) => Object.keys(extras).length > 0);
    if (!hasExtras && reasoning === undefined && !isOwn) return undefined;
    return {
      endpoint,
      model,
      ...(hasExtras && { extras: this.#extras }),
      ...(reasoning && { reasoning: { ...reasoning } }),
    };
  }
}

function finalCall(call: PartialCall, at: number, isCut: boolean): ToolCall {
  const { name, extras } = call;
  const more = Object.keys(extras).length > 0 ? { extras } : {};
  const id = call.id || `call_${at}`;
  if (isCut) {
    return { id, name, arguments: {}, fault: 'the answer was cut off at the length limit inside this call', ...more };
  }
  if (name === '') return { id, name, arguments: {}, fault: 'it names no tool', ...more };
  const parsed = parseArguments(call.text);
  return 'fault' in parsed
    ? { id, name, arguments: {}, fault: parsed.fault, ...more }
    : { id, name, arguments: parsed.value, ...more };
}
