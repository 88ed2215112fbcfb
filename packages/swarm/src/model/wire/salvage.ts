import { isJsonObject, type JsonValue } from '../../core/json.ts';
import { parseArguments } from './arguments.ts';

export interface SalvagedCall {
  readonly name: string;
  readonly arguments: JsonValue;
}

export interface Salvage {
  /** The text without the calls. */
  readonly text: string;
  readonly calls: readonly SalvagedCall[];
}

/** Code blocks (an open one runs to the end) and code within a line. */
const code = /(^|\n) {0,3}(`{3,}|~{3,})[^\n]*\n[\s\S]*?(?:\n {0,3}\2[`~]* *(?=\n|$)|$)|`[^`\n]+`/g;

const written: readonly {
  readonly pattern: RegExp;
  readonly read: (match: RegExpExecArray) => SalvagedCall | undefined;
}[] = [
  { pattern: /<tool_call>\s*(\{[\s\S]*?\})\s*<\/tool_call>/g, read: ([, json = '']) => readJson(json) },
  {
    pattern: /(?:<tool_call>\s*)?<function=([\w.-]+)>([\s\S]*?)<\/function>(?:\s*<\/tool_call>)?/g,
    read: ([, name = '', body = '']) => readTagged(name, body),
  },
];

/**
 * Calls of offered tools that a model wrote as text instead of making them.
 * What stands in code is an example and no call; what does not parse stays text.
 */
export function salvageCalls(text: string, offered: ReadonlySet<string>): Salvage {
  const shielded = [...text.matchAll(code)].map((match) => [match.index, match.index + match[0].length] as const);
  const found: { readonly from: number; readonly to: number; readonly call: SalvagedCall }[] = [];
  for (const { pattern, read } of written) {
    for (const match of text.matchAll(pattern)) {
      const [from, to] = [match.index, match.index + match[0].length];
      const isShielded = shielded.some(([start, end]) => from < end && to > start);
      const isTaken = found.some((other) => from < other.to && to > other.from);
      const call = isShielded || isTaken ? undefined : read(match);
      if (call !== undefined && offered.has(call.name)) found.push({ from, to, call });
    }
  }
  found.sort((left, right) => left.from - right.from);
  let rest = text;
  for (const { from, to } of found.toReversed()) rest = rest.slice(0, from) + rest.slice(to);
  return { text: found.length === 0 ? text : rest.trim(), calls: found.map(({ call }) => call) };
}

function readJson(json: string): SalvagedCall | undefined {
  const parsed = parseArguments(json);
  if ('fault' in parsed || typeof parsed.value['name'] !== 'string') return undefined;
  const given = parsed.value['arguments'] ?? parsed.value['parameters'] ?? {};
  const inner = typeof given === 'string' ? parseArguments(given) : isJsonObject(given) ? { value: given } : undefined;
  if (inner === undefined || 'fault' in inner) return undefined;
  return { name: parsed.value['name'], arguments: inner.value };
}

function readTagged(name: string, body: string): SalvagedCall | undefined {
  if (body.trim().startsWith('{')) {
    const parsed = parseArguments(body);
    return 'fault' in parsed ? undefined : { name, arguments: parsed.value };
  }
  const parameters = [...body.matchAll(/<parameter=([\w.-]+)>\n?([\s\S]*?)\n?<\/parameter>/g)];
  return { name, arguments: Object.fromEntries(parameters.map(([, key = '', value = '']) => [key, readValue(value)])) };
}

/** Numbers, booleans and structures are written bare; everything else is text. */
function readValue(text: string): JsonValue {
  try {
    const value = JSON.parse(text) as JsonValue;
    return typeof value === 'string' ? text : value;
  } catch {
    return text;
  }
}
