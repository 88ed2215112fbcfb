import { connect, createServer, type Server, type Socket } from 'node:net';

/** How waiting for a turn ended: nobody has it; it was given to us; it was given to another, or its owner died. */
export type Wait = 'free' | 'given' | 'ended';

export interface Waiting {
  readonly ended: Promise<Wait>;
  cancel(): void;
}

/**
 * Whose turn it is to write, among processes: an abstract Unix socket that one
 * process at a time can bind, that the kernel frees when its owner closes it or
 * dies, and whose connections end at that moment, which wakes those who wait.
 * It is an order of politeness and protects nothing: LMDB's mutex does that.
 */
export class Turn {
  private readonly path: string;
  private server: Server | undefined;
  /** Those who wait, and since when. */
  private readonly waiters = new Map<Socket, number>();
  /** On which the turn was given to us: its end tells the giver that we have taken it. */
  private gift: Socket | undefined;

  /** `name` is to be the same for all processes of one store and for nobody else. */
  constructor(name: string) {
    this.path = `\0mound/${name}`;
  }

  get isTaken(): boolean {
    return this.server !== undefined;
  }

  /** Whether it is ours and somebody waits for it. */
  get isAwaited(): boolean {
    return this.waiters.size > 0;
  }

  /** Takes the turn if nobody has it. False also where the system has no such sockets. */
  tryTake(): boolean {
    if (this.server !== undefined) return true;
    const server = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.on('close', () => this.waiters.delete(socket));
      socket.on('data', (bytes) => bytes.length === 8 && this.waiters.set(socket, bytes.readDoubleBE()));
      socket.unref();
      this.waiters.set(socket, Infinity);
    });
    server.on('error', () => undefined);
    server.listen({ path: this.path });
    if (!server.listening) return false;
    server.unref();
    this.server = server;
    this.gift?.destroy();
    this.gift = undefined;
    return true;
  }

  /** Gives the turn to the one who has waited longest; the promise resolves when it has taken it, or after `ms`. */
  release(ms: number): Promise<void> | undefined {
    this.server?.close();
    this.server = undefined;
    const [first, ...others] = [...this.waiters]
      .toSorted(([, one], [, other]) => Math.sign(one - other) || 0)
      .map(([socket]) => socket);
    this.waiters.clear();
    for (const socket of others) socket.destroy();
    if (first === undefined) return undefined;
    return new Promise((resolve) => {
      const timer = setTimeout(() => first.destroy(), ms);
      first.on('close', () => {
        clearTimeout(timer);
        resolve();
      });
      first.ref();
      first.end('1');
    });
  }

  /** Waits for the one whose turn it is; `sinceMs` (on a clock that all processes share) says who is next. */
  wait(sinceMs: number): Waiting {
    this.gift?.destroy();
    const socket = connect({ path: this.path, allowHalfOpen: true });
    const ended = new Promise<Wait>((resolve) => {
      let wait: Wait = 'free';
      socket.on('connect', () => {
        wait = 'ended';
        const bytes = Buffer.alloc(8);
        bytes.writeDoubleBE(sinceMs);
        socket.write(bytes);
      });
      socket.on('data', () => {
        wait = 'given';
        this.gift = socket;
        resolve(wait);
      });
      socket.on('end', () => wait === 'given' || socket.destroy());
      socket.on('error', () => undefined);
      socket.on('close', () => resolve(wait));
    });
    return { ended, cancel: () => socket.destroy() };
  }
}
