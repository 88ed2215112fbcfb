import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';

import {
  absent,
  addWorkspace,
  any,
  openRepo,
  removeWorkspace,
  type Author,
  type Repo,
  type WorkspaceDirectory,
} from '@mound/vcs';

import { CommandHost } from '../../harness/command-host.ts';
import { gitEnvironment } from '../../subjects/git/git-repo.ts';
import type { TreeFiles } from './tree-files.ts';

/** Gives milliseconds of the one thing that is measured. */
export async function timed(work: () => Promise<unknown>): Promise<number> {
  const from = performance.now();
  await work();
  return performance.now() - from;
}

/** A repository whose files come into place in directories below one of the bench's own. */
export interface Places {
  /** Times one directory with all files coming into place; removes it after `look`. */
  add(look: (dir: string) => void): Promise<number>;
  /** Lands `files` and times a standing directory, which is up to date, following them. */
  follow(files: TreeFiles): Promise<number>;
  /** Where that directory is. */
  readonly standing: string;
  close(): Promise<void>;
}

const author: Author = { name: 'bench', kind: 'system' };
const filesPerLanding = 5000;

/** A repository with files and one workspace on disk. */
export class MoundPlaces implements Places {
  readonly repo: Repo;
  readonly standing: string;
  private readonly dir: string;
  private readonly workspace: WorkspaceDirectory;
  private count = 0;

  private constructor(repo: Repo, dir: string, workspace: WorkspaceDirectory) {
    this.repo = repo;
    this.dir = dir;
    this.workspace = workspace;
    this.standing = workspace.dir;
  }

  static async create(dir: string, files: TreeFiles): Promise<MoundPlaces> {
    await mkdir(dir, { recursive: true });
    const repo = await openRepo(join(dir, 'repo'), { create: true });
    try {
      const all = [...files];
      for (let from = 0; from < all.length; from += filesPerLanding) {
        await landAll(repo, new Map(all.slice(from, from + filesPerLanding)), true);
      }
      const { directory } = await addWorkspace(repo, join(dir, 'standing'));
      return new MoundPlaces(repo, dir, directory);
    } catch (error) {
      await repo.close();
      throw error;
    }
  }

  async add(look: (dir: string) => void): Promise<number> {
    return this.timeAdd(look, false);
  }

  /** The same with hard links to a cache, which the first of them fills. */
  async addLinked(look: (dir: string) => void): Promise<number> {
    return this.timeAdd(look, true);
  }

  private async timeAdd(look: (dir: string) => void, links: boolean): Promise<number> {
    const name = `added-${this.count++}`;
    const place = join(this.dir, name);
    const ms = await timed(() => addWorkspace(this.repo, place, { name, links }));
    look(place);
    await removeWorkspace(this.repo, name, { discard: name });
    return ms;
  }

  async follow(files: TreeFiles): Promise<number> {
    await this.workspace.sync();
    await landAll(this.repo, files, false);
    return timed(() => this.workspace.sync());
  }

  /** Times a look at all files, of which none is edited. */
  async status(): Promise<number> {
    return timed(async () => {
      const { changes } = await this.workspace.status();
      if (changes.length > 0) throw new Error(`mound: ${changes.length} changes where nothing was edited`);
    });
  }

  close(): Promise<void> {
    return this.repo.close();
  }
}

async function landAll(repo: Repo, files: TreeFiles, isNew: boolean): Promise<void> {
  const expect = isNew ? absent : any;
  const changes = [...files].map(([path, content]) => ({ kind: 'put' as const, path, content, expect }));
  const { kind } = await repo.land({ author, message: 'Files', changes });
  if (kind !== 'landed') throw new Error(`mound: the files came out as ${kind}`);
}

/** The same in git: a bare repository with its objects in one pack, and a worktree. */
export class GitPlaces implements Places {
  readonly standing: string;
  private readonly dir: string;
  private readonly host: CommandHost;
  private count = 0;

  private constructor(dir: string, host: CommandHost) {
    this.dir = dir;
    this.host = host;
    this.standing = join(dir, 'standing');
  }

  static async create(dir: string, files: TreeFiles, signal: AbortSignal): Promise<GitPlaces> {
    await mkdir(dir, { recursive: true });
    const places = new GitPlaces(dir, new CommandHost({ cwd: dir, env: gitEnvironment(), signal }));
    try {
      await places.host.run('git', ['init', '--quiet', '--bare', '--template=', join(dir, 'repo.git')], {});
      await places.import(files);
      await places.git(['worktree', 'add', '--quiet', '--detach', places.standing, 'refs/heads/main']);
      return places;
    } catch (error) {
      await places.close();
      throw error;
    }
  }

  private git(args: readonly string[], input?: Buffer): Promise<Buffer> {
    const call = input === undefined ? {} : { input };
    return this.host.run('git', ['-C', join(this.dir, 'repo.git'), ...args], call);
  }

  private async import(files: TreeFiles): Promise<void> {
    const from = this.count++ === 0 ? '' : 'from refs/heads/main^0\n';
    const pieces: Uint8Array[] = [
      Buffer.from(`commit refs/heads/main\ncommitter bench <bench@mound.invalid> 1 +0000\ndata 0\n${from}`),
    ];
    for (const [path, content] of files) {
      pieces.push(Buffer.from(`M 100644 inline ${path}\ndata ${content.length}\n`), content, Buffer.from('\n'));
    }
    await this.git(['fast-import', '--quiet', '--force'], Buffer.concat(pieces));
  }

  async add(look: (dir: string) => void): Promise<number> {
    const place = join(this.dir, `added-${this.count++}`);
    const ms = await timed(() => this.git(['worktree', 'add', '--quiet', '--detach', place, 'refs/heads/main']));
    look(place);
    await rm(place, { recursive: true, force: true });
    await this.git(['worktree', 'prune']);
    return ms;
  }

  async follow(files: TreeFiles): Promise<number> {
    const checkout = ['-C', this.standing, 'checkout', '--quiet', '--detach', 'refs/heads/main'];
    await this.host.run('git', checkout, {});
    await this.import(files);
    return timed(() => this.host.run('git', checkout, {}));
  }

  close(): Promise<void> {
    return this.host.close();
  }
}
