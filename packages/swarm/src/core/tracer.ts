/** What is needed of an OpenTelemetry span. */
export interface SpanLike {
  setAttributes(attributes: Record<string, string | number | string[]>): unknown;
  setStatus(status: { code: number; message?: string }): unknown;
  end(): void;
}

export interface SpanOptions {
  readonly kind: number;
  readonly attributes: Record<string, string | number>;
}

/** What is needed of an OpenTelemetry tracer. */
export interface TracerLike {
  startActiveSpan<T>(name: string, options: SpanOptions, work: (span: SpanLike) => T): T;
}

/** Of the OpenTelemetry API. */
export const spanKind = { internal: 0, client: 2 } as const;
const statusError = 2;

/** Marks a span as failed. The words of an error may quote what was said, so only its code is told. */
export function failSpan(span: SpanLike, code: string): void {
  span.setAttributes({ 'error.type': code });
  span.setStatus({ code: statusError, message: code });
}

/** Runs a piece of work as a span, within the one that is active, and the active one itself meanwhile. */
export function inSpan<T>(
  tracer: TracerLike,
  name: string,
  options: SpanOptions,
  work: (span: SpanLike) => Promise<T>,
): Promise<T> {
  return tracer.startActiveSpan(name, options, async (span) => {
    try {
      return await work(span);
    } catch (error) {
      const code = error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : 'failed';
      failSpan(span, code);
      throw error;
    } finally {
      span.end();
    }
  });
}

/** The tracer of the OpenTelemetry API, where that is installed; it does nothing until a provider is registered. */
export async function loadTracer(): Promise<TracerLike | undefined> {
  try {
    const { trace } = await import('@opentelemetry/api');
    return trace.getTracer('@mound/swarm');
  } catch {
    return undefined;
  }
}
