import { existsSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onCleanup } from '../temp.ts';

export interface Asked {
  readonly role: string;
  /** Turns that its agent has had. */
  readonly turn: number;
}

interface Step {
  readonly calls: readonly { readonly name: string; readonly arguments: object }[];
  readonly usage?: { readonly inputTokens: number; readonly outputTokens: number };
  readonly costUsd?: number;
}

/** Answers what comes into a mailbox until the test ends; undefined: not yet. */
export function answerer(dir: string, answer: (asked: Asked) => Step | undefined): void {
  const look = (): void => {
    const requests = join(dir, 'requests');
    for (const name of existsSync(requests) ? readdirSync(requests) : []) {
      if (!name.endsWith('.json') || existsSync(join(dir, 'answers', name))) continue;
      const request = JSON.parse(readFileSync(join(requests, name), 'utf8')) as {
        readonly role: string;
        readonly messages: readonly { readonly role: string }[];
      };
      const turn = request.messages.filter(({ role }) => role === 'assistant').length;
      const step = answer({ role: request.role, turn });
      if (step === undefined) continue;
      writeFileSync(join(dir, 'answers', `${name}.part`), JSON.stringify(step));
      renameSync(join(dir, 'answers', `${name}.part`), join(dir, 'answers', name));
    }
  };
  const timer = setInterval(() => {
    try {
      look();
    } catch (error) {
      // The run takes its files away while we look.
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
  }, 20);
  onCleanup(() => clearInterval(timer));
}
