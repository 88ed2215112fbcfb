import { execFile } from 'node:child_process';
import { createInterface, type Interface } from 'node:readline';
import { promisify } from 'node:util';

import { startCommand, type RunningCommand } from '../harness/child-process.ts';
import { runInFlight } from '../harness/measurement.ts';
import { toolVersion } from '../harness/tool-version.ts';
import type { CommitOperation } from '../workloads/operation.ts';
import { commitText, gitModeOf } from './git/commit-text.ts';
import { gitIsAvailable, type GitRepo } from './git/git-repo.ts';
import { gitFaults, seededGitRepo } from './git/seeded-repo.ts';
import type { PreparedSubject, Subject } from './subject.ts';

/** Where pygit2 may be found; the first that has it is used. */
const pythons = ['python3', '/usr/bin/python3'];

/**
 * Answers each commit, a line of JSON and the contents behind it, with a line.
 * The index is kept in memory; `create_commit` on a ref refuses where the ref is
 * no longer at the first parent, which is its compare-and-swap.
 */
const program = `
import json, sys, time
import pygit2
pygit2.option(pygit2.GIT_OPT_ENABLE_FSYNC_GITDIR, True)
repo = pygit2.Repository(sys.argv[1])
head = repo.references['refs/heads/main'].target
index = pygit2.Index()
index.read_tree(repo[head].tree)
committer = lambda: pygit2.Signature('bench', 'bench@mound.invalid', int(time.time()), 0)
print('libgit2 ' + pygit2.LIBGIT2_VERSION + ' through pygit2 ' + pygit2.__version__, flush=True)
stdin = sys.stdin.buffer
for line in stdin:
    request = json.loads(line)
    try:
        for change in request['changes']:
            path = change['path']
            if change['size'] is None:
                index.remove(path)
                continue
            blob = repo.create_blob(stdin.read(change['size']))
            index.add(pygit2.IndexEntry(path, blob, int(change['mode'], 8)))
        author = pygit2.Signature(request['agent'], request['agent'] + '@mound.invalid', int(time.time()), 0)
        head = repo.create_commit('refs/heads/main', author, committer(), request['message'], index.write_tree(repo), [head])
        print('ok', flush=True)
    except Exception as error:
        print(repr(error), flush=True)
`;

async function findPython(): Promise<string | undefined> {
  for (const python of pythons) {
    const found = await promisify(execFile)(python, ['-c', 'import pygit2']).then(
      () => true,
      () => false,
    );
    if (found) return python;
  }
  return undefined;
}

/** git as a library, in one process of its own: no process a command, the index in memory, objects and refs flushed. */
export const gitLibgit2Subject: Subject = {
  name: 'git-libgit2',
  durability: 'flushed',
  pace: 'one-at-a-time',
  available: async () => {
    const git = await gitIsAvailable();
    if (git !== true) return git;
    return (await findPython()) === undefined ? { missing: 'python3 with pygit2' } : true;
  },
  version: async () => {
    const python = await findPython();
    const asked = ['-c', 'import pygit2; print(pygit2.LIBGIT2_VERSION)'];
    return python === undefined ? undefined : toolVersion(python, asked, /(\S+)/);
  },
  prepare: async (files, dir, signal) => {
    const python = await findPython();
    if (python === undefined) throw new Error('git-libgit2: no python3 with pygit2');
    const repo = await seededGitRepo(files, dir, { bare: true, signal });
    try {
      const library = await Library.start(python, repo);
      return preparedLibrary(repo, library);
    } catch (error) {
      await repo.close();
      throw error;
    }
  },
};

function preparedLibrary(repo: GitRepo, library: Library): PreparedSubject {
  return {
    notes: [`git-libgit2: ${library.version}, every object and ref flushed`],
    run: (operations, options) => runInFlight(operations, options, (operation) => library.commit(operation)),
    verify: (acknowledged) => gitFaults(repo, acknowledged),
    cleanup: async () => {
      await library.end();
      await repo.close();
    },
  };
}

/** The running program, asked one thing at a time. */
class Library {
  readonly #running: RunningCommand;
  readonly #answers: AsyncIterator<string>;
  readonly version: string;

  private constructor(running: RunningCommand, answers: AsyncIterator<string>, version: string) {
    this.#running = running;
    this.#answers = answers;
    this.version = version;
  }

  static async start(python: string, repo: GitRepo): Promise<Library> {
    // For libgit2's object database; git itself asks for `core.fsync`.
    await repo.run(['config', 'core.fsyncObjectFiles', 'true']);
    const running = startCommand(python, ['-c', program, repo.dir], {
      cwd: repo.dir,
      env: { ...process.env, HOME: repo.dir, XDG_CONFIG_HOME: repo.dir },
      signal: repo.signal,
    });
    const lines: Interface = createInterface({ input: running.stdout });
    const answers = lines[Symbol.asyncIterator]();
    const version = await answers.next();
    if (version.done === true) await running.finish();
    return new Library(running, answers, String(version.value));
  }

  async commit(operation: CommitOperation): Promise<void> {
    const changes = operation.changes.map(({ path, content, mode }) => ({
      path,
      size: content?.length ?? null,
      mode: gitModeOf(mode),
    }));
    const request = { agent: operation.agent, message: commitText(operation), changes };
    await this.#running.write(
      Buffer.concat([
        Buffer.from(`${JSON.stringify(request)}\n`),
        ...operation.changes.flatMap(({ content }) => content ?? []),
      ]),
    );
    const answer = await this.#answers.next();
    if (answer.done === true) await this.#running.finish();
    if (answer.value !== 'ok') throw new Error(`git-libgit2: ${operation.id}: ${String(answer.value)}`);
  }

  async end(): Promise<void> {
    await this.#running.finish();
  }
}
