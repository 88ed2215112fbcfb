import { limits } from '../core/limits.ts';
import { MoundError } from '../core/errors.ts';
import { spawnGit, type GitProcess } from './git-command.ts';
import { isGitObjectType, type GitObjectType } from './object-id.ts';

export interface GitObject {
  readonly id: string;
  readonly type: GitObjectType;
  readonly content: Buffer;
}

interface Request {
  readonly id: string;
  readonly answer: (type: GitObjectType, content: Buffer) => void;
  readonly missing: () => void;
  readonly reject: (error: unknown) => void;
}

const missing = (id: string): MoundError => new MoundError('no-such-object', `git object ${id} is missing`, { id });

/** Requests that git has been sent and not answered. The rest wait here, so that git's pipe cannot fill. */
const inFlightMax = 512;
const newline = 0x0a;

/**
 * One long-lived `git cat-file --batch`. Many reads may be asked for at once;
 * git answers them in order. Holds one object at a time besides those handed out.
 */
export class ObjectReader {
  readonly #git: GitProcess;
  readonly #closed: Promise<unknown>;
  #waiting: Request[] = [];
  #asked: Request[] = [];
  #askedHead = 0;
  #isFlushDue = false;
  #failure: MoundError | undefined;
  /** Of the answer being read: its header as far as it has come, its type, its bytes and how many are filled. */
  #header = '';
  #type: GitObjectType | undefined;
  #body: Buffer | undefined;
  #filled = 0;
  #size = 0;

  constructor(gitDir: string) {
    // The default base cache (96 MiB) is kept: a larger one was no faster on whole histories.
    this.#git = spawnGit(['cat-file', '--batch'], { gitDir });
    this.#git.stdout.on('data', (chunk: Buffer) => this.#take(chunk));
    this.#closed = this.#git.ended.then(
      () => this.#fail(new MoundError('git-failed', 'git cat-file ended early')),
      (error: unknown) => this.#fail(error instanceof MoundError ? error : new MoundError('git-failed', String(error))),
    );
  }

  /** Errors: `no-such-object`. */
  read(id: string): Promise<GitObject> {
    return new Promise((resolve, reject) => {
      const answer = (type: GitObjectType, content: Buffer): void => resolve({ id, type, content });
      this.#ask({ id, answer, missing: () => reject(missing(id)), reject });
    });
  }

  /** The content of an object that must be of this type. Errors: `no-such-object`, `object-damaged`. */
  content(id: string, wanted: GitObjectType): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      const answer = (type: GitObjectType, content: Buffer): void => {
        if (type === wanted) resolve(content);
        else reject(new MoundError('object-damaged', `git object ${id} is a ${type}, not a ${wanted}`, { id }));
      };
      this.#ask({ id, answer, missing: () => reject(missing(id)), reject });
    });
  }

  find(id: string): Promise<GitObject | undefined> {
    return new Promise((resolve, reject) => {
      const answer = (type: GitObjectType, content: Buffer): void => resolve({ id, type, content });
      this.#ask({ id, answer, missing: () => resolve(undefined), reject });
    });
  }

  async close(): Promise<void> {
    this.#fail(new MoundError('git-failed', 'the object reader is closed'));
    this.#git.kill();
    await this.#closed;
  }

  #ask(request: Request): void {
    if (!/^[0-9a-f]{40}$/.test(request.id)) {
      request.reject(new MoundError('invalid-argument', `'${request.id}' is no git object id`, { id: request.id }));
    } else if (this.#failure) {
      request.reject(this.#failure);
    } else {
      this.#waiting.push(request);
      this.#scheduleFlush();
    }
  }

  /** One write for all that is asked in one turn. */
  #scheduleFlush(): void {
    if (this.#isFlushDue || this.#waiting.length === 0) return;
    this.#isFlushDue = true;
    setImmediate(() => {
      this.#isFlushDue = false;
      this.#send();
    });
  }

  #send(): void {
    const room = inFlightMax - (this.#asked.length - this.#askedHead);
    if (room <= 0 || this.#waiting.length === 0 || this.#failure) return;
    const batch = this.#waiting.splice(0, room);
    this.#asked.push(...batch);
    this.#git.stdin.write(batch.map(({ id }) => `${id}\n`).join(''));
  }

  #take(chunk: Buffer): void {
    let position = 0;
    while (position < chunk.length && !this.#failure) {
      if (this.#type === undefined) {
        const end = chunk.indexOf(newline, position);
        this.#header += chunk.toString('latin1', position, end < 0 ? chunk.length : end);
        if (end < 0) return;
        position = end + 1;
        this.#takeHeader();
      } else {
        const taken = Math.min(this.#size - this.#filled, chunk.length - position);
        this.#body?.set(chunk.subarray(position, position + taken), this.#filled);
        this.#filled += taken;
        position += taken;
        // One more byte, the newline after the content.
        if (this.#filled === this.#size && position < chunk.length) {
          position++;
          this.#takeBody(this.#type);
        }
      }
    }
  }

  #takeHeader(): void {
    const [id = '', type = '', size = ''] = this.#header.split(' ');
    this.#header = '';
    if (type === 'missing') {
      this.#next().missing();
    } else if (isGitObjectType(type) && id === this.#asked[this.#askedHead]?.id) {
      this.#type = type;
      this.#size = Number(size);
      this.#filled = 0;
      // Too large for the store: read past it, so that the answers after it stay in step.
      this.#body = this.#size > limits.blobSizeBytesMax ? undefined : Buffer.allocUnsafe(this.#size);
    } else {
      this.#fail(new MoundError('git-failed', `git cat-file answered '${id} ${type} ${size}'`));
    }
  }

  #takeBody(type: GitObjectType): void {
    const { id, answer, reject } = this.#next();
    const fields = { id, sizeBytes: this.#size, limit: 'blobSizeBytesMax' };
    if (this.#body) answer(type, this.#body);
    else reject(new MoundError('invalid-argument', `git object ${id} of ${this.#size} bytes is too large`, fields));
    this.#type = undefined;
    this.#body = undefined;
  }

  #next(): Request {
    const request = this.#asked[this.#askedHead++];
    if (!request) throw new Error('invariant broken: git answers only what was asked');
    if (this.#askedHead > inFlightMax) {
      this.#asked = this.#asked.slice(this.#askedHead);
      this.#askedHead = 0;
    }
    this.#scheduleFlush();
    return request;
  }

  #fail(error: MoundError): void {
    this.#failure ??= error;
    const abandoned = [...this.#asked.slice(this.#askedHead), ...this.#waiting];
    this.#asked = [];
    this.#askedHead = 0;
    this.#waiting = [];
    for (const { reject } of abandoned) reject(this.#failure);
  }
}
