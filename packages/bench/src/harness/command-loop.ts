import { startCommand, type CommandOptions, type RunningCommand } from './child-process.ts';

/**
 * A shell that runs one command again and again, each time with another word as
 * `$n`. A small shell forks in a fraction of the time that Node takes, so what is
 * measured is the command's own cost as a process.
 */
export class CommandLoop {
  readonly #shell: RunningCommand;
  readonly #waiting: { readonly resolve: (status: number) => void; readonly reject: (error: Error) => void }[] = [];
  #rest = '';

  /** `script` is shell text; its exit status is the answer. */
  constructor(script: string, options: CommandOptions) {
    this.#shell = startCommand('sh', ['-c', `while read -r n; do ${script}\necho $?; done`], options);
    this.#shell.stdout.on('data', (chunk: Buffer) => this.#take(chunk.toString('latin1')));
    const fail = (error: Error): void => {
      for (const { reject } of this.#waiting.splice(0)) reject(error);
    };
    this.#shell.stdout.once('close', () => fail(new Error('the shell that runs commands has ended')));
  }

  /** Runs it once; its exit status. `word` has no space in it. */
  run(word: string): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ resolve, reject });
      this.#shell.stdin.write(`${word}\n`);
    });
  }

  async close(): Promise<void> {
    await this.#shell.finish();
  }

  #take(text: string): void {
    const lines = (this.#rest + text).split('\n');
    this.#rest = lines.pop() ?? '';
    for (const line of lines) this.#waiting.shift()?.resolve(Number(line));
  }
}
