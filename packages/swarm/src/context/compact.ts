import { isJsonObject, type JsonValue } from '../core/json.ts';
import type { AssistantMessage, Message, ToolCall, ToolMessage } from '../model/model.ts';
import { requestBytes } from '../model/wire/messages.ts';

/** A turn with its results, or a message of ours between turns. */
type Unit = readonly Message[];

export type Compaction =
  | { readonly kind: 'compacted'; readonly messages: readonly Message[]; readonly bytes: number }
  /** It cannot be made to fit, and why. */
  | { readonly kind: 'stuck'; readonly says: string };

/** Turns at the end whose results stay whole as long as possible. */
const freshUnits = 4;
/** Shorter texts are not worth cutting. */
const wholeBytesMax = 600;
const noteStart = '(To save room ';

export const messagesBytes = (messages: readonly Message[]): number => requestBytes({ role: '', messages, tools: [] });

/**
 * A shorter history that means as much as possible: first old results and old
 * long arguments are left out, then old turns as a whole, then what is new is
 * cut, largest first. Prompt and brief stay as they are. Either the answer fits
 * `bytesMax`, or it is stuck: never a history that is as long as before.
 */
export function compact(messages: readonly Message[], bytesMax: number): Compaction {
  const headLength = messages.findIndex(({ role }) => role === 'user') + 1;
  const head = messages.slice(0, headLength);
  let units = unitsOf(messages.slice(headLength));
  const headBytes = messagesBytes(head);
  const sizes = units.map(messagesBytes);
  let total = sizes.reduce((sum, bytes) => sum + bytes, headBytes);
  const done = (): Compaction => ({ kind: 'compacted', messages: [...head, ...units.flat()], bytes: total });

  if (total <= bytesMax) return done();
  if (headBytes > bytesMax) {
    const largest = head.toSorted((left, right) => right.content.length - left.content.length)[0];
    return {
      kind: 'stuck',
      says: `the ${largest?.role === 'system' ? 'prompt' : 'brief'} alone has ${largest?.content.length} characters and does not fit`,
    };
  }
  const shorten = (from: number, to: number, charsMax: number): boolean => {
    for (let at = from; at < to; at++) {
      const unit = (units[at] ?? []).map((message) => shortened(message, charsMax));
      units[at] = unit;
      total += messagesBytes(unit) - (sizes[at] ?? 0);
      sizes[at] = messagesBytes(unit);
      if (total <= bytesMax) return true;
    }
    return false;
  };
  const old = Math.max(0, units.length - freshUnits);
  if (shorten(0, old, 200)) return done();
  for (let dropped = 1; dropped <= old; dropped++) {
    const note = dropNote(units.slice(0, dropped));
    const rest = sizes.slice(dropped).reduce((sum, bytes) => sum + bytes, headBytes + messagesBytes(note));
    if (rest > bytesMax && dropped < old) continue;
    units = [note, ...units.slice(dropped)];
    sizes.splice(0, dropped, messagesBytes(note));
    total = rest;
    if (total <= bytesMax) return done();
    break;
  }
  // What is new: half as long each time, down to little.
  for (let charsMax = 64_000; charsMax >= 200; charsMax = Math.floor(charsMax / 2)) {
    if (shorten(0, units.length, charsMax)) return done();
  }
  return { kind: 'stuck', says: 'its newest turns do not fit, however much is left out of them' };
}

function unitsOf(messages: readonly Message[]): Unit[] {
  const units: Message[][] = [];
  for (const message of messages) {
    if (message.role === 'tool') units.at(-1)?.push(message);
    else units.push([message]);
  }
  return units;
}

function shortened(message: Message, charsMax: number): Message {
  if (message.role === 'tool') return shortResult(message, charsMax);
  if (message.role !== 'assistant') return { ...message, content: cut(message.content, Math.max(charsMax, 2000)) };
  return shortTurn(message, charsMax);
}

/** The result stays one JSON object with its short fields. */
function shortResult(message: ToolMessage, charsMax: number): ToolMessage {
  if (message.content.length <= Math.max(charsMax, wholeBytesMax)) return message;
  const left = `${message.content.length} characters were left out; ask again for what you need`;
  let value: unknown;
  try {
    value = JSON.parse(message.content);
  } catch {
    return { ...message, content: cut(message.content, charsMax) };
  }
  if (!isJsonObject(value)) return { ...message, content: cut(message.content, charsMax) };
  const short = Object.entries(value).filter(([, field]) => JSON.stringify(field ?? null).length <= 200);
  const start = charsMax > wholeBytesMax ? { cut: message.content.slice(0, charsMax) } : {};
  return { ...message, content: JSON.stringify({ ...Object.fromEntries(short), note: left, ...start }) };
}

function shortTurn(message: AssistantMessage, charsMax: number): AssistantMessage {
  const calls = message.calls.map((call): ToolCall => ({ ...call, arguments: shortValue(call.arguments, charsMax) }));
  const { origin, ...rest } = message;
  // Thoughts of old turns are of no use to anybody; signatures stay with their calls.
  const { reasoning: _, ...kept } = origin ?? { endpoint: '', model: '' };
  return { ...rest, content: cut(message.content, Math.max(charsMax, 500)), calls, ...(origin && { origin: kept }) };
}

function shortValue(value: JsonValue, charsMax: number): JsonValue {
  if (typeof value === 'string') return cut(value, Math.max(charsMax, 300));
  if (Array.isArray(value)) return (value as readonly JsonValue[]).map((entry) => shortValue(entry, charsMax));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, field]) => [key, field === undefined ? field : shortValue(field, charsMax)]),
  );
}

function cut(text: string, charsMax: number): string {
  if (text.length <= charsMax + 60) return text;
  const half = Math.floor(charsMax / 2);
  return `${text.slice(0, half)}\n[${text.length - 2 * half} characters left out]\n${text.slice(text.length - half)}`;
}

/** One message in place of old turns: how many, and what they did. */
function dropNote(units: readonly Unit[]): Unit {
  const counts = new Map<string, number>();
  let turns = 0;
  for (const [message] of units) {
    if (message?.role === 'user' && message.content.startsWith(noteStart)) {
      turns += Number(/(\d+) earlier/.exec(message.content)?.[1] ?? 0);
      for (const [, name = '', count] of message.content.matchAll(/([\w-]+) x(\d+)/g)) {
        counts.set(name, (counts.get(name) ?? 0) + Number(count));
      }
    }
    if (message?.role !== 'assistant') continue;
    turns += 1;
    for (const { name } of message.calls) counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  const made = [...counts].map(([name, count]) => `${name} x${count}`).join(', ') || 'none';
  const content = `${noteStart}${turns} earlier turns were left out. Calls that they made: ${made}. What they changed stands; read again what you need.)`;
  return [{ role: 'user', content }];
}
