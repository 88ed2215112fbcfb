import { readFile, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { isMoundError, MoundError } from '../core/errors.ts';
import { linesOf, runGit, spawnGit, writeAll } from './git-command.ts';

/** What a repository that is to be imported lacks of its own history. */
export interface ImportSource {
  /** Commits of which a shallow clone does not have the parents. */
  readonly edge: ReadonlySet<string>;
  /** Whether it leaves objects with the repository that it was cloned from. */
  readonly isPartial: boolean;
}

/** How many repositories may borrow from one another in a row; as in git. */
const borrowDepthMax = 5;

/**
 * Looks at a git directory before anything is read from it. Errors:
 * `git-unreadable` where it borrows objects from a place that is not there.
 */
export async function describeSource(gitDir: string): Promise<ImportSource> {
  const paths = ['shallow', 'objects'].flatMap((path) => ['--git-path', path]);
  const { stdout } = await runGit(['rev-parse', ...paths], { gitDir });
  const [shallow = '', objects = ''] = stdout.toString('utf8').split('\n');
  await refuseLostLenders(gitDir, resolve(objects), borrowDepthMax);
  const settings = ['config', '--get-regexp', String.raw`^(extensions\.partialclone|remote\..*\.promisor)$`];
  const { code } = await runGit(settings, { gitDir, okCodes: [0, 1] });
  return { edge: new Set(await linesIn(resolve(shallow))), isPartial: code === 0 };
}

async function linesIn(file: string): Promise<string[]> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '';
    throw error;
  });
  return text.split('\n').filter(Boolean);
}

async function refuseLostLenders(gitDir: string, objects: string, depth: number): Promise<void> {
  if (depth === 0) return;
  for (const line of await linesIn(resolve(objects, 'info/alternates'))) {
    // A quoted name is for git to read; nobody writes one by hand.
    if (line.startsWith('#') || line.startsWith('"')) continue;
    const lender = resolve(objects, line);
    const found = await stat(lender).catch(() => undefined);
    if (found?.isDirectory() !== true) {
      const message = `'${gitDir}' borrows objects from '${lender}', which is not there; bring that back, or correct objects/info/alternates`;
      throw new MoundError('git-unreadable', message, { path: gitDir, lender });
    }
    await refuseLostLenders(gitDir, lender, depth - 1);
  }
}

/** Errors: `git-unreadable` where one of the commits has parents that a shallow clone left behind. */
export function refuseEdge(gitDir: string, { edge }: ImportSource, commits: readonly { readonly id: string }[]): void {
  const found = edge.size === 0 ? undefined : commits.find(({ id }) => edge.has(id));
  if (!found) return;
  const message = `'${gitDir}' is a shallow clone, and the parents of commit ${found.id} are not there; 'git fetch --unshallow' brings them`;
  throw new MoundError('git-unreadable', message, { path: gitDir, commit: found.id });
}

/** Errors: `git-unreadable` where a partial clone lacks an object behind `tips` and not behind `known`. */
export async function refuseHoles(
  gitDir: string,
  { isPartial }: ImportSource,
  tips: readonly string[],
  known: readonly string[],
): Promise<void> {
  if (!isPartial || tips.length === 0) return;
  const git = spawnGit(['rev-list', '--objects', '--missing=print', '--ignore-missing', '--stdin'], { gitDir });
  const written = writeAll(git.stdin, [[...tips, ...known.map((id) => `^${id}`)].map((line) => `${line}\n`).join('')]);
  let first: string | undefined;
  let count = 0;
  for await (const line of linesOf(git)) {
    if (!line.startsWith('?')) continue;
    first ??= line.slice(1);
    count++;
  }
  await written;
  if (first === undefined) return;
  const message = `'${gitDir}' is a partial clone without ${count} of its objects (${first}${count > 1 ? ', …' : ''}); import a full clone, or 'git fetch --refetch --no-filter' there`;
  throw new MoundError('git-unreadable', message, { path: gitDir, id: first, count });
}

/** What cannot be read of a repository is the repository's fault, whichever command of git meets it. */
export async function blamingSource<T>(gitDir: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!isMoundError(error, 'no-such-object')) throw error;
    const message = `'${gitDir}' is damaged: ${error.message}; 'git fsck' there tells more; mend it, then import again`;
    throw new MoundError('git-unreadable', message, { path: gitDir, ...error.fields }, error);
  }
}
