import { Agent, request, type IncomingMessage } from 'node:http';
import { MoundError, type ErrorCode, type ErrorFields } from '../core/errors.ts';

/** Where a server is and who asks it. */
export interface ServerPlace {
  /** `http://…`; with a socket only what stands in the requests. */
  readonly url: string;
  /** Path of a Unix socket that is asked instead. */
  readonly socket?: string | undefined;
  readonly token: string;
}

export interface Answer {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
}

/** Requests at once: what comes together the server lands together, so they must not wait for one another here. */
const connectionsMax = 256;
/** A connection may be closed just while a request sets out on it; one that asks for nothing twice is sent again. */
const triesMax = 3;

const unreachable = (place: ServerPlace, cause: unknown): MoundError => {
  const at = place.socket ?? place.url;
  const why = cause instanceof Error ? cause.message : String(cause);
  return new MoundError(
    'server-unreachable',
    `no server answers at ${at} (${why}); is 'mound serve' running?`,
    { at },
    cause,
  );
};

interface Refusal {
  readonly error?: string;
  readonly message?: string;
  readonly fields?: ErrorFields;
}

/** The fault that a server told. */
function faultOf({ status, body }: Answer): MoundError {
  let told: Refusal = {};
  try {
    told = JSON.parse(body.toString('utf8')) as Refusal;
  } catch {
    // Something else than Mound answers there.
  }
  const { error = 'server-unreachable', message = `the server answered with status ${status}`, fields = {} } = told;
  return new MoundError(error as ErrorCode, message, fields);
}

/** Asks a server over connections that it keeps. */
export class Connection {
  readonly #place: ServerPlace;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: connectionsMax });

  constructor(place: ServerPlace) {
    this.#place = place;
  }

  #send(method: string, path: string, body: Buffer | undefined, headers: Record<string, string>, signal?: AbortSignal) {
    const { url, socket, token } = this.#place;
    const length = body === undefined ? {} : { 'content-length': String(body.length) };
    return new Promise<IncomingMessage>((resolve, reject) => {
      const sent = request(
        new URL(path, url),
        {
          method,
          agent: this.#agent,
          headers: { authorization: `Bearer ${token}`, ...length, ...headers },
          ...(socket !== undefined && { socketPath: socket }),
          ...(signal !== undefined && { signal }),
        },
        resolve,
      );
      sent.once('error', reject);
      sent.end(body);
    });
  }

  /** What it answers, whatever that is. Errors: `server-unreachable`. */
  async ask(method: 'GET' | 'POST', path: string, body?: Buffer): Promise<Answer> {
    for (let tries = 1; ; tries++) {
      try {
        const response = await this.#send(
          method,
          path,
          body,
          body === undefined ? {} : { 'content-type': 'application/json' },
        );
        const chunks: Buffer[] = [];
        for await (const chunk of response) chunks.push(chunk as Buffer);
        return { status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(chunks) };
      } catch (error) {
        const isBroken = ['ECONNRESET', 'EPIPE'].includes((error as NodeJS.ErrnoException).code ?? '');
        if (!isBroken || tries === triesMax) throw unreachable(this.#place, error);
      }
    }
  }

  /** An answer that is read as it comes. Errors: those that it tells, `server-unreachable`. */
  async stream(
    method: 'GET' | 'POST',
    path: string,
    options: {
      readonly headers?: Record<string, string>;
      readonly body?: Buffer;
      readonly signal?: AbortSignal | undefined;
    },
  ): Promise<IncomingMessage> {
    const { headers = {}, body, signal } = options;
    const response = await this.#send(method, path, body, headers, signal).catch((error: unknown) => {
      throw unreachable(this.#place, error);
    });
    if (response.statusCode === 200) return response;
    const chunks: Buffer[] = [];
    for await (const chunk of response) chunks.push(chunk as Buffer);
    throw faultOf({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(chunks) });
  }

  /** The answer's JSON. Errors: those that it tells. */
  async json<T>(method: 'GET' | 'POST', path: string, body?: object): Promise<T> {
    return this.read(await this.ask(method, path, body === undefined ? undefined : Buffer.from(JSON.stringify(body))));
  }

  /** The same of an answer at hand. A rejected intent is an outcome, no fault. */
  // oxlint-disable-next-line no-unnecessary-type-parameters -- the caller says what the answer holds
  read<T>(answer: Answer): T {
    const isOutcome = answer.status === 409 && answer.body.includes('"outcome":');
    if (answer.status >= 300 && !isOutcome) throw faultOf(answer);
    return JSON.parse(answer.body.toString('utf8')) as T;
  }

  /** The answer's bytes; undefined where it says that there is no such path. Errors: others that it tells. */
  async bytes(path: string): Promise<Answer | undefined> {
    const answer = await this.ask('GET', path);
    if (answer.status === 200) return answer;
    const fault = faultOf(answer);
    if (fault.code === 'no-such-path') return undefined;
    throw fault;
  }

  close(): void {
    this.#agent.destroy();
  }
}
