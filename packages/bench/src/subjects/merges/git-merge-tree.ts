import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

import { runCommand, startCommand, type CommandOptions, type RunningCommand } from '../../harness/child-process.ts';
import { gitVersion } from '../../harness/machine.ts';
import type { MergeTriple } from '../../workloads/merge-triples.ts';
import { gitEnvironment } from '../git/git-repo.ts';
import type { MergeSubject, MergeVerdict, StagedMerges } from './merge-subject.ts';

/** The first git whose `merge-tree` has `--write-tree --stdin`. */
const stdinSince = 2.39;

async function isAvailable(options: Omit<CommandOptions, 'cwd'>): Promise<true | { readonly missing: string }> {
  const [major = '0', minor = '0'] = ((await gitVersion()) ?? '').split('.');
  if (Number(major) + Number(minor) / 100 < stdinSince) return { missing: `git ${stdinSince}` };
  return runCommand('stdbuf', ['--version'], { ...options, cwd: '.' }).then(
    () => true,
    () => ({ missing: 'stdbuf of GNU coreutils' }),
  );
}

/**
 * `git merge-tree --write-tree --stdin`: one process that merges commit after commit.
 * Each triple is three commits of one file; objects are read and the merged ones written,
 * which is part of its work. git writes its answers when it ends; `stdbuf` makes it
 * answer at once where merges are timed one by one.
 */
export const gitMergeTreeMerges: MergeSubject = {
  name: 'git-merge-tree',
  available: () => isAvailable({ env: gitEnvironment(), signal: new AbortController().signal }),
  open: (dir, signal) => {
    let staged = 0;
    let running: MergeTree | undefined;
    return Promise.resolve({
      stage: async (triples) => {
        await running?.close();
        const own = join(dir, String(staged++));
        await mkdir(own);
        const options = { cwd: own, env: gitEnvironment(), signal };
        await runCommand('git', ['init', '--quiet', '--bare', '--template=', '.'], options);
        const sides = await importTriples(triples, options);
        running = new MergeTree(options);
        return stagedIn(running, sides, options);
      },
      close: async () => running?.close(),
    });
  },
};

type Sides = readonly string[];

function stagedIn(process: MergeTree, sides: Sides, options: CommandOptions): StagedMerges {
  let answers: Answer[] = [];
  return {
    merge: async (index) => {
      answers[index] = await process.merge(sides[index] as string);
    },
    mergeAll: async () => {
      const all = await runCommand('git', mergeTree, { ...options, input: sides.map((line) => `${line}\n`).join('') });
      answers = recordsOf(all.toString('latin1')).map(answerOf);
    },
    verdicts: async () => {
      const clean = answers.filter(({ isClean }) => isClean);
      const contents = await readContents(
        clean.map(({ tree }) => tree),
        options,
      );
      return answers.map((answer): MergeVerdict =>
        answer.isClean
          ? { kind: 'clean', content: contents[clean.indexOf(answer)] ?? Buffer.alloc(0) }
          : { kind: 'conflict' },
      );
    },
  };
}

/** The pair of commits to merge for each triple, as `merge-tree` takes them. */
async function importTriples(triples: readonly MergeTriple[], options: CommandOptions): Promise<Sides> {
  const parts: (string | Uint8Array)[] = [];
  const commit = (mark: number, parent: number | undefined, content: Uint8Array): void => {
    parts.push(`reset refs/heads/m${mark}\ncommit refs/heads/m${mark}\nmark :${mark}\n`);
    parts.push('committer bench <bench@mound.invalid> 1 +0000\ndata 0\n');
    if (parent !== undefined) parts.push(`from :${parent}\n`);
    parts.push(`M 100644 inline f\ndata ${content.length}\n`, content, '\n');
  };
  triples.forEach(({ base, current, incoming }, index) => {
    const mark = index * 3 + 1;
    commit(mark, undefined, base);
    commit(mark + 1, mark, current);
    commit(mark + 2, mark, incoming);
  });
  const input = Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : part)));
  await runCommand('git', ['fast-import', '--quiet', '--export-marks=marks'], { ...options, input });
  const ids = new Map<number, string>();
  for (const line of (await readFile(join(options.cwd, 'marks'), 'utf8')).split('\n')) {
    const [, mark, id] = /^:(\d+) ([0-9a-f]+)$/.exec(line) ?? [];
    if (mark !== undefined && id !== undefined) ids.set(Number(mark), id);
  }
  return triples.map((_, index) => `${ids.get(index * 3 + 2)} ${ids.get(index * 3 + 3)}`);
}

const mergeTree = ['merge-tree', '--write-tree', '--stdin', '-z', '--name-only', '--no-messages'];

interface Answer {
  readonly isClean: boolean;
  readonly tree: string;
}

/** `1 NUL tree NUL NUL`, or `0 NUL tree NUL paths NUL NUL`. */
const recordsOf = (text: string): string[] => text.split('\0\0').slice(0, -1);

function answerOf(record: string): Answer {
  const [status, tree = ''] = record.split('\0');
  return { isClean: status === '1', tree };
}

class MergeTree {
  readonly #command: RunningCommand;
  readonly #waiting: { readonly resolve: (answer: Answer) => void; readonly reject: (error: Error) => void }[] = [];
  #rest = '';

  constructor(options: CommandOptions) {
    this.#command = startCommand('stdbuf', ['-o0', 'git', ...mergeTree], options);
    this.#command.stdout.on('data', (chunk: Buffer) => {
      this.#rest += chunk.toString('latin1');
      const end = this.#rest.lastIndexOf('\0\0');
      if (end < 0) return;
      for (const record of recordsOf(this.#rest)) this.#waiting.shift()?.resolve(answerOf(record));
      this.#rest = this.#rest.slice(end + 2);
    });
    this.#command.stdout.once('close', () => {
      for (const { reject } of this.#waiting.splice(0)) reject(new Error('git merge-tree has ended'));
    });
  }

  merge(sides: string): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ resolve, reject });
      this.#command.stdin.write(`${sides}\n`);
    });
  }

  async close(): Promise<void> {
    await this.#command.finish();
  }
}

async function readContents(trees: readonly string[], options: CommandOptions): Promise<Buffer[]> {
  const input = trees.map((tree) => `${tree}:f\n`).join('');
  const output = await runCommand('git', ['cat-file', '--batch'], { ...options, input });
  const contents: Buffer[] = [];
  for (let at = 0; at < output.length;) {
    const end = output.indexOf(10, at);
    const size = Number(output.toString('latin1', at, end).split(' ')[2]);
    contents.push(output.subarray(end + 1, end + 1 + size));
    at = end + 1 + size + 1;
  }
  return contents;
}
