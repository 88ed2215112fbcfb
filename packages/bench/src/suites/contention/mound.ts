import { absent, any, openRepo, version, type Author, type Change, type Repo, type Snapshot } from '@mound/vcs';

import type { ContendedSubject, ContendedTrunk, EditAnswer } from '../../workloads/contended-trunk.ts';
import type { HotEdit } from '../../workloads/hot-edits.ts';
import type { InitialFiles } from '../../workloads/operation.ts';

const seeder: Author = { name: 'bench', kind: 'system' };

export interface ContendedMoundOptions {
  readonly name: string;
  readonly onConflict: string;
  /** Writes whole files over whatever is there: the negative control, whose losses must be seen. */
  readonly overwrites?: boolean;
}

/** Mound embedded: an agent reads the head, edits, lands; stale intents are merged by the store. */
export function contendedMound(options: ContendedMoundOptions): ContendedSubject {
  return {
    name: options.name,
    onConflict: options.onConflict,
    available: () => Promise.resolve(true),
    prepare: async (files, agents, dir) => {
      const repo = await openRepo(dir, { create: true });
      try {
        await seed(repo, files);
        return new MoundTrunk(repo, dir, agents, options.overwrites ?? false);
      } catch (error) {
        await repo.close();
        throw error;
      }
    },
  };
}

export const moundContender = contendedMound({
  name: 'mound',
  onConflict: 'the whole edit is kept in the store as a conflict, named in the answer, for anyone to resolve',
});

export const overwritingContender = contendedMound({
  name: 'mound-overwriting',
  onConflict: 'nothing: each agent forces its whole file over the others (the negative control)',
  overwrites: true,
});

async function seed(repo: Repo, files: InitialFiles): Promise<void> {
  const changes = [...files].map(([path, content]): Change => ({ kind: 'put', path, content, expect: absent }));
  const outcome = await repo.land({ author: seeder, message: 'Initial files', changes });
  if (outcome.kind !== 'landed') throw new Error(`mound: the initial files came out as ${outcome.kind}`);
}

class MoundTrunk implements ContendedTrunk {
  readonly notes: readonly string[] = [];
  /** There is neither a lock that a caller could meet nor a swap that is given back to it. */
  readonly troubles = { lockFailures: 0, racesLost: 0 };
  #repo: Repo;
  readonly #dir: string;
  readonly #overwrites: boolean;
  /** By agent. */
  readonly #seen: Snapshot[];

  constructor(repo: Repo, dir: string, agents: number, overwrites: boolean) {
    this.#repo = repo;
    this.#dir = dir;
    this.#overwrites = overwrites;
    this.#seen = Array.from({ length: agents }, () => repo.snapshot());
  }

  async bring(edit: HotEdit, rewrite: (seen: Buffer) => Buffer): Promise<EditAnswer> {
    const seen = this.#seen[edit.agent];
    const [head, content] = [seen?.head(edit.path), seen?.read(edit.path)];
    if (head === undefined || content === undefined) throw new Error(`mound: there is no ${edit.path}`);
    const expect = this.#overwrites ? any : version(head.version);
    const agent = `agent-${edit.agent}`;
    const outcome = await this.#repo.land({
      author: { name: agent, kind: 'agent', agent },
      message: `Edit ${edit.path} (${edit.id})`,
      operationId: edit.id,
      changes: [{ kind: 'put', path: edit.path, content: rewrite(content), expect }],
    });
    this.#seen[edit.agent] = this.#repo.snapshot();
    if (outcome.kind === 'landed') return { kind: 'landed' };
    if (outcome.kind === 'merged') return { kind: 'landed', isMerged: true };
    if (outcome.kind === 'conflicted') return { kind: 'kept' };
    return { kind: 'stranded', because: 'refused', isRecorded: false };
  }

  async readTrunk(paths: readonly string[]): Promise<ReadonlyMap<string, Buffer>> {
    // Opened anew, so that it is read from disk and not from what this process remembers.
    await this.#repo.close();
    this.#repo = await openRepo(this.#dir);
    const snapshot = this.#repo.snapshot();
    return new Map(
      paths.flatMap((path) => {
        const content = snapshot.read(path);
        return content === undefined ? [] : [[path, content] as const];
      }),
    );
  }

  readAside(edits: readonly HotEdit[]): Promise<ReadonlyMap<string, Buffer>> {
    const wanted = new Map(edits.map(({ id, path }) => [id, path]));
    const found = new Map<string, Buffer>();
    for (const { operationId = '', paths } of this.#repo.conflicts()) {
      const kept = paths.find(({ path }) => path === wanted.get(operationId))?.incoming.content;
      if (kept !== undefined) found.set(operationId, kept);
    }
    return Promise.resolve(found);
  }

  close(): Promise<void> {
    return this.#repo.close();
  }
}
