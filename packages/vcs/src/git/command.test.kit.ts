import { spawn, type ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const moundBin = fileURLToPath(new URL('../../bin/mound.js', import.meta.url));

export interface Finished {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Starts the built `mound` command in a process of its own. */
export function startMound(
  args: readonly string[],
  input = '',
): { readonly child: ChildProcess; readonly finished: Promise<Finished> } {
  const child = spawn(process.execPath, [moundBin, ...args], { stdio: ['pipe', 'pipe', 'pipe'] });
  const finished = new Promise<Finished>((resolve, reject) => {
    let stdout = '';
    let stderr = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
    child.once('error', reject);
    child.once('close', (code, signal) => resolve({ code, signal, stdout, stderr }));
  });
  child.stdin.on('error', () => undefined);
  child.stdin.end(input);
  return { child, finished };
}

export const mound = (args: readonly string[], input?: string): Promise<Finished> => startMound(args, input).finished;

export const jsonOf = ({ stdout }: Finished): Record<string, unknown> => JSON.parse(stdout) as Record<string, unknown>;
