import { inSpan, spanKind, type TracerLike } from '../core/tracer.ts';
import type { AskOptions, Model, ModelRequest, ModelTurn } from './model.ts';

/**
 * A model whose requests are spans by the conventions for generative AI. What
 * is said stands in them only where `content` is on.
 */
export class TracedModel implements Model {
  readonly #model: Model;
  readonly tracer: TracerLike;
  readonly #content: boolean;

  constructor(model: Model, tracer: TracerLike, content: boolean) {
    this.#model = model;
    this.tracer = tracer;
    this.#content = content;
  }

  get name(): string {
    return this.#model.name;
  }

  get endpoint(): string | undefined {
    return this.#model.endpoint;
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
    const spanOptions = { kind: spanKind.client, attributes: this.#attributesOf(request) };
    return inSpan(this.tracer, `chat ${this.name}`, spanOptions, async (span) => {
      const turn = await this.#model.complete(request, signal, options);
      const { usage, finish } = turn;
      span.setAttributes({
        'gen_ai.response.model': turn.origin?.model ?? this.name,
        'gen_ai.response.finish_reasons': [turn.calls.length > 0 ? 'tool_calls' : finish],
        ...(!usage.estimated && {
          'gen_ai.usage.input_tokens': usage.inputTokens,
          'gen_ai.usage.output_tokens': usage.outputTokens,
          'gen_ai.usage.cache_read.input_tokens': usage.cachedTokens,
        }),
        ...(this.#content && { 'gen_ai.output.messages': JSON.stringify([{ text: turn.text, calls: turn.calls }]) }),
      });
      return turn;
    });
  }

  #attributesOf({ role, messages }: ModelRequest): Record<string, string | number> {
    const { endpoint } = this;
    const url = endpoint !== undefined && URL.canParse(endpoint) ? new URL(endpoint) : undefined;
    return {
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': url === undefined ? 'mound' : url.hostname,
      'gen_ai.request.model': this.name,
      'gen_ai.agent.name': role,
      ...(url !== undefined && { 'server.address': url.hostname }),
      ...(this.#content && { 'gen_ai.input.messages': JSON.stringify(messages) }),
    };
  }
}
