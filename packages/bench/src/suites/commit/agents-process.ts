import { hrtime } from 'node:process';

import { answerParent } from '../../harness/asked-process.ts';
import type { Measurement } from '../../harness/measurement.ts';
import { commitSubjects } from '../../subjects/index.ts';
import type { AttachedSubject } from '../../subjects/subject.ts';
import type { OperationStream } from '../../workloads/operation.ts';
import { W1, type AgentsPart, type W1Parameters } from '../../workloads/w1.ts';

/** What a process with a part of the agents is asked. */
export type AgentsRequest =
  | {
      readonly kind: 'attach';
      readonly subject: string;
      readonly dir: string;
      readonly workload: W1Parameters;
      readonly part: AgentsPart;
      /** Of all processes together. */
      readonly inFlight: number;
    }
  /** Makes up so many commits in advance. */
  | { readonly kind: 'offer'; readonly commits: number }
  | { readonly kind: 'run'; readonly budgetMs: number };

/** What came of `run`; times by the machine's monotonic clock, which all processes share. */
export interface AgentsRun extends Pick<Measurement, 'acknowledged' | 'latenciesMs' | 'perAgent'> {
  readonly startedNs: bigint;
  readonly endedNs: bigint;
}

class Agents {
  #attached: AttachedSubject | undefined;
  #stream: OperationStream | undefined;
  #inFlight = 0;
  #offered = 0;
  readonly #never = new AbortController().signal;

  async handle(request: AgentsRequest): Promise<AgentsRun | undefined> {
    if (request.kind === 'attach') return this.#attach(request);
    const [attached, stream] = [this.#attached, this.#stream];
    if (attached === undefined || stream === undefined) throw new Error('asked before it was attached');
    if (request.kind === 'offer') {
      this.#offered = Math.ceil(request.commits / this.#inFlight) * this.#inFlight;
      stream.peek(this.#offered);
      return undefined;
    }
    const operations = stream.peek(this.#offered);
    const options = { inFlight: this.#inFlight, budgetMs: request.budgetMs, signal: this.#never };
    const startedNs = hrtime.bigint();
    const { acknowledged, latenciesMs, perAgent } = await attached.run(operations, options);
    const endedNs = hrtime.bigint();
    stream.acknowledge(acknowledged);
    return { acknowledged, startedNs, endedNs, ...(latenciesMs && { latenciesMs }), ...(perAgent && { perAgent }) };
  }

  async #attach(request: Extract<AgentsRequest, { kind: 'attach' }>): Promise<undefined> {
    const { subject: name, dir, workload, part, inFlight } = request;
    const subject = commitSubjects.find((known) => known.name === name);
    if (subject?.attach === undefined) throw new Error(`${name} cannot be used by several processes`);
    this.#attached = await subject.attach(dir, this.#never);
    this.#stream = new W1(workload).stream(inFlight, part);
    this.#inFlight = agentsOf(part, inFlight);
    return undefined;
  }

  async end(): Promise<void> {
    await this.#attached?.cleanup();
  }
}

/** How many of the agents are a process's own. */
const agentsOf = ({ process, processes }: AgentsPart, inFlight: number): number =>
  Math.ceil((inFlight - process) / processes);

/** A process of `mound bench commit` with a part of the agents, on a repository that others use too. */
export async function main(): Promise<void> {
  const agents = new Agents();
  await answerParent(
    (request) => agents.handle(request as AgentsRequest),
    () => agents.end(),
  );
}
