import type { Command } from 'commander';
import { realpathSync } from 'node:fs';
import { userInfo } from 'node:os';
import { relative, resolve, sep } from 'node:path';
import type { LineEndSettings } from '../attributes/index.ts';
import { isMoundError, MoundError } from '../core/errors.ts';
import { absent, any, version, type Author, type Precondition } from '../core/intent.ts';
import type { OpenOptions, Repo } from '../repo/api.ts';
import { colocationKey, getTextRecord } from '../git/git-records.ts';
import { openRepo } from '../repo/open.ts';
import { findRepoDir } from '../store/store-dir.ts';
import type { WorkspaceDirectory } from '../workspace/index.ts';
import { findWorkspaceDir, isWorkspaceDir, readMarker } from '../workspace/marker.ts';

export interface GlobalOptions {
  readonly repo?: string;
  readonly json?: boolean;
  readonly author?: string;
  readonly agent?: string;
  readonly role?: string;
  readonly model?: string;
}

/** What a command gets: its options, the repo it names, and how its answer is to look. */
export class Context {
  readonly options: GlobalOptions;

  constructor(command: Command) {
    this.options = command.optsWithGlobals();
  }

  get isJson(): boolean {
    return this.options.json === true;
  }

  /** The repository named by `--repo`, or the nearest at or above the working directory. */
  async withRepo<T>(use: (repo: Repo) => Promise<T>, options: OpenOptions = {}): Promise<T> {
    const dir = this.repoDir();
    return this.using(await opened(dir, options), use);
  }

  /** The same for a command that only reads: it runs where the repository cannot be written to, too. */
  async withReadRepo<T>(use: (repo: Repo) => Promise<T>): Promise<T> {
    const dir = this.repoDir();
    const readable = opened(dir).catch((error: unknown) => {
      if (isMoundError(error, 'permission-denied')) return opened(dir, { readOnly: true });
      throw error;
    });
    return this.using(await readable, use);
  }

  private async using<T>(repo: Repo, use: (repo: Repo) => Promise<T>): Promise<T> {
    try {
      return await use(repo);
    } finally {
      await repo.close();
    }
  }

  /** Inside a workspace its repository. */
  repoDir(): string {
    const { repo } = this.options;
    if (repo !== undefined) return isWorkspaceDir(repo) ? readMarker(repo).repo : repo;
    const workspaceDir = findWorkspaceDir(process.cwd());
    if (workspaceDir !== undefined) return readMarker(workspaceDir).repo;
    return findRepoDir(process.cwd()) ?? process.cwd();
  }

  get workspaceDir(): string | undefined {
    return findWorkspaceDir(process.cwd());
  }

  /** The workspace at or above the working directory. Errors: `not-a-workspace`. */
  async withWorkspace<T>(use: (directory: WorkspaceDirectory) => Promise<T>): Promise<T> {
    const { workspaceDir } = this;
    if (workspaceDir === undefined) {
      const message = `${process.cwd()} is in no workspace; 'mound workspace add DIR' makes one`;
      throw new MoundError('not-a-workspace', message, { dir: process.cwd() });
    }
    // Most commands have nothing to do with files on disk, and start sooner so.
    const { openWorkspace } = await import('../workspace/index.ts');
    return this.withRepo(async (repo) => {
      const excludes = await this.excludesFor(repo);
      return use(await openWorkspace(repo, workspaceDir, { excludes }));
    });
  }

  /** What the git checkout that the repository stands in ignores beside its `.gitignore`s. */
  async excludesFor(repo: Repo): Promise<readonly Uint8Array[]> {
    if (getTextRecord(repo, colocationKey) === undefined) return [];
    const { excludesOf } = await import('../git/index.ts');
    return excludesOf(repo);
  }

  /** What that checkout's settings say of line ends. */
  async lineEndsFor(repo: Repo): Promise<LineEndSettings | undefined> {
    if (getTextRecord(repo, colocationKey) === undefined) return undefined;
    const { lineEndSettingsOf } = await import('../git/index.ts');
    return lineEndSettingsOf(repo);
  }

  /** In the git checkout that the repository stands in, git is to pass over a directory of Mound's. */
  async hideFromCheckout(repo: Repo, dir: string): Promise<void> {
    const isBelow = !relative(realpathSync(repo.dir), dir).startsWith('..');
    if (!isBelow || getTextRecord(repo, colocationKey) === undefined) return;
    const { hideFromGit } = await import('../git/index.ts');
    // Where git's list cannot be written to, the directory is as good.
    await hideFromGit(realpathSync(repo.dir), dir).catch(() => undefined);
  }

  /** A path given on the command line, as a path in the workspace. Errors: `invalid-argument` outside of it. */
  pathIn({ dir }: WorkspaceDirectory, path: string): string {
    const found = relative(dir, resolve(realpathSync(process.cwd()), path))
      .split(sep)
      .join('/');
    if (found === '..' || found.startsWith('../')) {
      throw new MoundError('invalid-argument', `${path} is outside of the workspace in ${dir}`, { path });
    }
    return found === '' ? '.' : found;
  }

  author(): Author {
    const { agent, role, model } = this.options;
    const named = this.options.author ?? process.env['MOUND_AUTHOR'] ?? '';
    const name = named === '' ? (agent ?? userName()) : named;
    return {
      name,
      kind: agent === undefined ? 'human' : 'agent',
      ...(agent !== undefined && { agent }),
      ...(role !== undefined && { role }),
      ...(model !== undefined && { model }),
    };
  }
}

/** Which repository could not be opened is said with why, for whoever knows another way to it. */
async function opened(dir: string, options: OpenOptions = {}): Promise<Repo> {
  try {
    return await openRepo(dir, options);
  } catch (error) {
    if (!isMoundError(error)) throw error;
    throw new MoundError(error.code, error.message, { ...error.fields, repo: resolve(dir) }, error);
  }
}

/** A container's user may have no name. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid-${process.getuid?.() ?? 0}`;
  }
}

export function parseCount(text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new MoundError('invalid-argument', `'${text}' is not a whole number`, { found: text });
}

export function parseExpect(text: string): Precondition {
  if (text === 'absent') return absent;
  if (text === 'any') return any;
  if (/^\d{1,15}$/.test(text)) return version(Number(text));
  throw new MoundError('invalid-argument', `--expect '${text}' is none of a version number, absent, any`, {
    found: text,
  });
}

let stdinRead: Buffer | undefined;

export async function readStdin(): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin) chunks.push(chunk as Buffer);
  stdinRead = Buffer.concat(chunks);
  return stdinRead;
}

/** What the command has read; undefined: nothing. Every command reads before it opens the repository. */
export const stdinSoFar = (): Buffer | undefined => stdinRead;
