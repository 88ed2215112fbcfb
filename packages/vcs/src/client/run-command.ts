import type { IncomingMessage } from 'node:http';
import { Connection, type ServerPlace } from './connection.ts';

/** Runs a `mound` command where a server is; its answer's lines are `CommandFrame`s. Errors: those that it tells. */
export function runCommand(
  place: ServerPlace,
  command: { readonly words: readonly string[]; readonly stdin: Buffer | undefined },
): Promise<IncomingMessage> {
  const { words, stdin } = command;
  const body = { words, ...(stdin !== undefined && { stdinBase64: stdin.toString('base64') }) };
  return new Connection(place).stream('POST', '/v1/command', { body: Buffer.from(JSON.stringify(body)) });
}
