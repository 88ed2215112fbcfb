import { spawn, type ChildProcess } from 'node:child_process';

import type { CommandOptions } from './child-process.ts';
import { Interrupted } from './interrupt.ts';

type Answer = { readonly id: number; readonly stdout: Uint8Array; readonly stderr: string; readonly fault?: string };

interface Waiting {
  readonly what: string;
  resolve(stdout: Buffer): void;
  reject(error: Error): void;
}

/**
 * What the host runs. As text, because it must run alike from sources and from
 * the build. When its parent goes, it goes with all that it started.
 */
const hostProgram = `
  const { spawn } = require('node:child_process');
  process.on('disconnect', () => process.kill(0, 'SIGKILL'));
  process.on('message', ({ id, command, args, cwd, env, input }) => {
    const child = spawn(command, args, { cwd, env, stdio: 'pipe' });
    const stdout = [];
    const stderr = [];
    let answered = false;
    const answer = (fault) => {
      if (answered) return;
      answered = true;
      process.send({ id, fault, stdout: Buffer.concat(stdout), stderr: Buffer.concat(stderr).toString() });
    };
    child.stdout.on('data', (chunk) => stdout.push(chunk));
    child.stderr.on('data', (chunk) => stderr.push(chunk));
    child.stdin.on('error', () => {});
    child.on('error', (error) => answer(error.message));
    child.on('close', (code, signal) => answer(code === 0 ? undefined : signal ?? 'exit ' + code));
    child.stdin.end(input);
  });
`;

/**
 * A small process that starts commands for us. Starting one costs the starter's
 * memory in page tables (5 ms at 200 MB, 28 ms at 1.2 GB): started from the
 * bench itself, git would pay for the files that the bench keeps in memory.
 */
export class CommandHost {
  readonly #host: ChildProcess;
  readonly #options: CommandOptions;
  readonly #waiting = new Map<number, Waiting>();
  readonly #kill: () => void;
  readonly #ended: Promise<void>;
  #calls = 0;

  constructor(options: CommandOptions) {
    const { cwd, env, signal } = options;
    if (signal.aborted) throw new Interrupted();
    this.#options = options;
    this.#host = spawn(process.execPath, ['-e', hostProgram], {
      cwd,
      env,
      detached: true,
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    this.#host.on('message', (answer) => this.#take(answer as Answer));
    this.#kill = () => {
      if (this.#host.pid !== undefined) killGroup(this.#host.pid);
    };
    signal.addEventListener('abort', this.#kill, { once: true });
    this.#ended = new Promise((resolve) => {
      const end = (): void => {
        signal.removeEventListener('abort', this.#kill);
        const error = signal.aborted ? new Interrupted() : new Error('the process that starts commands has ended');
        for (const waiting of this.#waiting.values()) waiting.reject(error);
        this.#waiting.clear();
        resolve();
      };
      this.#host.once('exit', end);
      this.#host.once('error', end);
    });
  }

  /** Runs a command to its end: its standard output, or an error that quotes its last words. */
  run(
    command: string,
    args: readonly string[],
    call: { readonly env?: NodeJS.ProcessEnv; readonly input?: Uint8Array | string } = {},
  ): Promise<Buffer> {
    if (this.#options.signal.aborted) return Promise.reject(new Interrupted());
    const id = this.#calls++;
    const { cwd, env } = this.#options;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { what: `${command} ${args[0] ?? ''}`, resolve, reject });
      const request = { id, command, args, cwd, env: { ...env, ...call.env }, input: call.input ?? '' };
      this.#host.send(request, (error) => {
        if (error === null) return;
        this.#waiting.delete(id);
        reject(this.#options.signal.aborted ? new Interrupted() : error);
      });
    });
  }

  /** Ends it and all that it started. */
  async close(): Promise<void> {
    this.#kill();
    await this.#ended;
  }

  #take({ id, fault, stdout, stderr }: Answer): void {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (fault === undefined) waiting?.resolve(Buffer.from(stdout.buffer, stdout.byteOffset, stdout.byteLength));
    else waiting?.reject(new Error(`${waiting.what}: ${fault}: ${stderr.trim().slice(-400)}`));
  }
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // It has gone already.
  }
}
