import { createWriteStream } from 'node:fs';
import { mkdir, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';

import { seededRandom } from '@mound/vcs';
import { ObjectReader, readTreeFlat, resolveGitDir } from '@mound/vcs/git';

import { runCommand, startCommand } from '../../harness/child-process.ts';
import { gitEnvironment } from '../../subjects/git/git-repo.ts';
import type { FileAtCommit } from './work-process.ts';

const refsMeasured = ['refs/heads', 'refs/tags'];

/** Files that are drawn of one commit: reading a whole tree for a single one would take long. */
const filesPerCommit = 10;

/** A git repository that the bench made or copied, looked at with plain git. */
export class GitHistoryCopy {
  readonly gitDir: string;
  private readonly signal: AbortSignal;

  constructor(gitDir: string, signal: AbortSignal) {
    this.gitDir = gitDir;
    this.signal = signal;
  }

  /**
   * Branches and tags of a repository, which is only read, with all that is behind them and nothing else, in one pack.
   * Errors: those of `resolveGitDir`, or what git says of a repository that cannot be copied.
   */
  static async of(source: string, gitDir: string, signal: AbortSignal): Promise<GitHistoryCopy> {
    const from = await resolveGitDir(source);
    const copy = new GitHistoryCopy(gitDir, signal);
    await copy.init();
    const head = await new GitHistoryCopy(from, signal).headOf();
    if (head !== undefined) await copy.git(['symbolic-ref', 'HEAD', head]);
    const specs = refsMeasured.map((prefix) => `+${prefix}/*:${prefix}/*`);
    await copy.git(['fetch', '--quiet', '--no-tags', '--no-write-fetch-head', '--update-head-ok', from, ...specs]);
    return copy;
  }

  git(args: readonly string[]): Promise<Buffer> {
    const options = { cwd: this.gitDir, env: gitEnvironment(), signal: this.signal };
    return runCommand('git', [`--git-dir=${this.gitDir}`, ...args], options);
  }

  async init(): Promise<void> {
    await mkdir(this.gitDir, { recursive: true });
    await this.git(['init', '--quiet', '--bare', '--template=', this.gitDir]);
  }

  private async lines(args: readonly string[]): Promise<string[]> {
    return (await this.git(args)).toString('latin1').split('\n').filter(Boolean);
  }

  private async headOf(): Promise<string | undefined> {
    const found = await this.git(['symbolic-ref', '--quiet', 'HEAD']).catch(() => undefined);
    return found?.toString('utf8').trim();
  }

  /**
   * Bytes of its pack, once all is in one, some refs left out. Deltas are those that its owner has, unless they are to
   * be made anew: those of fast-import are poor.
   */
  async pack(without: readonly string[], { deltasAnew }: { readonly deltasAnew: boolean }): Promise<number> {
    for (const ref of without) await this.git(['update-ref', '-d', ref]);
    await this.git(['pack-refs', '--all']);
    await this.git(['-c', 'gc.auto=0', 'repack', '-a', '-d', '--quiet', ...(deltasAnew ? ['-f'] : [])]);
    await this.git(['prune', '--expire=now']);
    const dir = join(this.gitDir, 'objects', 'pack');
    const sizes = (await readdir(dir)).map(async (name) =>
      name.endsWith('.pack') || name.endsWith('.idx') ? (await stat(join(dir, name))).size : 0,
    );
    return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
  }

  /** The history as `git fast-import` takes it. */
  async writeStream(file: string): Promise<void> {
    const args = ['--reencode=no', '--signed-tags=verbatim', '--tag-of-filtered-object=drop', '--fake-missing-tagger'];
    const options = { cwd: this.gitDir, env: gitEnvironment(), signal: this.signal };
    const git = startCommand(
      'git',
      [`--git-dir=${this.gitDir}`, 'fast-export', ...args, '--branches', '--tags'],
      options,
      { keepOutput: false },
    );
    await Promise.all([pipeline(git.stdout, createWriteStream(file)), git.finish()]);
  }

  /** Ids by full name. */
  async refs(): Promise<ReadonlyMap<string, string>> {
    const lines = await this.lines(['for-each-ref', '--format=%(objectname) %(refname)', ...refsMeasured]);
    return new Map(lines.map((line) => [line.slice(41), line.slice(0, 40)]));
  }

  /** The tree of every commit behind a branch or tag, newest first. */
  async trees(): Promise<ReadonlyMap<string, string>> {
    const lines = await this.lines(['log', '--format=%H %T', '--branches', '--tags']);
    return new Map(lines.map((line) => [line.slice(0, 40), line.slice(41)]));
  }

  async objects(): Promise<string[]> {
    return this.lines(['cat-file', '--batch-all-objects', '--batch-check=%(objectname)']);
  }

  /** Files drawn from commits that are drawn, in an order of their own. */
  async drawFiles(count: number, seed: number): Promise<FileAtCommit[]> {
    const random = seededRandom(seed);
    const commits = [...(await this.trees())];
    const drawn: FileAtCommit[] = [];
    const reader = new ObjectReader(this.gitDir);
    try {
      // Empty commits give nothing: the bound is for a history of those alone.
      for (let tries = 0; drawn.length < count && tries < count; tries++) {
        const [commit, tree] = commits[random.below(commits.length)] ?? [];
        if (commit === undefined || tree === undefined) break;
        const files = [...(await readTreeFlat(reader, tree))];
        for (let taken = 0; taken < filesPerCommit && files.length > 0; taken++) {
          const [path, { mode, id }] = files[random.below(files.length)] ?? ['', { mode: 'file', id: '' }];
          drawn.push({ commit, path, id, isGitlink: mode === 'gitlink' });
        }
      }
    } finally {
      await reader.close();
    }
    return drawn
      .slice(0, count)
      .map((file) => ({ file, at: random.next() }))
      .toSorted((a, b) => a.at - b.at)
      .map(({ file }) => file);
  }
}
