import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';

import { openRepo } from '@mound/vcs';

import { AskedProcess } from '../../harness/asked-process.ts';
import { diskBytesOf } from '../../harness/temp-dir.ts';
import { seedMound } from '../../subjects/mound.ts';
import { SwarmLoad } from '../../workloads/swarm-load.ts';
import type { ProcessRun, SwarmRequest } from './agents-process.ts';
import type { SwarmLoadRun } from './parameters.ts';
import { readBack, type ReadBack } from './read-back.ts';

/** What one arm came to. */
export interface ArmRun {
  readonly processes: readonly ProcessRun[];
  /** Growth on disk. */
  readonly bytes: number;
  readonly found: ReadBack;
}

/** A store of its own, the load on it from several processes, and what is there afterwards. */
export async function runArm(
  name: string,
  run: SwarmLoadRun,
  overwrites: boolean,
  parent: string,
  signal: AbortSignal,
): Promise<ArmRun> {
  const dir = join(parent, name);
  await mkdir(dir);
  const { agents, rate, seconds, thinkMs, processes: count } = run;
  const load = new SwarmLoad(run);
  const repo = await openRepo(dir, { create: true });
  await seedMound(repo, load.initialFiles());
  await repo.close();
  const bytesBefore = await diskBytesOf(dir);
  const children = Array.from({ length: count }, () => new AskedProcess<SwarmRequest>('swarm-load-agents', signal));
  const common = { durationMs: seconds * 1000, periodMs: (agents / rate) * 1000, thinkMs, overwrites };
  try {
    await Promise.all(children.map((child) => child.ask({ kind: 'attach', dir, load: load.parameters })));
    const processes = await Promise.all(
      children.map((child, at) =>
        child.ask<ProcessRun>({ kind: 'run', options: { ...common, agents: agentsOf(at, count, agents) } }),
      ),
    );
    const bytes = (await diskBytesOf(dir)) - bytesBefore;
    const answers = processes.flatMap((one) => one.answers);
    const replaced = processes.map((one) => one.replaced);
    return { processes, bytes, found: await readBack(dir, load, answers, replaced) };
  } finally {
    await Promise.all(children.map((child) => child.close()));
  }
}

/** Neighbours in number, who make the same edit now and then, work in different processes. */
const agentsOf = (process: number, processes: number, agents: number): number[] =>
  Array.from({ length: agents }, (_, agent) => agent).filter((agent) => agent % processes === process);
