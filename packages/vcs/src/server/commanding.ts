import { spawn } from 'node:child_process';
import type { Hono } from 'hono';
import { stream } from 'hono/streaming';
import { bytesOfBase64, fieldsOf, listOf, optional, textOf, WireFault } from '../wire/index.ts';
import { jsonOf, type Env } from './answers.ts';

/** The `mound` command, for those who cannot open the store where they are. */
export interface ServedCommand {
  readonly file: string;
  /** What comes before the words of the request. */
  readonly args: readonly string[];
  /** Whether it may be run for somebody elsewhere. */
  isServed(words: readonly string[]): boolean;
}

/** Lines of a command's answer, one JSON object each. */
export type CommandFrame =
  | { readonly out: string }
  | { readonly err: string }
  | { readonly code: number | null; readonly signal: string | null };

/** Runs a command here and streams what it prints, as base64, then how it ended. It is killed when its caller goes. */
export function addCommanding(app: Hono<Env>, dir: string, command: ServedCommand): void {
  app.post('/v1/command', async (request) => {
    request.get('access').mustAdminister();
    const fields = fieldsOf(await jsonOf(request), 'the body', ['words', 'stdinBase64']);
    const words = listOf(fields['words'], '"words"').map((word) => textOf(word, 'a word'));
    const { stdinBase64: input } = optional('stdinBase64', fields['stdinBase64'], bytesOfBase64);
    if (!command.isServed(words)) throw new WireFault(`'${words.join(' ')}' does not go through a server`);
    return stream(request, async (answer) => {
      const child = spawn(command.file, [...command.args, ...words], { cwd: dir, stdio: 'pipe' });
      answer.onAbort(() => void child.kill('SIGTERM'));
      child.stdin.on('error', () => undefined);
      child.stdin.end(input ?? '');
      let last = Promise.resolve();
      const tell = (frame: CommandFrame): Promise<void> => {
        last = last.then(async () => void (await answer.write(`${JSON.stringify(frame)}\n`)));
        return last;
      };
      const pass = async (from: AsyncIterable<Buffer>, key: 'out' | 'err'): Promise<void> => {
        for await (const bytes of from) {
          const text = bytes.toString('base64');
          await tell(key === 'out' ? { out: text } : { err: text });
        }
      };
      const ended = new Promise<CommandFrame>((resolve) => {
        child.once('error', () => resolve({ code: 1, signal: null }));
        child.once('close', (code, signal) => resolve({ code, signal }));
      });
      await Promise.all([pass(child.stdout, 'out'), pass(child.stderr, 'err')]);
      await tell(await ended);
    });
  });
}
