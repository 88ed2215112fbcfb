import { createAdaptorServer } from '@hono/node-server';
import { chmodSync, rmSync } from 'node:fs';
import type { Server as HttpServer } from 'node:http';
import { connect } from 'node:net';
import type { AddressInfo } from 'node:net';
import { MoundError } from '../core/errors.ts';
import type { Author } from '../core/intent.ts';
import type { Repo } from '../repo/api.ts';
import { accessFileOf, removeServerAccess, socketPathOf, writeServerAccess } from './access-file.ts';
import { appOf } from './app.ts';
import type { ServedCommand } from './commanding.ts';
import { Doorkeeper, newSecret } from './tokens.ts';

export interface ServeOptions {
  /** Default: 127.0.0.1. Whoever can reach another address sees tokens and contents on their way: put TLS before it. */
  readonly host?: string;
  /** 0: one that is free. Default 7480. */
  readonly port?: number;
  /** Also on a Unix socket at `.mound/serve.sock`. Default true. */
  readonly socket?: boolean;
  /** Who acts where the owner's token is used and no author named. */
  readonly owner?: Author;
  /** The `mound` command, to be run for who has the grant `admin`; default: none is. */
  readonly command?: ServedCommand;
  /** Told of faults that are no caller's. */
  readonly onFault?: (error: unknown) => void;
}

export interface Server {
  readonly url: string;
  /** Path of the Unix socket; undefined where there is none. */
  readonly socket: string | undefined;
  /** A file that only this user can read, with `url`, `socket` and the owner's `token`. */
  readonly accessFile: string;
  /** Ends all that follow, waits for what is in flight, leaves the repository open. */
  close(): Promise<void>;
}

const portUsual = 7480;
/** The kernel's bound, less the byte that ends it. */
const socketPathBytesMax = 107;
/** How long what is in flight may take when the server closes. */
const closingMs = 10_000;

const answers = (socket: string): Promise<boolean> =>
  new Promise((resolve) => {
    const probe = connect(socket);
    probe.once('connect', () => {
      probe.destroy();
      resolve(true);
    });
    probe.once('error', () => resolve(false));
  });

/** A socket that a killed server left is taken away. Errors: `already-served`. */
async function clearSocket(path: string): Promise<void> {
  if (await answers(path)) {
    throw new MoundError(
      'already-served',
      `another server answers at ${path}; end it first, or serve without a socket`,
    );
  }
  rmSync(path, { force: true });
}

function listen(server: HttpServer, at: { readonly host: string; readonly port: number } | { readonly path: string }) {
  return new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const place = 'path' in at ? at.path : `${at.host}:${at.port}`;
      const next = error.code === 'EADDRINUSE' ? '; choose another port, or 0 for any that is free' : '';
      reject(new MoundError('invalid-argument', `cannot listen at ${place} (${error.code})${next}`, { place }, error));
    });
    server.listen(at, resolve);
  });
}

const closed = (server: HttpServer): Promise<void> =>
  new Promise((resolve) => {
    server.close(() => resolve());
    server.closeIdleConnections();
    setTimeout(() => server.closeAllConnections(), closingMs).unref();
  });

/**
 * Serves a repository over HTTP: to this machine unless told otherwise, to whoever has a token. The process may use
 * `repo` beside it. Errors: `already-served`, `invalid-argument` where it cannot listen, `permission-denied`.
 */
export async function serveRepo(repo: Repo, options: ServeOptions = {}): Promise<Server> {
  const { host = '127.0.0.1', port = portUsual, command, onFault = () => undefined } = options;
  const secret = newSecret();
  const ended = new AbortController();
  const doorkeeper = new Doorkeeper(repo, secret, options.owner ?? { name: 'owner', kind: 'human' });
  const app = appOf(repo, { doorkeeper, ended: ended.signal, command, onFault });
  const made = (): HttpServer => createAdaptorServer({ fetch: app.fetch, overrideGlobalObjects: false }) as HttpServer;

  const socketPath = socketPathOf(repo.dir);
  const hasSocket = options.socket !== false && Buffer.byteLength(socketPath) <= socketPathBytesMax;
  if (hasSocket) await clearSocket(socketPath);
  const overTcp = made();
  await listen(overTcp, { host, port });
  const servers = [overTcp];
  const end = async (): Promise<void> => {
    ended.abort();
    await Promise.all(servers.map(closed));
  };
  try {
    if (hasSocket) {
      const overSocket = made();
      await listen(overSocket, { path: socketPath });
      servers.push(overSocket);
      chmodSync(socketPath, 0o600);
    }
    const { address, family, port: bound } = overTcp.address() as AddressInfo;
    const url = `http://${family === 'IPv6' ? `[${address}]` : address}:${bound}`;
    const socket = hasSocket ? socketPath : undefined;
    const accessFile = accessFileOf(repo.dir);
    writeServerAccess(repo.dir, { url, socket, token: secret });
    const close = async (): Promise<void> => {
      removeServerAccess(repo.dir, secret);
      await end();
    };
    return { url, socket, accessFile, close };
  } catch (error) {
    await end();
    throw error;
  }
}
