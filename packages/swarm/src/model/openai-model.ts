import OpenAI from 'openai';
import { estimateTokens, type Spend } from '../core/usage.ts';
import { sleep } from '../core/time.ts';
import { AnswerTimers, type AnswerLimits } from './answer-timers.ts';
import { Endpoints } from './gate/endpoints.ts';
import { waitMsMaxDefault, type Gate, type GatePolicy, type Pass } from './gate/gate.ts';
import { ModelError } from './model-error.ts';
import type { AskOptions, Model, ModelRequest, ModelTurn, TurnWarning } from './model.ts';
import { parseJson, readStart, readStream, readWhole } from './read-answer.ts';
import { defaultRetryPolicy, delayOf, type RetryPolicy } from './retry.ts';
import { Assembly } from './wire/assembly.ts';
import { providerError, readFault, retryAfterOf } from './wire/classify.ts';
import { requestBytes, toWireMessages, toWireTool } from './wire/messages.ts';
import { isOffered, quirksOf, type Quirks } from './wire/quirks.ts';

export interface OpenAiModelOptions {
  /** Up to and with `/v1`. */
  readonly baseURL: string;
  readonly model: string;
  /** NAME of the environment variable that holds the key; no key is sent without it. */
  readonly apiKeyEnv?: string;
  /** Longest silence before the first piece of an answer. Default: `idleMs` where given, else 5 min. */
  readonly firstMs?: number;
  /** Longest silence between two pieces of an answer; pings do not count. Default 2 min. */
  readonly idleMs?: number;
  /** Longest time for one answer. Default 15 min. */
  readonly totalMs?: number;
  readonly retry?: Partial<RetryPolicy>;
  readonly gate?: Partial<GatePolicy>;
  /** Shared by the models of a run, so that they share gates and budgets. Default: its own. */
  readonly endpoints?: Endpoints;
  /** Where this provider does otherwise than is known of it. */
  readonly quirks?: Partial<Quirks>;
  /** Tokens of request and answer together, where known. */
  readonly contextTokens?: number;
  /** Tokens of one answer; default: the provider's. */
  readonly outputTokensMax?: number;
  /** False for servers that cannot stream: answers then come in one piece. */
  readonly streaming?: boolean;
  /** Further fields of each request, such as `temperature`. */
  readonly parameters?: Readonly<Record<string, unknown>>;
}

const bodyBytesMax = 64 * 1024;

/** Any OpenAI-compatible endpoint: chat completions, streamed, with own assembly, timers, gate and retries. */
export class OpenAiModel implements Model {
  readonly name: string;
  readonly endpoint: string;
  readonly contextTokens: number | undefined;
  readonly #client: OpenAI;
  readonly #options: OpenAiModelOptions;
  readonly #limits: AnswerLimits;
  readonly #retry: RetryPolicy;
  readonly #quirks: Quirks;
  readonly #endpoints: Endpoints;
  readonly #gate: Gate;

  /** Errors: `key-missing`; `TypeError` where the base URL is none. */
  constructor(options: OpenAiModelOptions) {
    const { baseURL, model, apiKeyEnv, gate, idleMs = 120_000, totalMs = 900_000 } = options;
    if (!URL.canParse(baseURL))
      throw new TypeError(`'${baseURL}' is not a URL; give one such as http://127.0.0.1:8080/v1`);
    const key = apiKeyEnv === undefined ? 'none' : process.env[apiKeyEnv];
    if (key === undefined || key === '') {
      throw new ModelError('key-missing', `the environment variable ${String(apiKeyEnv)} holds no key`);
    }
    this.name = model;
    this.endpoint = baseURL;
    this.contextTokens = options.contextTokens;
    this.#options = options;
    this.#limits = { firstMs: options.firstMs ?? options.idleMs ?? 300_000, idleMs, totalMs };
    this.#retry = { ...defaultRetryPolicy, ...options.retry };
    this.#quirks = quirksOf(baseURL, model, options.quirks);
    this.#endpoints = options.endpoints ?? new Endpoints();
    const policy = { concurrencyStart: 8, concurrencyMax: 64, ...gate };
    this.#gate = this.#endpoints.gate(baseURL, model, this.#retry, policy);
    this.#client = new OpenAI({
      // Given by name, so that the client takes nothing else from the environment.
      organization: null,
      project: null,
      apiKey: key,
      baseURL,
      maxRetries: 0,
      // Ours abort first.
      timeout: 2 ** 31 - 1,
      logLevel: 'off',
      fetch: (url, init) => this.#fetch(url, init),
    });
  }

  /**
   * One turn, asked again after faults that may pass. Nothing of a failed turn
   * was run, so asking again repeats no effect; what it spent is told with the turn.
   */
  async complete(request: ModelRequest, signal: AbortSignal, options: AskOptions = {}): Promise<ModelTurn> {
    const { time } = this.#endpoints;
    const spent: Spend[] = [];
    const deadline = time.now() + (options.waitMsMax ?? waitMsMaxDefault);
    for (let attempt = 1; ; attempt++) {
      try {
        const pass = await this.#gate.enter(signal, { ...options, waitMsMax: Math.max(0, deadline - time.now()) });
        const turn = await this.#once(request, signal, pass);
        this.#endpoints.budget.succeeded();
        return { ...turn, spent: [...spent, ...(turn.spent ?? [])] };
      } catch (thrown) {
        const error =
          thrown instanceof ModelError ? thrown : new ModelError('transport', String(thrown), { cause: thrown });
        const inAll = error.after(spent);
        if (!error.isRetryable || attempt >= this.#retry.attemptsMax) throw inAll;
        spent.push(...error.spent);
        // After a 429 the gate waits for all.
        if (error.code !== 'rate-limited') await this.#pause(attempt, inAll, deadline, signal, options);
      }
    }
  }

  /** Before asking again: a delay of its own, and one retry out of those that all agents share. */
  async #pause(
    attempt: number,
    error: ModelError,
    deadline: number,
    signal: AbortSignal,
    options: AskOptions,
  ): Promise<void> {
    const { time, random, budget } = this.#endpoints;
    const own = error.retryAfterMs ?? delayOf(this.#retry, attempt, random);
    const ms = Math.max(own, budget.take());
    const until = time.now() + ms;
    if (until > deadline) {
      budget.giveBack();
      throw error;
    }
    options.notice?.({ kind: 'waiting', until, reason: `${error.code}: ${error.message}` });
    if (await sleep(time, ms, signal)) return options.notice?.({ kind: 'asking' });
    throw new ModelError('aborted', 'aborted while waiting to ask again', { spent: error.spent });
  }

  async #once(request: ModelRequest, signal: AbortSignal, pass: Pass): Promise<ModelTurn> {
    const timers = new AnswerTimers(signal, this.#endpoints.time, this.#limits);
    const inputBytes = requestBytes(request);
    const assembly = new Assembly({
      endpoint: this.endpoint,
      model: this.name,
      quirks: this.#quirks,
      inputBytes,
      offered: new Set(request.tools.map(({ name }) => name)),
    });
    try {
      const response = await this.#client.chat.completions
        .create(this.#body(request), { signal: timers.signal })
        .asResponse();
      const turn = await (this.#options.streaming === false
        ? readWhole(response, assembly)
        : readStream(response, assembly, () => timers.touch()));
      pass.succeeded();
      const warning = contextCut(turn, inputBytes);
      return warning === undefined ? turn : { ...turn, warnings: [warning] };
    } catch (thrown) {
      const error = timers.cause(assembly.spent) ?? toModelError(thrown, assembly);
      settle(pass, error);
      throw error;
    } finally {
      timers.clear();
    }
  }

  #body(request: ModelRequest): OpenAI.Chat.Completions.ChatCompletionCreateParamsStreaming {
    const { streaming = true, outputTokensMax, parameters } = this.#options;
    const to = { endpoint: this.endpoint, model: this.name, quirks: this.#quirks };
    const tools = request.tools.filter(({ name }) => isOffered(this.#quirks, name));
    return {
      ...parameters,
      model: this.name,
      // The type knows streams only; a server that cannot stream is asked without.
      stream: streaming as true,
      ...(streaming && this.#quirks.streamUsage && { stream_options: { include_usage: true } }),
      ...(outputTokensMax !== undefined && { [this.#quirks.maxTokensField]: outputTokensMax }),
      messages: toWireMessages(request.messages, to),
      ...(tools.length > 0 && { tools: tools.map(toWireTool) }),
    };
  }

  /** The client keeps nothing of an error's body that is not in OpenAI's form: read here, before it does. */
  async #fetch(url: string | URL | Request, init: RequestInit | undefined): Promise<Response> {
    const response = await fetch(url, init);
    if (response.ok) return response;
    const text = await readStart(response.body, bodyBytesMax);
    const body = parseJson(text) ?? text.slice(0, 300).replace(/\s+/g, ' ');
    const retryAfterMs = retryAfterOf(response.headers, this.#endpoints.time.now());
    throw providerError(readFault(body, response.status), 'the endpoint answered', { retryAfterMs });
  }
}

/** What the gate learns of a failure. */
function settle(pass: Pass, error: ModelError): void {
  switch (error.code) {
    case 'rate-limited':
      return pass.limited(error.retryAfterMs, error.message);
    case 'provider':
    case 'transport':
    case 'idle-timeout':
    case 'total-timeout':
    case 'malformed-stream':
    case 'not-a-stream':
      return pass.failed(error.status === 503 || error.status === 529);
    case 'aborted':
      return pass.released();
    default:
      return pass.succeeded();
  }
}

function toModelError(thrown: unknown, assembly: Assembly): ModelError {
  // The client wraps what its `fetch` throws.
  for (let error = thrown, depth = 0; error instanceof Error && depth < 4; error = error.cause, depth++) {
    if (error instanceof ModelError) return error;
  }
  const { spent } = assembly;
  if (thrown instanceof RangeError) return new ModelError('malformed-stream', thrown.message, { spent });
  const inner = thrown instanceof Error && thrown.cause instanceof Error ? thrown.cause : thrown;
  const said = inner instanceof Error ? reasonOf(inner) : String(inner);
  return new ModelError('transport', `the connection failed: ${said}`, { spent, cause: thrown });
}

/** The innermost reason says most: `connect ECONNREFUSED 127.0.0.1:1`. */
function reasonOf(error: Error): string {
  const { cause } = error;
  if (cause instanceof AggregateError) return cause.errors.map(String).join('; ');
  return cause instanceof Error ? reasonOf(cause) : error.message;
}

/**
 * Some servers cut a prompt that is too long and say nothing. Their count of
 * tokens then stands at a limit, far below what was sent.
 */
function contextCut({ usage }: ModelTurn, inputBytes: number): TurnWarning | undefined {
  if (usage.estimated || inputBytes < 4000) return undefined;
  const sent = estimateTokens(inputBytes);
  const taken = usage.inputTokens + usage.outputTokens;
  const isPinned = taken % 1024 === 0 || usage.inputTokens % 1024 === 0;
  if (usage.inputTokens * (isPinned ? 1.5 : 4) > sent) return undefined;
  const says = `the server counted ${usage.inputTokens} tokens of a request of about ${sent}: it cut the context; raise its context size`;
  return { code: 'context-cut', says, contextTokens: taken };
}
