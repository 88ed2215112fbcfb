import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, open, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';

import { seededRandom } from '@mound/vcs';

import { seededGitRepo } from '../../subjects/git/seeded-repo.ts';
import type { GitRepo } from '../../subjects/git/git-repo.ts';
import { fullLines, fullPart } from '../../workloads/intended-text.ts';
import type { IntendedWork } from '../../workloads/intended-work.ts';
import { judgeBuilds, judgeEdits, parameterName, sampled, type ArmFigures } from './arm.ts';
import type { Build, Tree } from './build.ts';
import { allJobs, mustTask, needsListing, nothingLearned, pathsOf, wantedOf, type Job } from './jobs.ts';

export interface OldStyleOptions {
  readonly agents: number;
  readonly thinkMs: number;
  /** So long somebody who stands still does, with its locks. */
  readonly stallMs: number;
  readonly build: Build | undefined;
  readonly signal: AbortSignal;
}

/** A job is made anew on the newest trunk so often when it would not merge. */
const triesMax = 20;
/** A lock that is not there to be had is asked for again; after so long it is taken to be forgotten, and gone past. */
const lockPollMs = 20;
const lockWaitMs = 3_000;

/**
 * How swarms worked before: equal agents with a git worktree each, files
 * claimed by lock files while somebody works on them, and one integrator who
 * merges what they bring onto the trunk.
 */
export async function runOldStyleArm(work: IntendedWork, dir: string, options: OldStyleOptions): Promise<ArmFigures> {
  const main = join(dir, 'main');
  await mkdir(main, { recursive: true });
  await mkdir(join(dir, 'locks'));
  const files = new Map([...work.initialFiles()].map(([path, text]) => [path, Buffer.from(text)]));
  const repo = await seededGitRepo(files, main, { bare: false, signal: options.signal });
  const old = new OldStyle(work, repo, dir, options);
  try {
    return await old.run();
  } finally {
    await repo.close();
  }
}

class OldStyle {
  readonly #work: IntendedWork;
  readonly #repo: GitRepo;
  readonly #dir: string;
  readonly #options: OldStyleOptions;
  readonly #acknowledged = new Set<string>();
  #conflicts = 0;
  #refused = 0;
  #integrating: Promise<unknown> = Promise.resolve();

  constructor(work: IntendedWork, repo: GitRepo, dir: string, options: OldStyleOptions) {
    this.#work = work;
    this.#repo = repo;
    this.#dir = dir;
    this.#options = options;
  }

  async run(): Promise<ArmFigures> {
    const start = await this.#repo.text(['rev-parse', 'main']);
    await this.#repo.run(['checkout', '--quiet', 'main']);
    const agents = Array.from({ length: this.#options.agents }, (_, at) => at);
    for (const agent of agents) {
      await this.#repo.run(['worktree', 'add', '--quiet', '--detach', this.#worktree(agent), 'main']);
    }
    const from = performance.now();
    const jobs = allJobs(this.#work);
    const together = jobs.length - 1;
    let next = 0;
    await Promise.all(
      agents.map(async (agent) => {
        for (let at = next++; at < together; at = next++) await this.#do(agent, jobs[at] as Job, at);
      }),
    );
    await this.#do(0, jobs[together] as Job, together);
    const seconds = (performance.now() - from) / 1000;
    const commits = (await this.#repo.text(['rev-list', '--reverse', '--first-parent', `${start}..main`])).split('\n').filter((id) => id !== ''); // prettier-ignore
    const trees: Tree[] = [];
    for (const commit of sampled(commits)) trees.push(await this.#treeOf(commit));
    return {
      ...judgeEdits(this.#work, await this.#treeOf('main'), this.#acknowledged),
      ...(await judgeBuilds(this.#options.build, trees)),
      conflicts: this.#conflicts,
      commits: commits.length,
      neutralCommits: undefined,
      refusedTries: this.#refused,
      duplicateWork: undefined,
      oscillations: await this.#oscillations(start),
      seconds,
      tokens: undefined,
      toldTokens: undefined,
      passRate: undefined,
      mergeQueueMsP50: undefined,
      mergeQueueMsP99: undefined,
    };
  }

  #worktree(agent: number): string {
    return join(this.#dir, `agent-${agent}`);
  }

  async #do(agent: number, job: Job, number: number): Promise<void> {
    const random = seededRandom(number * 31);
    const think = (): Promise<void> => setTimeout(this.#options.thinkMs * (0.5 + random.next()));
    const stalls = job.kind === 'task' && mustTask(this.#work, job.task).stalls;
    let learned = nothingLearned;
    for (let tries = 0; tries < triesMax; tries++) {
      const locks = await this.#lock([...wantedOf(this.#work, job, await this.#see(agent, job), learned).keys()]);
      try {
        const seen = await this.#see(agent, job);
        await think();
        await think();
        if (stalls && tries === 0) await setTimeout(this.#options.stallMs);
        const made = wantedOf(this.#work, job, seen, learned);
        if (made.size === 0) return;
        const became = await this.#integrate(await this.#commit(agent, made, job, number));
        if (became === 'full') learned = { ...learned, full: new Set([fullPart]) };
        if (became !== 'merged') continue;
        if (job.kind === 'task') this.#acknowledged.add(job.task).add(parameterName(job.task));
        return;
      } finally {
        for (const lock of locks) await rm(lock, { force: true });
      }
    }
  }

  /** Claims files, one after another; each that another has is a conflict, and waited for. */
  async #lock(paths: readonly string[]): Promise<string[]> {
    const locks: string[] = [];
    for (const path of paths.toSorted((a, b) => (a < b ? -1 : 1))) {
      const lock = join(this.#dir, 'locks', createHash('sha1').update(path).digest('hex'));
      const untilMs = performance.now() + lockWaitMs;
      for (let tries = 0; ; tries++) {
        const taken = await open(lock, 'wx').catch((error: NodeJS.ErrnoException) => {
          if (error.code !== 'EEXIST') throw error;
          return undefined;
        });
        if (taken !== undefined) {
          await taken.close();
          locks.push(lock);
          break;
        }
        if (tries === 0) this.#conflicts++;
        this.#options.signal.throwIfAborted();
        if (performance.now() > untilMs) break;
        await setTimeout(lockPollMs);
      }
    }
    return locks;
  }

  /** What an agent reads for a job on the newest trunk. */
  async #see(agent: number, job: Job): Promise<Map<string, string>> {
    await this.#git(agent, ['checkout', '--quiet', '--detach', '--force', 'main']);
    const listed = needsListing(job) ? (await this.#git(agent, ['ls-files', 'src'])).toString('utf8').trim().split('\n') : []; // prettier-ignore
    const seen = new Map<string, string>();
    for (const path of pathsOf(this.#work, job, seen, listed)) {
      const file = join(this.#worktree(agent), path);
      if (existsSync(file)) seen.set(path, await readFile(file, 'utf8'));
    }
    return seen;
  }

  async #commit(agent: number, made: ReadonlyMap<string, string>, job: Job, number: number): Promise<string> {
    for (const [path, text] of made) {
      const file = join(this.#worktree(agent), path);
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, text);
    }
    await this.#git(agent, ['add', '--all', '--', ...made.keys()]);
    await this.#git(agent, ['commit', '--quiet', '--no-verify', `--message=${job.kind} ${number}`]);
    return (await this.#git(agent, ['rev-parse', 'HEAD'])).toString('utf8').trim();
  }

  /** One door: whoever comes waits for those before. */
  #integrate(commit: string): Promise<'merged' | 'conflict' | 'full'> {
    const became = this.#integrating.then(() => this.#merge(commit));
    this.#integrating = became;
    return became;
  }

  /** `full`: the rule of the repository on the length of files, which the integrator keeps here, refuses it. */
  async #merge(commit: string): Promise<'merged' | 'conflict' | 'full'> {
    const before = (await this.#repo.text(['rev-parse', 'HEAD'])).trim();
    try {
      await this.#repo.run(['merge', '--quiet', '--no-edit', '--no-verify', commit]);
    } catch {
      this.#conflicts++;
      await this.#repo.run(['merge', '--abort']).catch(() => undefined);
      return 'conflict';
    }
    const names = (await this.#repo.text(['diff', '--name-only', before, 'HEAD', '--', fullPart])).trim();
    for (const path of names === '' ? [] : names.split('\n')) {
      const text = (await this.#repo.run(['show', `HEAD:${path}`])).toString('utf8');
      if (text.split('\n').length - 1 <= fullLines) continue;
      await this.#repo.run(['reset', '--quiet', '--hard', before]);
      this.#refused++;
      return 'full';
    }
    return 'merged';
  }

  #git(agent: number, args: readonly string[]): Promise<Buffer> {
    const dir = this.#worktree(agent);
    return this.#repo.run(['-C', dir, `--git-dir=${join(dir, '.git')}`, `--work-tree=${dir}`, ...args]);
  }

  async #treeOf(commit: string): Promise<Tree> {
    const names = (await this.#repo.text(['ls-tree', '-r', '--name-only', commit, '--', 'src'])).split('\n');
    const tree = new Map<string, string>();
    for (const path of names) tree.set(path, (await this.#repo.run(['show', `${commit}:${path}`])).toString('utf8'));
    return tree;
  }

  /** Commits of the trunk that gave a file a content which it had before the last change. */
  async #oscillations(start: string): Promise<number> {
    const raw = await this.#repo.text(['log', '--reverse', '--first-parent', '-m', '--raw', '--no-abbrev', '--format=', `${start}..main`]); // prettier-ignore
    const history = new Map<string, string[]>();
    let found = 0;
    for (const line of raw.split('\n')) {
      const [, , before = '', after = '', rest = ''] = line.split(' ');
      const path = rest.split('\t')[1] ?? '';
      if (path === '') continue;
      const past = history.get(path) ?? [before];
      if (past.slice(0, -1).includes(after)) found++;
      history.set(path, [...past, after]);
    }
    return found;
  }
}
