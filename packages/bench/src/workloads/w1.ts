import { seededRandom } from '@mound/vcs';

import type { WorkloadFields } from '../harness/result-file.ts';
import type { Acknowledged, CommitOperation, FileChange, InitialFiles, OperationStream } from './operation.ts';
import { Slab } from './slab.ts';
import { editLines, prose, sourceText, type SeededRandom } from './source-text.ts';

const fileBytes = 4096;
const editedLines = 3;
const messageBytes = 60;
const rationaleBytes = 120;

export interface W1Parameters {
  readonly files: number;
  readonly filesPerCommit: number;
  readonly seed: number;
}

/** Which of the agents a process has: those whose number leaves `process` when divided by `processes`. */
export interface AgentsPart {
  /** From 0. */
  readonly process: number;
  readonly processes: number;
}

const allAgents: AgentsPart = { process: 0, processes: 1 };

/**
 * Workload W1: edits of 3 consecutive lines in files of 4 KB, uniform over the
 * paths. Everything follows from the seed, so every subject makes the same commits.
 */
export class W1 {
  readonly parameters: W1Parameters;
  readonly files: InitialFiles;
  readonly #paths: readonly string[];

  constructor(parameters: W1Parameters) {
    this.parameters = parameters;
    const random = seededRandom(parameters.seed);
    this.#paths = Array.from({ length: parameters.files }, (_, index) => pathOf(index));
    const slab = new Slab();
    this.files = new Map(this.#paths.map((path) => [path, sourceText(random, fileBytes, slab)]));
  }

  fields(): WorkloadFields {
    const { files, filesPerCommit, seed } = this.parameters;
    return { workload: 'w1', files, filesPerCommit, fileBytes, editedLines, skew: 'uniform', seed };
  }

  /** The most agents that can work at once and still have paths of their own. */
  get inFlightMax(): number {
    return Math.floor(this.parameters.files / this.parameters.filesPerCommit);
  }

  /**
   * The sequence for so many agents, or for those of them that one of several
   * processes has; a new one starts from the initial files.
   */
  stream(inFlight: number, part: AgentsPart = allAgents): OperationStream {
    if (inFlight > this.inFlightMax) throw new RangeError(`at most ${this.inFlightMax} in flight with these files`);
    return new W1Stream(this, this.#paths, inFlight, part);
  }
}

const pathOf = (index: number): string =>
  `src/part${String(index % 100).padStart(2, '0')}/file${String(index).padStart(6, '0')}.ts`;

/**
 * Operation i belongs to agent i mod N, and agent k edits only the paths whose
 * number is k mod N: over all agents that is uniform, any N operations in a row
 * touch different paths, and an agent that waits for its own commit always has
 * the file's current content as its base.
 */
class W1Stream implements OperationStream {
  readonly #workload: W1;
  readonly #paths: readonly string[];
  readonly #inFlight: number;
  /** Numbers of the agents whose operations these are. */
  readonly #agents: readonly number[];
  readonly #random: SeededRandom;
  /** Newest content among the operations that wait. */
  readonly #newest = new Map<string, Buffer>();
  /** Copies, so that the slabs of past operations can go. */
  readonly #acknowledgedFiles = new Map<string, Buffer>();
  readonly #acknowledgedIds: string[] = [];
  #waiting: CommitOperation[] = [];
  #generated = 0;

  constructor(workload: W1, paths: readonly string[], inFlight: number, { process, processes }: AgentsPart) {
    this.#workload = workload;
    this.#paths = paths;
    this.#inFlight = inFlight;
    const numbers = Array.from({ length: inFlight }, (_, agent) => agent);
    this.#agents = numbers.filter((agent) => agent % processes === process);
    this.#random = seededRandom(workload.parameters.seed + 7919 * inFlight + 104_729 * process);
  }

  peek(count: number): readonly CommitOperation[] {
    const slab = new Slab();
    while (this.#waiting.length < count) this.#waiting.push(this.#next(slab));
    return this.#waiting.slice(0, count);
  }

  acknowledge(count: number): void {
    if (count > this.#waiting.length) throw new RangeError('more acknowledged than was given out');
    for (const { id, changes } of this.#waiting.slice(0, count)) {
      this.#acknowledgedIds.push(id);
      for (const { path, content } of changes) if (content !== null) this.#keep(path, content);
    }
    this.#waiting = this.#waiting.slice(count);
  }

  get acknowledged(): Acknowledged {
    return { operationIds: this.#acknowledgedIds, files: this.#acknowledgedFiles };
  }

  #keep(path: string, content: Buffer): void {
    if (this.#newest.get(path) === content) this.#newest.delete(path);
    const held = this.#acknowledgedFiles.get(path);
    if (held?.length === content.length) content.copy(held);
    else this.#acknowledgedFiles.set(path, Buffer.from(content));
  }

  #next(slab: Slab): CommitOperation {
    const { seed, filesPerCommit } = this.#workload.parameters;
    const turn = Math.floor(this.#generated / this.#agents.length);
    const agent = this.#agents[this.#generated++ % this.#agents.length] ?? 0;
    const index = turn * this.#inFlight + agent;
    const paths = new Set<string>();
    const owned = Math.ceil((this.#paths.length - agent) / this.#inFlight);
    while (paths.size < filesPerCommit) {
      paths.add(this.#paths[agent + this.#inFlight * this.#random.below(owned)] ?? '');
    }
    return {
      id: `w1-${seed}-${this.#inFlight}-${index}`,
      agent: `agent-${agent}`,
      message: prose(this.#random, messageBytes),
      rationale: prose(this.#random, rationaleBytes),
      changes: [...paths].map((path) => this.#edit(path, slab)),
    };
  }

  #edit(path: string, slab: Slab): FileChange {
    const base = this.#newest.get(path) ?? this.#acknowledgedFiles.get(path) ?? this.#workload.files.get(path);
    if (base === undefined) throw new RangeError(`no file ${path}`);
    const content = editLines(this.#random, base, editedLines, slab);
    this.#newest.set(path, content);
    return { path, content };
  }
}
