import type { Author, ConflictView, Outcome, Resolution } from '@mound/vcs';
import type { AgentId } from '../core/ids.ts';
import {
  refused,
  type ConflictDetails,
  type HandoffReport,
  type MergerOperations,
  type Refusal,
  type ResolveRequest,
} from '../tools/operations.ts';
import { detailsOf } from './conflict-details.ts';
import type { RunContext } from './run-context.ts';

/** A merger's effects on the real store: its one conflict, and of that the conflicted paths only. */
export class RepoMerger implements MergerOperations {
  readonly #context: RunContext;
  readonly #agent: AgentId;
  readonly #author: Author;
  readonly #conflict: string;
  readonly #attempt: number;
  /** As of when the merger has last read the conflict: what its resolution is based on. */
  #asOf: number | undefined;

  constructor(context: RunContext, agent: AgentId, conflict: string, attempt: number) {
    this.#context = context;
    this.#agent = agent;
    this.#author = context.author(context.role('merger'), agent);
    this.#conflict = conflict;
    this.#attempt = attempt;
  }

  /** Names what a call asks of the store. */
  operationId(key: string): string {
    return `${this.#context.run}/${this.#conflict}/${this.#attempt}/${key}`;
  }

  isResolved(): boolean {
    return this.#context.repo.conflict(this.#conflict).state === 'resolved';
  }

  readConflict(id: string): ConflictDetails | Refusal {
    const foreign = this.#own(id);
    if (foreign !== undefined) return foreign;
    const view = this.#context.repo.conflict(id);
    this.#asOf = view.asOf;
    return detailsOf(view);
  }

  async resolve(request: ResolveRequest, key: string): Promise<Outcome | Refusal> {
    const foreign = this.#own(request.conflict);
    if (foreign !== undefined) return foreign;
    const view = this.#context.repo.conflict(this.#conflict);
    const conflicted = view.paths.map(({ path }) => path as string);
    const strange = request.results.find(({ path }) => !conflicted.includes(path));
    if (strange !== undefined) {
      return refused(
        `not resolved: ${strange.path} is not in conflict. Only these are yours: ${conflicted.join(', ')}.`,
      );
    }
    const results: Resolution['results'][number][] = [];
    for (const { mode, ...result } of request.results) {
      const content = await this.#context.bytes(result);
      if (content.kind === 'refused') return content;
      const { bytes } = content;
      if (bytes === undefined) return refused(`not resolved: give ${result.path} content; null deletes it.`);
      results.push({ path: result.path, content: bytes, ...(mode && { mode }) });
    }
    return this.#land(request, results, key);
  }

  async #land(request: ResolveRequest, results: Resolution['results'], key: string): Promise<Outcome> {
    const startedMs = performance.now();
    const { repo } = this.#context;
    const operationId = this.operationId(key);
    const { accounts, otherwise, message, rationale } = request;
    const outcome = await repo.resolve(this.#conflict, {
      author: this.#author,
      results,
      operationId,
      ...(this.#asOf !== undefined && { asOf: this.#asOf }),
      ...(accounts && { accounts }),
      ...(otherwise && { otherwise }),
      ...(message && { message }),
      ...(rationale && { rationale }),
    });
    const paths = results.map(({ path }) => path);
    await this.#context.acknowledge(this.#agent, operationId, outcome, paths, startedMs, true);
    return outcome;
  }

  async finish(report: HandoffReport): Promise<Refusal | undefined> {
    if (report.status === 'blocked' || report.status === 'partial' || this.isResolved()) return undefined;
    return refused(`not accepted: the store says that ${this.#conflict} is open. Resolve it, or finish as blocked.`);
  }

  #own(id: string): Refusal | undefined {
    return id === this.#conflict ? undefined : refused(`${id} is not your conflict; yours is ${this.#conflict}.`);
  }
}

/** Names of the agents that wrote a side of the conflict: none of them may judge it. */
export function authorsOfSides(context: RunContext, view: ConflictView): Set<string> {
  const authors = [view.author];
  for (const { current } of view.paths) {
    if (current.version === 0) continue;
    const commit = context.repo.commit(current.version);
    authors.push(commit.author, ...commit.coAuthors);
  }
  return new Set(authors.map(({ agent, name }) => agent ?? name));
}
