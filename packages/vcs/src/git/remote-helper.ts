import { readSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Repo } from '../repo/api.ts';
import { runGit, runGitAttached, requireGit } from './git-command.ts';
import { listRefs } from './git-refs.ts';
import { landPush, type PushedRef, type PushOptions } from './push.ts';
import { refreshTwin } from './twin.ts';

/** What a helper talks to: git's end of the pipe, and its environment. */
export interface HelperStreams {
  /** The next line of git's, without its end; undefined at the end. Never reads further: what follows may be for another. */
  readLine(): string | undefined;
  write(text: string): void;
}

/** The streams of a process that git has started. */
export const standardStreams: HelperStreams = {
  readLine: readLineOfStdin,
  write: (text) => void process.stdout.write(text),
};

function readLineOfStdin(): string | undefined {
  const byte = Buffer.alloc(1);
  const bytes: number[] = [];
  for (;;) {
    let count = 0;
    try {
      count = readSync(0, byte);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code !== 'EAGAIN') throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
      continue;
    }
    if (count === 0) return bytes.length === 0 ? undefined : Buffer.from(bytes).toString('utf8');
    if (byte[0] === 0x0a) return Buffer.from(bytes).toString('utf8');
    bytes.push(byte[0] ?? 0);
  }
}

/**
 * The helper's side of `gitremote-helpers`: what is fetched comes from the twin
 * through git's own `upload-pack` (`connect`), so every kind of clone works;
 * what is pushed is read from the pusher's repository and lands in the store
 * (`push`). Answers the exit code.
 */
export async function serveRemoteHelper(
  repo: Repo,
  streams: HelperStreams,
  environment: NodeJS.ProcessEnv,
): Promise<number> {
  await requireGit();
  const gitDir = environment['GIT_DIR'];
  let isDryRun = false;
  let pushes: PushedRef[] = [];
  for (;;) {
    const line = streams.readLine();
    if (line === undefined) return 0;
    const space = line.indexOf(' ');
    const command = space < 0 ? line : line.slice(0, space);
    const rest = space < 0 ? '' : line.slice(space + 1);
    if (command === 'capabilities') {
      streams.write('connect\npush\noption\n\n');
    } else if (command === 'option') {
      const [name, value] = rest.split(' ');
      if (name === 'dry-run') isDryRun = value === 'true';
      const isKnown = name === 'dry-run' || name === 'verbosity' || name === 'progress';
      streams.write(isKnown ? 'ok\n' : 'unsupported\n');
    } else if (command === 'connect' && rest === 'git-upload-pack') {
      const twin = await refreshTwin(repo);
      await repo.close();
      streams.write('\n');
      return runGitAttached(['upload-pack', twin], environment['GIT_PROTOCOL']);
    } else if (command === 'connect') {
      streams.write('fallback\n');
    } else if (command === 'list') {
      streams.write(await listed(repo, gitDir, rest === 'for-push'));
    } else if (command === 'push') {
      pushes.push(pushedOf(rest));
    } else if (command === '') {
      // An empty line ends a group of pushes, or, where there is none, the talk.
      if (pushes.length === 0) return 0;
      streams.write(await landAll(repo, gitDir, pushes, isDryRun));
      pushes = [];
    } else {
      process.stderr.write(`git-remote-mound: unknown command '${command}'\n`);
      return 1;
    }
  }
}

function pushedOf(spec: string): PushedRef {
  const isForced = spec.startsWith('+');
  const plain = isForced ? spec.slice(1) : spec;
  const colon = plain.indexOf(':');
  return { source: plain.slice(0, colon), ref: plain.slice(colon + 1), isForced };
}

/** Under `merge` git must not know where branches stand: it would refuse a stale push by itself. */
async function listed(repo: Repo, gitDir: string | undefined, isForPush: boolean): Promise<string> {
  const twin = await refreshTwin(repo);
  const isMerging = isForPush && (await onStaleOf(gitDir)) === 'merge';
  const lines: string[] = [];
  for (const { name, id, isText } of await listRefs(twin)) {
    if (isText) lines.push(`${isMerging && name.startsWith('refs/heads/') ? '?' : id} ${name}\n`);
  }
  const { stdout } = await runGit(['symbolic-ref', 'HEAD'], { gitDir: twin });
  return `${lines.join('')}@${stdout.toString('utf8').trim()} HEAD\n\n`;
}

async function landAll(
  repo: Repo,
  gitDir: string | undefined,
  pushes: readonly PushedRef[],
  isDryRun: boolean,
): Promise<string> {
  const options: PushOptions = { onStale: await onStaleOf(gitDir), isDryRun };
  const answers: string[] = [];
  for (const pushed of pushes) {
    const from = resolve(gitDir ?? '.git');
    const refusal = await landPush(repo, from, pushed, options);
    answers.push(refusal === undefined ? `ok ${pushed.ref}\n` : `error ${pushed.ref} ${refusal}\n`);
  }
  return `${answers.join('')}\n`;
}

/** `git config mound.onStale merge` in the pusher's repository. */
async function onStaleOf(gitDir: string | undefined): Promise<PushOptions['onStale']> {
  if (gitDir === undefined) return 'reject';
  const { stdout } = await runGit(['config', '--get', 'mound.onStale'], { gitDir, okCodes: [0, 1] });
  return stdout.toString('utf8').trim() === 'merge' ? 'merge' : 'reject';
}
