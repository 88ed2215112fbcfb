import { readFileSync } from 'node:fs';
import { isJsonObject, type JsonObject, type JsonValue } from '../../core/json.ts';
import { ModelError, type ModelErrorCode } from '../model-error.ts';
import type { Model, ModelRequest, ModelTurn } from '../model.ts';
import { messageId, parseCassette, requestKey, type Cassette, type RecordedAnswer } from './cassette.ts';
import { PlainRequest } from './plain.ts';

/**
 * Answers from a cassette: the same request has the same answer, offline, in
 * whatever order the requests come. A request that was made several times has
 * its answers in their order, and then the last one.
 */
export class ReplayModel implements Model {
  readonly name: string;
  readonly contextTokens: number = Number.MAX_SAFE_INTEGER;
  readonly #cassette: Cassette;
  readonly #answers = new Map<string, RecordedAnswer[]>();

  constructor(cassette: Cassette, name = 'replay') {
    this.name = name;
    this.#cassette = cassette;
    for (const answer of cassette.answers) {
      const key = requestKey(answer.role, answer.messages);
      this.#answers.set(key, [...(this.#answers.get(key) ?? []), answer]);
    }
  }

  /** Throws `TypeError` where the file is no cassette, and what reading it throws. */
  static from(path: string): ReplayModel {
    return new ReplayModel(parseCassette(readFileSync(path, 'utf8')));
  }

  /** Errors: what was recorded; `replay-diverged` with the first field that differs from the nearest recorded request. */
  complete(request: ModelRequest, signal: AbortSignal): Promise<ModelTurn> {
    if (signal.aborted) return Promise.reject(new ModelError('aborted', 'aborted by the caller'));
    const plain = new PlainRequest(request);
    const answers = this.#answers.get(requestKey(plain.role, plain.messages.map(messageId)));
    const answer = answers !== undefined && answers.length > 1 ? answers.shift() : answers?.[0];
    if (answer === undefined) return Promise.reject(new ModelError('replay-diverged', this.#divergence(plain)));
    const { turn, failure } = answer;
    if (turn === undefined) {
      const { code = 'provider', message = 'nothing recorded', contextTokens, spent = [] } = failure ?? {};
      return Promise.reject(new ModelError(code as ModelErrorCode, message, { contextTokens, spent: spent as never }));
    }
    const calls = turn.calls.map(({ name, arguments: given, fault }, at) => ({
      id: `call_${at}`,
      name,
      arguments: plain.real(given),
      ...(fault !== undefined && { fault }),
    }));
    return Promise.resolve({ ...turn, calls } as ModelTurn);
  }

  #divergence(plain: PlainRequest): string {
    const ids = plain.messages.map(messageId);
    const shared = ({ messages }: RecordedAnswer): number => {
      const at = messages.findIndex((id, position) => id !== ids[position]);
      return at < 0 ? messages.length : at;
    };
    const same = this.#cassette.answers.filter(({ role }) => role === plain.role);
    if (same.length === 0) return `the cassette holds nothing of the role '${plain.role}'`;
    const nearest = same.reduce((best, answer) => (shared(answer) > shared(best) ? answer : best));
    const at = shared(nearest);
    const [recorded, now] = [this.#cassette.messages.get(nearest.messages[at] ?? ''), plain.messages[at]];
    if (now === undefined)
      return `messages[${at}]: the recorded request goes on (${nearest.messages.length} messages), this one ends`;
    if (recorded === undefined)
      return `messages[${at}]: the recorded request ends, this one goes on (${ids.length} messages)`;
    return firstDifference(recorded, now, `messages[${at}]`) ?? `messages[${at}] differs`;
  }
}

const shown = (value: JsonValue | undefined): string => {
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length > 120 ? `${text.slice(0, 120)}…` : text;
};

/** Path of the first field that differs, with both values. */
export function firstDifference(
  recorded: JsonValue | undefined,
  now: JsonValue | undefined,
  path: string,
): string | undefined {
  if (Array.isArray(recorded) && Array.isArray(now)) {
    const length = Math.max(recorded.length, now.length);
    for (let at = 0; at < length; at++) {
      const found = firstDifference(recorded[at] as JsonValue, now[at] as JsonValue, `${path}[${at}]`);
      if (found !== undefined) return found;
    }
    return undefined;
  }
  if (isJsonObject(recorded) && isJsonObject(now)) return firstOfFields(recorded, now, path);
  if (JSON.stringify(recorded) === JSON.stringify(now)) return undefined;
  if (typeof recorded === 'string' && typeof now === 'string') {
    let at = 0;
    while (at < recorded.length && recorded[at] === now[at]) at += 1;
    const from = Math.max(0, at - 20);
    return `${path}, from character ${from}: recorded ${shown(recorded.slice(from))}, now ${shown(now.slice(from))}`;
  }
  return `${path}: recorded ${shown(recorded)}, now ${shown(now)}`;
}

function firstOfFields(recorded: JsonObject, now: JsonObject, path: string): string | undefined {
  for (const key of new Set([...Object.keys(recorded), ...Object.keys(now)])) {
    const found = firstDifference(recorded[key], now[key], `${path}.${key}`);
    if (found !== undefined) return found;
  }
  return undefined;
}
