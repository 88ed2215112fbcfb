import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';

import { openRepo } from '@mound/vcs';
import { exportGit, gitBlobId, importGit } from '@mound/vcs/git';

import { answerParent } from '../../harness/asked-process.ts';
import { cpuSecondsOfSelf } from '../../harness/process-tree.ts';
import { gitEnvironment } from '../../subjects/git/git-repo.ts';

/** One piece of work, done in a process of its own, so that its time and memory are its own. */
export type WorkRequest =
  | { readonly kind: 'import'; readonly gitDir: string; readonly dir: string }
  | { readonly kind: 'export'; readonly gitDir: string; readonly dir: string }
  | { readonly kind: 'gc'; readonly dir: string }
  /** What it prints is thrown away. */
  | { readonly kind: 'git'; readonly gitDir: string; readonly args: readonly string[]; readonly inputFile?: string }
  | { readonly kind: 'read'; readonly dir: string; readonly versions: readonly FileAtCommit[] };

/** A file as a git commit has it. */
export interface FileAtCommit {
  readonly commit: string;
  /** As Mound writes paths. */
  readonly path: string;
  /** The blob's git id; of a gitlink the id that it holds. */
  readonly id: string;
  readonly isGitlink: boolean;
}

export interface WorkAnswer {
  readonly seconds: number;
  /** Of all processes; undefined where the system does not tell. */
  readonly cpuSeconds: number | undefined;
  /** Branches and tags that were not taken, of an import. */
  readonly skippedRefs: readonly string[];
}

export interface ReadVersionsAnswer {
  readonly timesUs: Float64Array;
  /** Commit and path of what came with other bytes, or not at all. */
  readonly wrong: readonly string[];
}

async function timed(isGit: boolean, work: () => Promise<readonly string[]>): Promise<WorkAnswer> {
  const before = cpuSecondsOfSelf();
  const from = performance.now();
  const skippedRefs = await work();
  const seconds = (performance.now() - from) / 1000;
  const after = cpuSecondsOfSelf();
  const spent = before && after && { own: after.own - before.own, children: after.children - before.children };
  // Of a git command, this process only waits for it.
  return { seconds, cpuSeconds: spent && spent.children + (isGit ? 0 : spent.own), skippedRefs };
}

async function handle(request: WorkRequest): Promise<WorkAnswer | ReadVersionsAnswer> {
  if (request.kind === 'git') return timed(true, () => runGit(request));
  const repo = await openRepo(request.dir, { create: request.kind === 'import' });
  try {
    switch (request.kind) {
      case 'import':
        return await timed(false, async () => (await importGit(repo, request.gitDir)).skippedRefs);
      case 'export':
        return await timed(false, async () => (await exportGit(repo, request.gitDir)).skipped);
      case 'gc':
        return await timed(false, async () => {
          await repo.gc();
          return [];
        });
      case 'read':
        return readVersions(repo, request.versions);
    }
  } finally {
    await repo.close();
  }
}

async function runGit({ gitDir, args, inputFile }: Extract<WorkRequest, { kind: 'git' }>): Promise<string[]> {
  const input = inputFile === undefined ? undefined : openSync(inputFile, 'r');
  try {
    const child = spawn('git', [`--git-dir=${gitDir}`, ...args], {
      env: gitEnvironment(),
      stdio: [input ?? 'ignore', 'ignore', 'inherit'],
    });
    const [code, signal] = (await once(child, 'close')) as [number | null, string | null];
    if (code !== 0) throw new Error(`git ${args[0] ?? ''}: ${signal ?? `exit ${code}`}`);
    return [];
  } finally {
    if (input !== undefined) closeSync(input);
  }
}

function readVersions(
  repo: Awaited<ReturnType<typeof openRepo>>,
  versions: readonly FileAtCommit[],
): ReadVersionsAnswer {
  const timesUs = new Float64Array(versions.length);
  const wrong: string[] = [];
  for (const [at, { commit, path, id, isGitlink }] of versions.entries()) {
    const seq = repo.gitMarks.seqOf(commit);
    if (seq === undefined) {
      wrong.push(`${commit} (not there)`);
      continue;
    }
    const { branch } = repo.commit(seq);
    const from = performance.now();
    const content = repo.snapshot(seq, branch).read(path);
    timesUs[at] = (performance.now() - from) * 1000;
    const found = content && (isGitlink ? content.toString('latin1') : gitBlobId(content));
    if (found !== id) wrong.push(`${commit}:${path}`);
  }
  return { timesUs, wrong };
}

/** A process of `mound bench git` that does one piece of work after the other. */
export async function main(): Promise<void> {
  await answerParent(
    (request) => handle(request as WorkRequest),
    () => Promise.resolve(),
  );
}
