import { isJsonObject, type JsonObject, type JsonValue } from '../core/json.ts';
import { estimateTokens, type Usage } from '../core/usage.ts';
import { ModelError } from './model-error.ts';
import type { ModelTurn, ToolCall } from './model.ts';

interface PartialCall {
  readonly index: number | undefined;
  id: string;
  name: string;
  text: string;
}

const textOf = (value: JsonValue | undefined): string => (typeof value === 'string' ? value : '');
const countOf = (value: JsonValue | undefined): number => (typeof value === 'number' && value > 0 ? value : 0);

function usageOf(value: JsonObject): Usage {
  const details = value['prompt_tokens_details'];
  return {
    inputTokens: countOf(value['prompt_tokens']),
    outputTokens: countOf(value['completion_tokens']),
    cachedTokens: isJsonObject(details) ? countOf(details['cached_tokens']) : 0,
    estimated: false,
  };
}

/**
 * Puts one streamed answer together. Nothing in it is final before
 * {@link StreamAssembly.finish}: a prefix of a call's arguments that happens to
 * parse is still a prefix.
 */
export class StreamAssembly {
  #text = '';
  readonly #calls: PartialCall[] = [];
  #finish: string | undefined;
  #usage: Usage | undefined;

  get usage(): Usage | undefined {
    return this.#usage;
  }

  /** Takes one chunk; true where it brought something of meaning (a ping or an empty delta does not). */
  push(chunk: JsonObject): boolean {
    if (chunk['error'] !== undefined && chunk['error'] !== null) throw this.#errorOf(chunk['error']);
    let semantic = false;
    if (isJsonObject(chunk['usage'])) {
      this.#usage = usageOf(chunk['usage']);
      semantic = true;
    }
    const choices = chunk['choices'];
    const choice: unknown = Array.isArray(choices) ? choices[0] : undefined;
    if (!isJsonObject(choice)) return semantic;
    const delta = choice['delta'];
    if (isJsonObject(delta)) semantic = this.#pushDelta(delta) || semantic;
    const reason = textOf(choice['finish_reason']);
    if (reason !== '') this.#finish = reason;
    return semantic || reason !== '';
  }

  #pushDelta(delta: JsonObject): boolean {
    const text = textOf(delta['content']);
    this.#text += text;
    const calls: unknown = delta['tool_calls'];
    if (!Array.isArray(calls)) return text !== '' || textOf(delta['reasoning_content']) !== '';
    for (const call of calls) if (isJsonObject(call)) this.#pushCall(call);
    return true;
  }

  #pushCall(call: JsonObject): void {
    const id = textOf(call['id']);
    const made = isJsonObject(call['function']) ? call['function'] : {};
    const name = textOf(made['name']);
    const index = typeof call['index'] === 'number' ? call['index'] : undefined;
    const slot = this.#slotOf(index, id, name) ?? { index, id, name, text: '' };
    if (!this.#calls.includes(slot)) this.#calls.push(slot);
    slot.id ||= id;
    slot.name ||= name;
    slot.text += textOf(made['arguments']);
  }

  /** By index where one is sent, else by id, else by a new name. */
  #slotOf(index: number | undefined, id: string, name: string): PartialCall | undefined {
    if (index !== undefined) {
      const slot = this.#calls.findLast((call) => call.index === index);
      // Some servers send index 0 for every parallel call.
      const isOther = slot !== undefined && id !== '' && slot.id !== '' && id !== slot.id && name !== '';
      return isOther ? undefined : slot;
    }
    if (id !== '') return this.#calls.find((call) => call.id === id);
    const last = this.#calls.at(-1);
    const isNew = name !== '' && last !== undefined && (last.name !== name || last.text !== '');
    return isNew ? undefined : last;
  }

  #errorOf(error: JsonValue): ModelError {
    const said = isJsonObject(error) ? textOf(error['message']) : textOf(error);
    const code = isJsonObject(error) ? error['code'] : undefined;
    const status = typeof code === 'number' ? code : undefined;
    const kind = status === 429 ? 'rate-limited' : 'provider';
    return new ModelError(kind, `error inside the stream: ${said || JSON.stringify(error)}`, {
      status,
      usage: this.#usage,
    });
  }

  /** The whole turn. `sawDone`: the stream closed with `[DONE]`. `inputCharacters` serves where no usage was sent. */
  finish(sawDone: boolean, inputCharacters: number): ModelTurn {
    if (this.#finish === undefined && !sawDone) {
      throw new ModelError('transport', 'the stream ended without a finish reason and without [DONE]', {
        usage: this.#usage,
      });
    }
    const cut = this.#finish === 'length';
    const calls = this.#calls.map((call, at) => finalCall(call, at, cut && at === this.#calls.length - 1));
    const written = this.#calls.reduce((sum, call) => sum + call.name.length + call.text.length, this.#text.length);
    const reported = this.#usage;
    const usage =
      reported !== undefined && reported.inputTokens + reported.outputTokens > 0
        ? reported
        : {
            inputTokens: estimateTokens(inputCharacters),
            outputTokens: estimateTokens(written),
            cachedTokens: 0,
            estimated: true,
          };
    const finish = cut ? 'length' : this.#finish === 'stop' || this.#finish === 'tool_calls' ? 'stop' : 'other';
    return { text: this.#text, calls, usage, finish };
  }
}

function finalCall(call: PartialCall, at: number, cut: boolean): ToolCall {
  const { name } = call;
  const id = call.id || `call_${at}`;
  const faulty = (fault: string): ToolCall => ({ id, name, arguments: {}, fault });
  if (cut) return faulty('the answer was cut off at the length limit inside this call');
  try {
    const value: unknown = JSON.parse(call.text);
    if (isJsonObject(value)) return { id, name, arguments: value };
    return faulty('its arguments are not a JSON object');
  } catch {
    return faulty(
      call.text === ''
        ? 'its arguments are empty'
        : 'its arguments are not complete JSON (cut off, or written wrongly)',
    );
  }
}
