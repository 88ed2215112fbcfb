import { isJsonObject, type JsonObject, type JsonValue } from '../../core/json.ts';
import type { Message, ModelRequest } from '../model.ts';

/**
 * Fields whose values depend on when and by whom something was done: positions
 * in the log, ids made of them, names of agents and runs. Two runs of the same
 * work differ in them and in nothing else.
 */
const kinds: ReadonlyMap<string, string> = new Map([
  ['run', 'run'],
  ['agent', 'agent'],
  ['base', 'seq'],
  ['seq', 'seq'],
  ['asOf', 'seq'],
  ['version', 'version'],
  ['expect', 'version'],
  ['commit', 'commit'],
  ['conflict', 'conflict'],
  ['parked', 'parked'],
  ['blob', 'blob'],
  ['generation', 'generation'],
  ['agentsMax', 'agentsMax'],
]);

/** Whether a commit had to be merged is a matter of time, too; what came of it is not. */
const landed: ReadonlySet<JsonValue | undefined> = new Set(['landed', 'merged', 'resolved']);

interface Name {
  readonly name: string;
  readonly value: JsonValue;
}

/**
 * A request in a form that is the same whenever the same thing is asked. What
 * is volatile stands as `‹kind n›`, counted by where it stands (that two are
 * equal may be chance); the real values are kept beside, so that an answer can
 * be carried from one run to another.
 */
export class PlainRequest {
  readonly role: string;
  readonly messages: readonly JsonObject[];
  /** By kind and value (the last counts), and by name. */
  readonly #known = new Map<string, Name>();
  readonly #named = new Map<string, Name>();
  readonly #counts = new Map<string, number>();

  constructor(request: ModelRequest) {
    this.role = request.role;
    this.messages = request.messages.map((message) => this.#message(message));
  }

  /** An answer's value with names for what is volatile. */
  plain(value: JsonValue): JsonValue {
    return mapFields(value, (key, field) => this.#known.get(keyOf(kinds.get(key), field))?.name ?? field);
  }

  /** The same with this request's own values for the names. */
  real(value: JsonValue): JsonValue {
    return mapFields(value, (key, field) =>
      kinds.has(key) && typeof field === 'string' ? (this.#named.get(field)?.value ?? field) : field,
    );
  }

  #message(message: Message): JsonObject {
    if (message.role === 'assistant') {
      const calls = message.calls.map(({ name, arguments: given, fault }) => ({
        name,
        arguments: this.plain(given),
        ...(fault !== undefined && { fault }),
      }));
      return { role: message.role, content: message.content, calls };
    }
    const name = message.role === 'tool' ? { name: message.name } : {};
    return { role: message.role, ...name, content: this.#content(message.content) };
  }

  /** Briefs and results are JSON, of which fields are known by name; in words around them what is known is replaced. */
  #content(content: string): JsonValue {
    const from = content.indexOf('<brief>');
    const to = content.lastIndexOf('</brief>');
    if (from >= 0 && to > from) {
      const brief = parse(content.slice(from + 7, to));
      if (brief !== undefined) return [content.slice(0, from), this.#name(brief), content.slice(to + 8)];
    }
    const value = content.startsWith('{') ? parse(content) : undefined;
    return value === undefined ? this.#words(content) : this.#name(value);
  }

  #name(value: JsonValue): JsonValue {
    const named = mapFields(inOrder(value), (key, field) => {
      const kind = kinds.get(key);
      return kind === undefined ? field : this.#nameFor(kind, field);
    });
    return mapFields(named, (key, field) => this.#timeless(key, field));
  }

  #nameFor(kind: string, value: JsonValue): JsonValue {
    if (typeof value !== 'string' && typeof value !== 'number') return value;
    const count = this.#counts.get(kind) ?? 0;
    this.#counts.set(kind, count + 1);
    const made = { name: `‹${kind} ${count}›`, value };
    this.#known.set(keyOf(kind, value), made);
    this.#named.set(made.name, made);
    return made.name;
  }

  #timeless(key: string, field: JsonValue): JsonValue {
    if ((key === 'kind' || key === 'outcome') && landed.has(field)) return 'landed';
    if (key === 'outcome' && isJsonObject(field) && field['kind'] === 'merged') return { ...field, paths: undefined };
    if (key === 'commits') return 0;
    if (key !== 'says' || typeof field !== 'string') return field;
    if (field.startsWith('landed as seq')) return 'landed';
    return this.#words(field.replace(/^(all tasks ended).*/s, '$1'));
  }

  #words(text: string): string {
    let words = text.replace(/\bseq \d+/g, 'seq ‹›');
    for (const { name, value } of this.#named.values()) {
      // A short one may stand in a text for something else.
      if (typeof value === 'string' && value.length > 2) words = words.replaceAll(value, name);
    }
    return words;
  }
}

const keyOf = (kind: string | undefined, value: JsonValue): string => `${kind} ${JSON.stringify(value)}`;

function parse(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Reports come in the order in which tasks ended; here by task. */
function inOrder(value: JsonValue): JsonValue {
  if (!isJsonObject(value) || !Array.isArray(value['reports'])) return value;
  const taskOf = (report: JsonValue): string => JSON.stringify(isJsonObject(report) ? report['task'] : report) ?? '';
  const reports = (value['reports'] as readonly JsonValue[]).toSorted((left, right) =>
    taskOf(left) < taskOf(right) ? -1 : 1,
  );
  return { ...value, reports };
}

/** Fields in the order of their names, so that the same content is the same text. */
function mapFields(value: JsonValue, map: (key: string, field: JsonValue) => JsonValue): JsonValue {
  if (Array.isArray(value)) return (value as readonly JsonValue[]).map((entry) => mapFields(entry, map));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([left], [right]) => (left < right ? -1 : 1))
      .flatMap(([key, field]) => (field === undefined ? [] : [[key, mapFields(map(key, field), map)]])),
  );
}
