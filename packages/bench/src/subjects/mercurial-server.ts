import { startCommand, type RunningCommand } from '../harness/child-process.ts';

interface Answer {
  readonly code: number;
  readonly output: Buffer;
  readonly errors: string;
}

/** In front of each piece: the channel's letter and a length. */
const headBytes = 5;

/** `hg serve --cmdserver pipe`: one process for many commands, asked one at a time. */
export class MercurialServer {
  readonly #running: RunningCommand;
  readonly #pieces: AsyncIterator<Buffer>;
  #rest = Buffer.alloc(0);

  private constructor(running: RunningCommand) {
    this.#running = running;
    this.#pieces = running.stdout[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  }

  static async start(dir: string, env: NodeJS.ProcessEnv, signal: AbortSignal): Promise<MercurialServer> {
    const args = ['serve', '--cmdserver', 'pipe', '--config', 'ui.interactive=False', '-R', dir];
    const server = new MercurialServer(startCommand('hg', args, { cwd: dir, env, signal }, { keepOutput: false }));
    // It says what it can do before it is asked.
    await server.#next();
    return server;
  }

  /** Runs one command. Errors: what it said where it ended with another code than 0. */
  async run(args: readonly string[]): Promise<Buffer> {
    const { code, output, errors } = await this.ask(args);
    if (code !== 0) throw new Error(`hg ${args[0] ?? ''}: exit ${code}: ${errors.trim().slice(-400)}`);
    return output;
  }

  async ask(args: readonly string[]): Promise<Answer> {
    const said = Buffer.from(args.join('\0'));
    const length = Buffer.alloc(4);
    length.writeUInt32BE(said.length);
    await this.#running.write(Buffer.concat([Buffer.from('runcommand\n'), length, said]));
    const [output, errors]: [Buffer[], Buffer[]] = [[], []];
    for (;;) {
      const { channel, bytes } = await this.#next();
      if (channel === 'r') return { code: bytes.readInt32BE(), output: Buffer.concat(output), errors: Buffer.concat(errors).toString('utf8') }; // prettier-ignore
      if (channel === 'o') output.push(bytes);
      else if (channel === 'e') errors.push(bytes);
      else throw new Error(`hg asks for input (channel ${channel})`);
    }
  }

  async close(): Promise<void> {
    await this.#running.finish();
  }

  async #next(): Promise<{ readonly channel: string; readonly bytes: Buffer }> {
    while (this.#rest.length < headBytes) await this.#take();
    const channel = String.fromCodePoint(this.#rest[0] ?? 0);
    const length = this.#rest.readUInt32BE(1);
    // A request for input has a length and no bytes.
    const end = headBytes + (channel === 'I' || channel === 'L' ? 0 : length);
    while (this.#rest.length < end) await this.#take();
    const bytes = this.#rest.subarray(headBytes, end);
    this.#rest = this.#rest.subarray(end);
    return { channel, bytes };
  }

  async #take(): Promise<void> {
    const piece = await this.#pieces.next();
    if (piece.done === true) {
      await this.#running.finish();
      throw new Error('hg ended');
    }
    this.#rest = Buffer.concat([this.#rest, piece.value]);
  }
}
