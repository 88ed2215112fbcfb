import { appendFileSync, existsSync, mkdirSync, readFileSync, truncateSync } from 'node:fs';
import { dirname } from 'node:path';
import { ModelError } from '../model-error.ts';
import type { AskOptions, Model, ModelRequest, ModelTurn } from '../model.ts';
import { cassetteFormat, messageId, parseCassette, type RecordedAnswer } from './cassette.ts';
import { PlainRequest } from './plain.ts';

/** A cassette that is being written; all models of a run may share it. */
export class CassetteWriter {
  readonly #path: string;
  readonly #written = new Set<string>();

  /** Appends to one that is there. Throws `TypeError` where that is none. */
  constructor(path: string) {
    this.#path = path;
    if (existsSync(path)) {
      const text = readFileSync(path, 'utf8');
      // What a crash cut off goes, so that the next line is one.
      truncateSync(path, Buffer.byteLength(text.slice(0, text.lastIndexOf('\n') + 1)));
      if (text.includes('\n')) {
        for (const id of parseCassette(text).messages.keys()) this.#written.add(id);
        return;
      }
    }
    mkdirSync(dirname(path), { recursive: true });
    this.#append([{ cassette: cassetteFormat }]);
  }

  add(request: PlainRequest, answer: Omit<RecordedAnswer, 'role' | 'messages'>): void {
    const lines: object[] = [];
    const ids = request.messages.map((message) => {
      const id = messageId(message);
      if (!this.#written.has(id)) lines.push({ id, message });
      this.#written.add(id);
      return id;
    });
    this.#append([...lines, { role: request.role, messages: ids, ...answer }]);
  }

  /** In one write, so that lines of several processes do not mix. */
  #append(lines: readonly object[]): void {
    appendFileSync(this.#path, lines.map((entry) => `${JSON.stringify(entry)}\n`).join(''));
  }
}

/** Records what any mind answers, failures included; a raw transcript of the run as well. */
export class RecordingModel implements Model {
  readonly #model: Model;
  readonly #cassette: CassetteWriter;

  constructor(model: Model, cassette: CassetteWriter) {
    this.#model = model;
    this.#cassette = cassette;
  }

  get name(): string {
    return this.#model.name;
  }

  get contextTokens(): number | undefined {
    return this.#model.contextTokens;
  }

  get costUsdMax(): number | undefined {
    return this.#model.costUsdMax;
  }

  get abortMsMax(): number {
    return this.#model.abortMsMax ?? 0;
  }

  async complete(request: ModelRequest, signal: AbortSignal, options?: AskOptions): Promise<ModelTurn> {
    const plain = new PlainRequest(request);
    const model = this.name;
    try {
      const turn = await this.#model.complete(request, signal, options);
      const { text, usage, finish, spent } = turn;
      const calls = turn.calls.map(({ name, arguments: given, fault }) => ({
        name,
        arguments: plain.plain(given),
        fault,
      }));
      this.#cassette.add(plain, { model, turn: { text, calls, usage, finish, spent: spent && [...spent] } });
      return turn;
    } catch (error) {
      if (error instanceof ModelError && error.code !== 'aborted') {
        const { code, message, contextTokens, spent } = error;
        this.#cassette.add(plain, { model, failure: { code, message, contextTokens, spent: [...spent] } });
      }
      throw error;
    }
  }
}
