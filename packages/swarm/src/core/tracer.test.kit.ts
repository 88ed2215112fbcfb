import { AsyncLocalStorage } from 'node:async_hooks';
import type { TracerLike } from './tracer.ts';

export interface SeenSpan {
  readonly name: string;
  readonly attributes: Record<string, unknown>;
  readonly parent: string | undefined;
  status: unknown;
  ended: number;
}

/** A tracer that keeps what it is told, and within which span each was started. */
export function watchingTracer(): { readonly tracer: TracerLike; readonly seen: SeenSpan[] } {
  const seen: SeenSpan[] = [];
  const active = new AsyncLocalStorage<SeenSpan>();
  const tracer: TracerLike = {
    startActiveSpan: (name, { attributes }, work) => {
      const parent = active.getStore()?.name;
      const span: SeenSpan = { name, attributes: { ...attributes }, parent, status: undefined, ended: 0 };
      seen.push(span);
      return active.run(span, () =>
        work({
          setAttributes: (more) => Object.assign(span.attributes, more),
          setStatus: (status) => (span.status = status),
          end: () => void (span.ended += 1),
        }),
      );
    },
  };
  return { tracer, seen };
}
