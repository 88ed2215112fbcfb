import type { Command } from 'commander';
import { exitCodes } from '../core/errors.ts';
import { goesThroughServer } from './command-of.ts';
import { Context, parseCount } from './context.ts';
import type { Finish } from './main.ts';
import { warn, writeJson, writeLine } from './output.ts';

interface ServeFlags {
  readonly host: string;
  readonly port?: number;
  /** False with `--no-socket`. */
  readonly socket: boolean;
}

const serveHelp = `
Whoever has a token may use it: 'mound token add NAME' makes one. The owner's, which opens everything while this server
runs, lies in .mound/serve.json, which only you can read. Ctrl-C ends it after what is in flight.`;

/** The launcher that runs this command. */
const binOf = (): string => process.argv[1] ?? '';

const isLoopback = (host: string): boolean => /^(?:127\.|localhost$|::1$)/.test(host);

const whenEnded = (): Promise<'SIGINT' | 'SIGTERM'> =>
  new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve(signal));
  });

/** serve. */
export function addServeCommand(program: Command, finish: Finish): void {
  program
    .command('serve')
    .description('serve the repository over HTTP, with events and a web view')
    .option('--host <address>', 'where to listen', '127.0.0.1')
    .option('--port <n>', '0: any that is free (default: 7480)', parseCount)
    .option('--no-socket', 'without the Unix socket .mound/serve.sock')
    .addHelpText('after', serveHelp)
    .action(async ({ host, port, socket }: ServeFlags, asked: Command) => {
      const context = new Context(asked);
      const { serveRepo } = await import('../server/index.ts');
      await context.withRepo(async (repo) => {
        const ended = whenEnded();
        const onFault = (error: unknown): void =>
          warn(error instanceof Error ? (error.stack ?? error.message) : String(error));
        const command = { file: process.execPath, args: [binOf(), '--repo', repo.dir], isServed: goesThroughServer };
        const options = {
          command,
          host,
          socket,
          owner: context.author(),
          onFault,
          ...(port !== undefined && { port }),
        };
        const server = await serveRepo(repo, options);
        if (!isLoopback(host))
          warn(`${host} can be reached from other machines, and tokens go there in the open: put TLS before it`);
        const { url, accessFile } = server;
        if (context.isJson) await writeJson({ url, socket: server.socket ?? null, accessFile });
        else await writeLine(`serving ${repo.dir} at ${url}; the owner's token is in ${accessFile}`);
        const signal = await ended;
        await server.close();
        finish(signal === 'SIGINT' ? exitCodes.interrupted : exitCodes.ok);
      });
    });
}
