import { CommandHost } from '../harness/command-host.ts';
import { runInFlight } from '../harness/measurement.ts';
import { toolVersion } from '../harness/tool-version.ts';
import type { Acknowledged, CommitOperation, InitialFiles } from '../workloads/operation.ts';
import { faultsOfAcknowledged } from './acknowledged-faults.ts';
import { commitText, operationIdsIn } from './git/commit-text.ts';
import { changeWorkTree } from './git/work-tree.ts';
import { MercurialServer } from './mercurial-server.ts';
import type { Subject } from './subject.ts';

const findMercurial = (): Promise<string | undefined> => toolVersion('hg', ['--version', '-q'], /version ([\w.+]+)/);

/** Mercurial through its command server, in a checkout: no interpreter is started for a commit. It flushes nothing. */
export const mercurialSubject: Subject = {
  name: 'mercurial',
  durability: 'unflushed',
  pace: 'one-at-a-time',
  storeIn: '.hg',
  available: async () => ((await findMercurial()) === undefined ? { missing: 'hg' } : true),
  version: findMercurial,
  prepare: async (files, dir, signal) => {
    const version = await findMercurial();
    const checkout = await MercurialCheckout.begin(files, dir, signal);
    return {
      notes: [`mercurial: ${version ?? ''}, a checkout, one command server; it flushes nothing`],
      run: (operations, options) => runInFlight(operations, options, (operation) => checkout.commit(operation)),
      verify: (acknowledged) => checkout.faults(acknowledged),
      cleanup: () => checkout.close(),
    };
  },
};

class MercurialCheckout {
  readonly #dir: string;
  readonly #server: MercurialServer;
  readonly #known = new Set<string>();

  private constructor(dir: string, server: MercurialServer) {
    this.#dir = dir;
    this.#server = server;
  }

  static async begin(files: InitialFiles, dir: string, signal: AbortSignal): Promise<MercurialCheckout> {
    // Deaf to the user's configuration and extensions.
    const env = { ...process.env, HGPLAIN: '1', HGRCPATH: '', HGENCODING: 'utf-8', HGUSER: 'bench', HOME: dir, LC_ALL: 'C.UTF-8' }; // prettier-ignore
    const host = new CommandHost({ cwd: dir, env, signal });
    try {
      await host.run('hg', ['init', dir]);
    } finally {
      await host.close();
    }
    const checkout = new MercurialCheckout(dir, await MercurialServer.start(dir, env, signal));
    try {
      for (const [path, content] of files) {
        await changeWorkTree(dir, { path, content });
        checkout.#known.add(path);
      }
      if (files.size > 0) await checkout.#server.run(['commit', '--addremove', '--message', 'Initial files']);
      return checkout;
    } catch (error) {
      await checkout.close();
      throw error;
    }
  }

  async commit(operation: CommitOperation): Promise<void> {
    for (const change of operation.changes) await changeWorkTree(this.#dir, change);
    const deleted = operation.changes.filter(({ content }) => content === null);
    const added = operation.changes.filter(({ path, content }) => content !== null && !this.#known.has(path));
    for (const { path } of deleted) this.#known.delete(path);
    for (const { path } of added) this.#known.add(path);
    // What stands where a deleted file's directory was has to be looked at as a whole; nothing is guessed of renames.
    if (deleted.length > 0) await this.#server.run(['addremove', '--quiet', '--similarity', '0']);
    else if (added.length > 0) await this.#server.run(['add', '--quiet', ...added.map(({ path }) => `path:${path}`)]);
    await this.#server.run(['commit', '--user', operation.agent, '--message', commitText(operation)]);
  }

  /** Reads history and heads back through Mercurial itself. */
  async faults(acknowledged: Acknowledged): Promise<readonly string[]> {
    const log = await this.#server.run(['log', '--template', '{desc}\\n']);
    return faultsOfAcknowledged(acknowledged, operationIdsIn(log.toString('utf8')), (path) => this.#read(path));
  }

  async #read(path: string): Promise<Buffer | undefined> {
    const { code, output, errors } = await this.#server.ask(['cat', '--rev', 'tip', `path:${path}`]);
    if (code === 0) return output;
    if (errors.includes('no such file in rev')) return undefined;
    throw new Error(`hg cat: exit ${code}: ${errors.trim().slice(-400)}`);
  }

  close(): Promise<void> {
    return this.#server.close();
  }
}
