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
    return true;
  }

  /** Gives the turn to the one who has waited longest; true: somebody has. */
  release(): boolean {
    this.server?.close();
    this.server = undefined;
    const [first, ...others] = this.waiters;
    this.waiters.clear();
    first?.end('1');
    for (const socket of others) socket.destroy();
    return first !== undefined;
  }

  /** Resolves when the one whose turn it is gives it up or dies, or after `ms`. */
  released(ms: number): Promise<Wait> {
    return new Promise((resolve) => {
      let wait: Wait = 'free';
      const socket = connect({ path: this.path });
      const timer = setTimeout(() => socket.destroy(), ms);
      socket.on('connect', () => (wait = 'ended'));
      socket.on('data', () => {
        wait = 'given';
        socket.destroy();
      });
      socket.on('error', () => undefined);
      socket.on('close', () => {
        clearTimeout(timer);
        resolve(wait);
      });
    });
  }
}
