import { absent, openRepo, version, type BlobId, type Repo } from '@mound/vcs';

import { lineOf, pathOf } from './parameters.ts';

/** Which agents one process stands for, without a runtime. */
export interface BareWork {
  readonly repo: string;
  readonly from: number;
  readonly agents: number;
  readonly steps: number;
  /** FileVersion of every file at the start. */
  readonly version: number;
}

export interface BareMeasured {
  readonly cpuMs: number;
}

/**
 * What the tools of a step ask of the store, and nothing else: a read, the edit
 * staged and kept in a record, and a landing that carries two records. As many
 * at once as there are agents.
 */
export async function main(text: string): Promise<void> {
  const work = JSON.parse(text) as BareWork;
  const repo = await openRepo(work.repo);
  const from = process.cpuUsage();
  await Promise.all(Array.from({ length: work.agents }, (_, at) => agent(repo, work, work.from + at)));
  const { user, system } = process.cpuUsage(from);
  await repo.close();
  process.stdout.write(JSON.stringify({ cpuMs: (user + system) / 1000 } satisfies BareMeasured));
}

async function agent(repo: Repo, work: BareWork, number: number): Promise<void> {
  const path = pathOf(number);
  const author = { name: `worker-${number}`, kind: 'agent' as const, agent: `bare/worker-${number}`, role: 'worker' };
  const keys = { task: `bare/task/${number}`, draft: `bare/draft/${number}` };
  let seen = work.version;
  let task = 0;
  const operations: string[] = [];
  for (let step = 0; step < work.steps; step++) {
    const read = repo.snapshot(seen).read(path)?.toString('utf8') ?? '';
    const blob: BlobId = await repo.stage(read.replace(`${lineOf(step)}\n`, `${lineOf(step + 1)}\n`));
    const draft = await repo.land({
      author,
      message: `edit for ${number}`,
      operationId: `bare/${number}/${step}.1`,
      records: [
        {
          key: keys.draft,
          expect: absent,
          value: JSON.stringify({ format: 1, files: { [path]: { base: seen, blob } } }),
          objects: [blob],
        },
      ],
    });
    const operationId = `bare/${number}/${step}.2`;
    operations.push(operationId);
    const state = { format: 1, state: 'claimed', generation: 1, attempts: 0, agent: author.name, leaseUntil: 0 };
    const landed = await repo.land({
      author,
      message: `step ${step + 1}`,
      task: `bare/${number}`,
      operationId,
      changes: [{ kind: 'put', path, blob, expect: version(seen) }],
      records: [
        {
          key: keys.task,
          expect: task === 0 ? absent : version(task),
          value: JSON.stringify({ ...state, operations }),
        },
        { key: keys.draft, expect: version('seq' in draft ? draft.seq : 0), value: null },
      ],
    });
    if (landed.kind !== 'landed') throw new Error(`a step without a runtime came to ${landed.kind}`);
    seen = landed.seq;
    task = landed.seq;
  }
}
