import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { storeDirName } from '../store/store-dir.ts';

/** Where the owner's token of a served repository lies. */
export const accessFileOf = (dir: string): string => join(dir, storeDirName, 'serve.json');

/** Where its Unix socket is. */
export const socketPathOf = (dir: string): string => join(dir, storeDirName, 'serve.sock');

/** What a server that is at work has left for those who may read the repository's own directory. */
export interface ServerAccess {
  readonly url: string;
  /** Path of the Unix socket, as the server sees it; undefined: it has none. */
  readonly socket: string | undefined;
  readonly token: string;
}

/** undefined: no server is at work, or what it left is not to be read. */
export function readServerAccess(dir: string): ServerAccess | undefined {
  try {
    return JSON.parse(readFileSync(accessFileOf(dir), 'utf8')) as ServerAccess;
  } catch {
    return undefined;
  }
}

export function writeServerAccess(dir: string, access: ServerAccess): void {
  rmSync(accessFileOf(dir), { force: true });
  writeFileSync(accessFileOf(dir), `${JSON.stringify(access)}\n`, { mode: 0o600, flag: 'wx' });
}

/** Unless another server has taken its place. */
export function removeServerAccess(dir: string, token: string): void {
  if (readServerAccess(dir)?.token === token) rmSync(accessFileOf(dir), { force: true });
}
