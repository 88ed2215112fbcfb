import type { Author, ConflictPath, ConflictView, Outcome, Repo, Resolution } from '@mound/vcs';
import type { AgentId } from '../core/ids.ts';
import {
  refused,
  type ConflictDetails,
  type HandoffReport,
  type MergerOperations,
  type NoteRequest,
  type Refusal,
  type ResolveRequest,
} from '../tools/operations.ts';
import { noteInGuide } from './field-guide.ts';
import { detailsOf } from './conflict-details.ts';
import { textOf } from './repo-reads.ts';
import type { RunContext } from './run-context.ts';
import { survivalOf } from './survival.ts';

/** What stands against a resolution by an agent: it wrote a side. */
const partial = 'not resolved: you wrote a side of this conflict, and a merger is neutral. Finish as blocked.';

/** A merger's effects on the real store: its own conflicts, and of those the conflicted paths only. */
export class RepoMerger implements MergerOperations {
  readonly #context: RunContext;
  readonly #agent: AgentId;
  readonly #author: Author;
  readonly #conflicts: readonly string[];
  readonly #attempt: number;
  /** As of when the merger has last read each conflict: what its resolution is based on. */
  readonly #asOf = new Map<string, number>();
  /** Its own landings: the current side of what it has yet to resolve, and no work of its own. */
  readonly #landings = new Set<number>();

  constructor(context: RunContext, agent: AgentId, conflicts: readonly string[], attempt: number) {
    this.#context = context;
    this.#agent = agent;
    this.#author = context.author(context.role('merger'), agent);
    this.#conflicts = conflicts;
    this.#attempt = attempt;
  }

  /** Names what a call asks of the store. */
  operationId(conflict: string, key: string): string {
    return `${this.#context.run}/${conflict}/${this.#attempt}/${key}`;
  }

  /** Those that are still to be resolved. */
  get open(): string[] {
    return this.#conflicts.filter((id) => this.#context.repo.conflict(id).state !== 'resolved');
  }

  readConflict(id: string): ConflictDetails | Refusal {
    const foreign = this.#own(id);
    if (foreign !== undefined) return foreign;
    const view = this.#context.repo.conflict(id);
    this.#asOf.set(id, view.asOf);
    return detailsOf(this.#context.repo, view);
  }

  note(request: NoteRequest, key: string): Promise<Outcome | Refusal> {
    const base = this.#context.repo.snapshot().seq;
    const operationId = this.operationId('note', key);
    return noteInGuide(this.#context, request, { author: this.#author, base, operationId });
  }

  async resolve(request: ResolveRequest, key: string): Promise<Outcome | Refusal> {
    const foreign = this.#own(request.conflict);
    if (foreign !== undefined) return foreign;
    const { repo } = this.#context;
    const view = repo.conflict(request.conflict);
    if (authorsOfSides(repo, view, this.#landings).has(this.#context.agentName(this.#agent))) return refused(partial);
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
    return this.#land(request, view, results, key);
  }

  async #land(
    request: ResolveRequest,
    view: ConflictView,
    results: Resolution['results'],
    key: string,
  ): Promise<Outcome> {
    const startedMs = performance.now();
    const { accounts, otherwise, message, rationale, conflict } = request;
    const asOf = this.#asOf.get(conflict);
    const operationId = this.operationId(conflict, key);
    const outcome = await this.#context.repo.resolve(conflict, {
      author: this.#author,
      results,
      operationId,
      ...(asOf !== undefined && { asOf }),
      ...(accounts && { accounts }),
      ...(otherwise && { otherwise }),
      ...(message && { message }),
      ...(rationale && { rationale }),
    });
    if (outcome.kind === 'landed' || outcome.kind === 'merged') {
      this.#landings.add(outcome.seq);
      this.#countLines(view, results);
    }
    const paths = results.map(({ path }) => path);
    await this.#context.acknowledge(this.#agent, operationId, outcome, paths, startedMs, true);
    return outcome;
  }

  #countLines(view: ConflictView, results: Resolution['results']): void {
    const { merges } = this.#context.parts.tally;
    for (const { path, content } of results) {
      const sides = view.paths.find((one) => one.path === path);
      const [base, current, incoming] = sides === undefined ? [] : textsOf(sides);
      if (base === undefined || current === undefined || incoming === undefined) continue;
      const result = content === null ? '' : Buffer.from(content).toString('utf8');
      merges.survived('current', survivalOf(base, current, result));
      merges.survived('incoming', survivalOf(base, incoming, result));
    }
  }

  async finish(report: HandoffReport): Promise<Refusal | undefined> {
    const { open } = this;
    if (report.status === 'blocked' || report.status === 'partial' || open.length === 0) return undefined;
    return refused(
      `not accepted: the store says that ${open.join(', ')} is open. Read and resolve it, or finish as blocked.`,
    );
  }

  #own(id: string): Refusal | undefined {
    if (this.#conflicts.includes(id)) return undefined;
    return refused(`${id} is not your conflict; yours: ${this.#conflicts.join(', ')}.`);
  }
}

/** undefined where a side is no text; empty where it is absent. */
const textsOf = ({ base, current, incoming }: ConflictPath): (string | undefined)[] =>
  [base, current, incoming].map(({ content }) => (content === undefined ? '' : textOf(content)));

/**
 * Names of the agents that wrote a side of the conflict: none of them may judge
 * it. `except`: landings that do not count.
 */
export function authorsOfSides(repo: Repo, view: ConflictView, except: ReadonlySet<number> = new Set()): Set<string> {
  const names = new Set([view.author.agent ?? view.author.name]);
  for (const { current, currentBy } of view.paths) {
    for (const { seq, agent, author } of currentBy) if (!except.has(seq)) names.add(agent ?? author);
    if (current.version === 0 || except.has(current.version)) continue;
    const commit = repo.commit(current.version);
    for (const { agent, name } of [commit.author, ...commit.coAuthors]) names.add(agent ?? name);
  }
  return names;
}
