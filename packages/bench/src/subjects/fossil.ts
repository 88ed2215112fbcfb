import { mkdir, utimes } from 'node:fs/promises';
import { dirname, join } from 'node:path';

import { CommandHost } from '../harness/command-host.ts';
import { runInFlight } from '../harness/measurement.ts';
import { toolVersion } from '../harness/tool-version.ts';
import type { Acknowledged, CommitOperation, InitialFiles } from '../workloads/operation.ts';
import { faultsOfAcknowledged } from './acknowledged-faults.ts';
import { commitText, operationIdsIn } from './git/commit-text.ts';
import { changeWorkTree } from './git/work-tree.ts';
import type { Subject } from './subject.ts';

const findFossil = (): Promise<string | undefined> => toolVersion('fossil', ['version'], /version (\d+\.\d+)/);

/** Fossil as people use it: edit in a checkout, `fossil add` what is new, `fossil commit`; SQLite flushes. */
export const fossilSubject: Subject = {
  name: 'fossil',
  durability: 'flushed',
  pace: 'one-at-a-time',
  storeIn: 'store',
  available: async () => ((await findFossil()) === undefined ? { missing: 'fossil' } : true),
  version: findFossil,
  prepare: async (files, dir, signal) => {
    const version = await findFossil();
    const checkout = new FossilCheckout(dir, signal);
    try {
      await checkout.begin(files);
    } catch (error) {
      await checkout.close();
      throw error;
    }
    return {
      notes: [`fossil: ${version ?? ''}, a checkout, two processes a commit where files are new`],
      run: (operations, options) => runInFlight(operations, options, (operation) => checkout.commit(operation)),
      verify: (acknowledged) => checkout.faults(acknowledged),
      cleanup: () => checkout.close(),
    };
  },
};

/** Seconds since 1970 at which the files' times begin: long past, so that none is of this run. */
const firstTime = 1_000_000_000;

class FossilCheckout {
  readonly #dir: string;
  readonly #host: CommandHost;
  readonly #store: string;
  readonly #known = new Set<string>();
  #time = firstTime;

  constructor(dir: string, signal: AbortSignal) {
    this.#dir = join(dir, 'checkout');
    this.#store = join(dir, 'store', 'bench.fossil');
    const env = { ...process.env, HOME: dir, FOSSIL_HOME: dir, FOSSIL_USER: 'bench', USER: 'bench', LC_ALL: 'C.UTF-8' };
    this.#host = new CommandHost({ cwd: dir, env, signal });
  }

  async begin(files: InitialFiles): Promise<void> {
    for (const place of [this.#dir, dirname(this.#store)]) await mkdir(place, { recursive: true });
    await this.#fossil('init', this.#store);
    await this.#fossil('open', this.#store, '--workdir', this.#dir, '--nested');
    // Bytes stay as they are, and nothing of the files is asked about.
    const settings = [
      ['allow-symlinks', 'on'],
      ['crlf-glob', '*'],
      ['encoding-glob', '*'],
      ['binary-glob', '*'],
    ];
    for (const [name = '', value = ''] of settings) await this.#fossil('settings', name, value, '--global');
    const changes = [...files].map(([path, content]) => ({ path, content }));
    if (changes.length === 0) return;
    await this.commit({ id: 'seed', agent: 'bench', message: 'Initial files', rationale: '', changes });
  }

  async commit(operation: CommitOperation): Promise<void> {
    const [added, deleted]: [string[], string[]] = [[], []];
    for (const change of operation.changes) {
      const { path, content, mode } = change;
      await changeWorkTree(this.#dir, change);
      if (content === null) {
        deleted.push(path);
        this.#known.delete(path);
        continue;
      }
      // Two edits of one size within one second look like one to it.
      if (mode !== 'symlink') await utimes(join(this.#dir, path), this.#time, ++this.#time);
      if (!this.#known.has(path)) added.push(path);
      this.#known.add(path);
    }
    if (deleted.length > 0) await this.#fossil('rm', '--soft', '--', ...deleted);
    for (const some of inPieces(added)) await this.#fossil('add', '--dotfiles', '--ignore', '', '--', ...some);
    const args = ['commit', '-M', '-', '--no-warnings', '--no-prompt', '--user-override', operation.agent];
    await this.#host.run('fossil', ['--chdir', this.#dir, ...args], { input: commitText(operation) });
  }

  /** Reads history and heads back through fossil itself. */
  async faults(acknowledged: Acknowledged): Promise<readonly string[]> {
    const history = "SELECT coalesce(ecomment, comment) FROM event WHERE type = 'ci'";
    const log = await this.#host.run('fossil', ['sql', '-R', this.#store, '--readonly', history]);
    return faultsOfAcknowledged(acknowledged, operationIdsIn(log.toString('utf8')), (path) => this.#read(path));
  }

  async #read(path: string): Promise<Buffer | undefined> {
    try {
      return await this.#host.run('fossil', ['cat', '-R', this.#store, '-r', 'trunk', '--', path]);
    } catch (error) {
      if (/does not exist in check-in|no such file/.test(String(error))) return undefined;
      throw error;
    }
  }

  async #fossil(...args: readonly string[]): Promise<void> {
    await this.#host.run('fossil', args[0] === 'init' || args[0] === 'open' ? args : ['--chdir', this.#dir, ...args]);
  }

  close(): Promise<void> {
    return this.#host.close();
  }
}

/** A command line has room for so many paths. */
const pathsMax = 500;

function* inPieces(paths: readonly string[]): Generator<readonly string[]> {
  for (let at = 0; at < paths.length; at += pathsMax) yield paths.slice(at, at + pathsMax);
}
