import { openRepo, type Repo } from '@mound/vcs';

import { answerParent } from '../../harness/asked-process.ts';
import { SwarmLoad, type SwarmLoadParameters } from '../../workloads/swarm-load.ts';
import { Agents, type AgentsOptions, type AgentsRun } from './agents.ts';

export type SwarmRequest =
  | { readonly kind: 'attach'; readonly dir: string; readonly load: SwarmLoadParameters }
  | { readonly kind: 'run'; readonly options: Omit<AgentsOptions, 'signal'> };

export interface ProcessRun extends AgentsRun {
  /** Most memory that the process had resident. */
  readonly residentMiB: number;
  /** Processor time of the run. */
  readonly cpuSeconds: number;
}

class SwarmProcess {
  #repo: Repo | undefined;
  #load: SwarmLoad | undefined;

  async handle(request: SwarmRequest): Promise<ProcessRun | undefined> {
    if (request.kind === 'attach') {
      this.#repo = await openRepo(request.dir);
      this.#load = new SwarmLoad(request.load);
      return undefined;
    }
    if (this.#repo === undefined || this.#load === undefined) throw new Error('asked before it was attached');
    const before = process.cpuUsage();
    const run = await new Agents(this.#repo, this.#load, {
      ...request.options,
      signal: new AbortController().signal,
    }).run();
    const { user, system } = process.cpuUsage(before);
    return { ...run, residentMiB: process.resourceUsage().maxRSS / 1024, cpuSeconds: (user + system) / 1e6 };
  }

  async end(): Promise<void> {
    await this.#repo?.close();
  }
}

/** A process of `mound bench swarm-load` with a part of the agents. */
export async function main(): Promise<void> {
  const swarm = new SwarmProcess();
  await answerParent(
    (request) => swarm.handle(request as SwarmRequest),
    () => swarm.end(),
  );
}
