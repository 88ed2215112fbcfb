import { createHash } from 'node:crypto';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseBrief } from '../core/brief.ts';
import { sleep, systemTime, type Time } from '../core/time.ts';
import { noUsage } from '../core/usage.ts';
import { parseStep, stepForm, type Step } from './command/step-file.ts';
import { ModelError } from './model-error.ts';
import type { AskOptions, Model, ModelRequest, ModelTurn } from './model.ts';

export interface MailboxOptions {
  readonly dir: string;
  readonly name?: string;
  /** How often it looks for an answer. Default 250 ms. */
  readonly pollMs?: number;
  /** How long it waits for one. Default a day. */
  readonly answerMs?: number;
  readonly time?: Time;
}

const dayMs = 24 * 60 * 60_000;

/**
 * A directory as a mind: each request becomes a file in `requests/`, and the
 * answer is a file of the same name in `answers/`, written by a person or by any
 * program. Both appear by a rename, so nobody reads half of one. The name
 * follows from the request: one that is asked again after a crash finds the
 * answer that was given meanwhile.
 */
export class MailboxModel implements Model {
  readonly name: string;
  readonly contextTokens: number = Number.MAX_SAFE_INTEGER;
  readonly #options: MailboxOptions;
  readonly #time: Time;

  constructor(options: MailboxOptions) {
    this.name = options.name ?? 'mailbox';
    this.#options = options;
    this.#time = options.time ?? systemTime;
  }

  async complete(request: ModelRequest, signal: AbortSignal, { notice }: AskOptions = {}): Promise<ModelTurn> {
    const { dir, pollMs = 250, answerMs = dayMs } = this.#options;
    const name = nameOf(request);
    const places = {
      request: join(dir, 'requests', name),
      answer: join(dir, 'answers', name),
      done: join(dir, 'done'),
    };
    for (const directory of ['requests', 'answers', 'done', 'refused'])
      await mkdir(join(dir, directory), { recursive: true });
    const body = { answerTo: `answers/${name}`, form: stepForm, ...request };
    await writeWhole(places.request, `${JSON.stringify(body, undefined, 2)}\n`);
    const until = this.#time.now() + answerMs;
    notice?.({ kind: 'waiting', until, reason: `an answer is awaited in ${places.answer}` });
    for (;;) {
      const step = await this.#take(places.answer, name);
      if (step !== undefined) {
        await rename(places.request, join(places.done, name)).catch(() => undefined);
        notice?.({ kind: 'asking' });
        return turnOf(step, this.name);
      }
      if (this.#time.now() >= until) {
        await rm(places.request, { force: true });
        throw new ModelError('unavailable', `nobody answered ${places.request} in ${answerMs} ms`);
      }
      if (await sleep(this.#time, pollMs, signal)) continue;
      await rm(places.request, { force: true });
      throw new ModelError('aborted', 'aborted while an answer was awaited');
    }
  }

  /** An answer that cannot be used is put aside with the reason, and another one is awaited. */
  async #take(path: string, name: string): Promise<Step | undefined> {
    let text: string;
    try {
      text = await readFile(path, 'utf8');
    } catch {
      return undefined;
    }
    const read = parseStep(text);
    const { dir } = this.#options;
    if ('step' in read) {
      await rename(path, join(dir, 'done', name.replace('.json', '.answer.json')));
      return read.step;
    }
    await rename(path, join(dir, 'refused', name));
    await writeWhole(join(dir, 'refused', name.replace('.json', '.reason.txt')), `${read.fault}\n`);
    return undefined;
  }
}

/** By agent, turn and content. */
function nameOf(request: ModelRequest): string {
  const first = request.messages.find(({ role }) => role === 'user');
  const agent = (first && parseBrief(first.content)?.agent) ?? request.role.replace(/[^\w.-]/g, '_');
  const turn = request.messages.filter(({ role }) => role === 'assistant').length;
  const hash = createHash('sha256').update(JSON.stringify(request.messages)).digest('hex').slice(0, 12);
  return `${agent}-${turn}-${hash}.json`;
}

async function writeWhole(path: string, text: string): Promise<void> {
  const beside = `${path}.part`;
  await writeFile(beside, text);
  await rename(beside, path);
}

const turnOf = ({ text = '', calls = [], usage, costUsd }: Step, model: string): ModelTurn => ({
  text,
  calls: calls.map((call, at) => ({ id: `call_${at}`, ...call })),
  usage: usage === undefined ? { ...noUsage, estimated: true } : { ...usage, estimated: false },
  finish: 'stop',
  spent: [
    { model, ...(usage && { usage: { ...usage, estimated: false } }), ...(costUsd !== undefined && { costUsd }) },
  ],
});
