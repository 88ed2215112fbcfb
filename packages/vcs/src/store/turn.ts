import { connect, createServer, type Server, type Socket } from 'node:net';

/** How waiting for a turn ended: nobody had it; it was given to us; it was given up, or the time was over. */
export type Wait = 'free' | 'given' | 'ended';

/**
 * Whose turn it is to write, among processes: an abstract Unix socket that one
 * process at a time can bind, that the kernel frees when its owner closes it or
 * dies, and whose connections end at that moment, which wakes those who wait.
 * It is an order of politeness and protects nothing: LMDB's mutex does that.
 */
export class Turn {
  private readonly path: string;
  private server: Server | undefined;
  private readonly waiters = new Set<Socket>();
  /** On which the turn was given to us: its end tells the giver that we have taken it. */
  private gift: Socket | undefined;

  /** `name` is to be the same for all processes of one store and for nobody else. */
  constructor(name: string) {
    this.path = `\0mound/${name}`;
  }

  get isTaken(): boolean {
    return this.server !== undefined;
  }

  /** Takes the turn if nobody has it. False also where the system has no such sockets. */
  tryTake(): boolean {
    if (this.server !== undefined) return true;
    const server = createServer({ pauseOnConnect: true }, (socket) => {
      socket.on('error', () => undefined);
      socket.on('close', () => this.waiters.delete(socket));
      socket.unref();
      this.waiters.add(socket);
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
    const [first, ...others] = this.waiters;
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
      first.resume();
      first.end('1');
    });
  }

  /** Resolves when the one whose turn it is gives it up or dies, or after `ms`. */
  released(ms: number): Promise<Wait> {
    this.gift?.destroy();
    return new Promise((resolve) => {
      let wait: Wait = 'free';
      const socket = connect({ path: this.path, allowHalfOpen: true });
      const done = (): void => {
        clearTimeout(timer);
        resolve(wait);
      };
      const timer = setTimeout(() => socket.destroy(), ms);
      socket.on('connect', () => (wait = 'ended'));
      socket.on('data', () => {
        wait = 'given';
        this.gift = socket;
        done();
      });
      socket.on('end', () => wait === 'given' || socket.destroy());
      socket.on('error', () => undefined);
      socket.on('close', done);
    });
  }
}
