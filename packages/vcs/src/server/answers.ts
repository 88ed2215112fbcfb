import type { HttpBindings } from '@hono/node-server';
import type { Context } from 'hono';
import { isMoundError, MoundError, type ErrorCode } from '../core/errors.ts';
import { limits } from '../core/limits.ts';
import type { Outcome } from '../core/outcome.ts';
import { outcomeFields, parseJson, WireFault } from '../wire/index.ts';
import type { Access } from './access.ts';

/** What each request carries once it is let in. */
export interface Env {
  readonly Bindings: HttpBindings;
  readonly Variables: { access: Access };
}
export type Request = Context<Env>;

const statuses: Partial<Record<ErrorCode, number>> = {
  'invalid-argument': 400,
  'not-authorised': 401,
  forbidden: 403,
  'no-such-seq': 404,
  'no-such-branch': 404,
  'no-such-path': 404,
  'no-such-commit': 404,
  'no-such-conflict': 404,
  'no-such-object': 404,
  'operation-mismatch': 409,
  'branch-moved': 409,
  purged: 410,
  'writer-stalled': 503,
  'too-many-readers': 503,
  'repo-closed': 503,
  'disk-full': 507,
};

/** One JSON object on one line, as the command line writes it. */
export const answer = (value: object, status = 200): Response =>
  new Response(`${JSON.stringify(value)}\n`, { status, headers: { 'content-type': 'application/json' } });

/** Kept, but not landed: 202; rejected: 409. */
export function answerOutcome(outcome: Outcome, more: object = {}): Response {
  const isKept = outcome.kind === 'conflicted' || outcome.kind === 'parked';
  const status = outcome.kind === 'rejected' ? 409 : isKept ? 202 : 200;
  return answer({ ...more, ...outcomeFields(outcome) }, status);
}

export function answerError(error: unknown): Response {
  if (error instanceof BodyTooLarge) return answer({ error: 'limit-exceeded', message: error.message }, 413);
  if (error instanceof WireFault) return answer({ error: 'invalid-argument', message: error.message }, 400);
  if (!isMoundError(error)) return answer({ error: 'failed', message: 'the server failed; its log says why' }, 500);
  const { code, message, fields } = error;
  return answer({ error: code, message, fields }, statuses[code] ?? 500);
}

class BodyTooLarge extends Error {
  constructor(bytesMax: number) {
    super(`a body may have ${bytesMax} bytes at most`);
  }
}

/**
 * The body, read as Node has it: a web stream around it takes as long as all else of a request. What is larger is
 * refused before it is all read.
 */
export async function bodyOf(request: Request, bytesMax: number): Promise<Buffer> {
  const { incoming } = request.env;
  if (Number(incoming.headers['content-length'] ?? 0) > bytesMax) throw new BodyTooLarge(bytesMax);
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > bytesMax) throw new BodyTooLarge(bytesMax);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

const strict = new TextDecoder('utf-8', { fatal: true });

/** Whatever is no UTF-8 would land as something else than was sent. */
function textOfBody(body: Buffer): string {
  try {
    return strict.decode(body);
  } catch {
    throw new WireFault('it is not UTF-8; bytes go as base64');
  }
}

/** The body as JSON. Errors: `WireFault`. */
export async function jsonOf(request: Request): Promise<unknown> {
  const body = await bodyOf(request, limits.requestBytesMax);
  try {
    return parseJson(textOfBody(body));
  } catch (error) {
    throw error instanceof WireFault ? new WireFault(`the body is no JSON: ${error.message}`) : error;
  }
}

/** The parameters of a request, of which none is unknown. Errors: `invalid-argument`. */
export class Query {
  readonly #values: Readonly<Record<string, string[]>>;

  constructor(request: Request, known: readonly string[]) {
    this.#values = request.req.queries();
    const strange = Object.keys(this.#values).find((name) => !known.includes(name));
    if (strange !== undefined) {
      const message = `the parameter '${strange}' is unknown here; known: ${known.join(', ') || 'none'}`;
      throw new MoundError('invalid-argument', message, { parameter: strange });
    }
  }

  /** Of a request that takes none. */
  static none(request: Request): Query {
    return new Query(request, []);
  }

  text(name: string): string | undefined {
    const values = this.#values[name] ?? [];
    if (values.length > 1) throw new MoundError('invalid-argument', `the parameter '${name}' stands twice`);
    return values[0];
  }

  mustText(name: string): string {
    const value = this.text(name);
    if (value === undefined) throw new MoundError('invalid-argument', `the parameter '${name}' is missing`);
    return value;
  }

  count(name: string): number | undefined {
    const value = this.text(name);
    if (value === undefined || /^\d{1,15}$/.test(value)) return value === undefined ? undefined : Number(value);
    throw new MoundError('invalid-argument', `the parameter '${name}' is '${value}', no whole number`);
  }

  /** Those of `names` that are given, as an object. */
  given<T extends string>(...names: readonly T[]): { readonly [name in T]?: string } {
    return Object.fromEntries(
      names.flatMap((name) => (this.text(name) === undefined ? [] : [[name, this.text(name)]])),
    ) as { readonly [name in T]?: string };
  }

  counts<T extends string>(...names: readonly T[]): { readonly [name in T]?: number } {
    return Object.fromEntries(
      names.flatMap((name) => (this.count(name) === undefined ? [] : [[name, this.count(name)]])),
    ) as { readonly [name in T]?: number };
  }
}

/** At most `limit` of them, and whether there are more. */
export function firstOf<T>(rows: Iterable<T>, limit: number): { readonly rows: T[]; readonly hasMore: boolean } {
  const taken: T[] = [];
  for (const row of rows) {
    if (taken.length === limit) return { rows: taken, hasMore: true };
    taken.push(row);
  }
  return { rows: taken, hasMore: false };
}
