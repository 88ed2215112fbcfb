import { version, type Author, type Change, type Outcome, type RecordWrite, type Resolution } from '@mound/vcs';
import { rootTask, taskNameOf, type AgentId, type TaskId } from '../core/ids.ts';
import type { Task } from '../core/task.ts';
import type { ContradictionState } from '../state/contradiction.ts';
import {
  refused,
  type ConflictDetails,
  type HandoffReport,
  type NoteRequest,
  type ReconcilerOperations,
  type Refusal,
  type SettleRequest,
} from '../tools/operations.ts';
import { detailsOf } from './conflict-details.ts';
import { decisionChange, decisionsOf, withReferences } from './decisions.ts';
import { noteInGuide } from './field-guide.ts';
import { settlementRecords } from './restore-fights.ts';
import { RepoReads } from './repo-reads.ts';
import { changeOf, type RunContext } from './run-context.ts';
import { heldWords, TopicClaims, topicTriesMax } from './topics.ts';

interface Parts {
  readonly context: RunContext;
  readonly agent: AgentId;
  readonly contradiction: ContradictionState;
  readonly generation: number;
  /** Whose planner the tasks that follow report to. */
  readonly parent: TaskId;
  readonly base: number;
}

/** Files that follow a decision as tasks of their own; more of them share the last. */
const followersMax = 50;

/** A reconciler's effects on the real store: one intent that settles its contradiction. */
export class RepoReconciler extends RepoReads implements ReconcilerOperations {
  readonly #parts: Parts;
  readonly #author: Author;
  #asOf: number | undefined;
  #settled: { readonly decision: string; readonly tasks: readonly Task[] } | undefined;

  constructor(parts: Parts) {
    super(parts.context.repo, parts.base, parts.context.guide);
    this.#parts = parts;
    this.#author = parts.context.author(parts.context.role('reconciler'), parts.agent);
  }

  /** undefined while nothing is settled. */
  get settled(): { readonly decision: string; readonly tasks: readonly Task[] } | undefined {
    return this.#settled;
  }

  operationId(key: string): string {
    const { context, contradiction, generation } = this.#parts;
    return `${context.run}/${contradiction.id}/${generation}/${key}`;
  }

  readConflict(id: string): ConflictDetails | Refusal {
    const { context, contradiction } = this.#parts;
    if (id !== contradiction.conflict) return refused(`${id} is not your conflict; yours: ${contradiction.conflict}.`);
    const view = context.repo.conflict(id);
    this.#asOf = view.asOf;
    return detailsOf(context.repo, view);
  }

  note(request: NoteRequest, key: string): Promise<Outcome | Refusal> {
    const writer = { author: this.#author, base: this.base, operationId: this.operationId(key) };
    return noteInGuide(this.#parts.context, request, writer);
  }

  async settle(request: SettleRequest, key: string): ReturnType<ReconcilerOperations['settle']> {
    const { context, contradiction } = this.#parts;
    if (this.#settled !== undefined) return refused('not settled again: it is. Call finish.');
    const { id, supersedes = [] } = request.decision;
    const standing = decisionsOf(context).map((decision) => decision.id);
    const left = contradiction.decisions.find(
      (one) => one !== id && standing.includes(one) && !supersedes.includes(one),
    );
    if (left !== undefined) return refused(`not settled: ${left} would still stand beside it. Name it in supersedes.`);
    const strange = request.results.find((result) => !contradiction.paths.includes(result.path));
    if (strange !== undefined) {
      return refused(`not settled: ${strange.path} was not fought over. Yours: ${contradiction.paths.join(', ')}.`);
    }
    const { path } = decisionChange(context, this.#parts.parent, request.decision);
    if (contradiction.conflict !== undefined && !contradiction.paths.includes(path)) {
      return refused(`not settled: the decision has to be said in ${contradiction.paths.join(', ')}. Keep its id.`);
    }
    const changes = await this.#changes(request);
    if ('says' in changes) return changes;
    for (let tries = 1; ; tries++) {
      const claims = new TopicClaims(context);
      const replaces = [id, ...supersedes];
      const held = claims.settled(request.decision.topics, replaces);
      if (held !== undefined) {
        return refused(`not settled: ${heldWords(held)}. Name it in supersedes too, or narrow your topics.`);
      }
      const tasks = this.#followers(request, replaces);
      const fence = claims.write(rootTask, []);
      const over = settlementRecords(context.keys, contradiction.paths, id);
      const outcome = await this.#land(request, changes, [fence, ...over, ...context.book.creation(tasks)], key);
      if (outcome.kind === 'landed' || outcome.kind === 'merged') {
        this.#settled = { decision: id, tasks };
        return { kind: 'settled', seq: outcome.seq, tasks: tasks.map((task) => task.id) };
      }
      // Another claimed topics, or brought the rule on references.
      const isOvertaken =
        outcome.kind === 'rejected' && outcome.paths.some((one) => one === fence.key || one.startsWith('mound/rules/'));
      if (isOvertaken && tries < topicTriesMax) continue;
      const why = outcome.kind === 'rejected' ? `${outcome.message}. ${outcome.next}` : outcome.kind;
      return refused(`not settled: ${why}`);
    }
  }

  async #changes({ results }: SettleRequest): Promise<Change[] | Refusal> {
    const { context } = this.#parts;
    const changes: Change[] = [];
    for (const result of results) {
      const content = await context.bytes(result);
      if (content.kind === 'refused') return content;
      const head = context.repo.snapshot(this.base).head(result.path);
      const change = changeOf(result, content.bytes, head === undefined ? { kind: 'absent' } : version(head.version));
      if (change.kind === 'refused') return change;
      changes.push(change);
    }
    return changes;
  }

  /** The decision with its results in one intent, or as the resolution of the conflict that its document is in. */
  #land(
    { decision }: SettleRequest,
    results: readonly Change[],
    records: readonly RecordWrite[],
    key: string,
  ): Promise<Outcome> {
    const { context, contradiction, parent } = this.#parts;
    const document = decisionChange(context, parent, decision);
    const common = { author: this.#author, message: `Settle ${contradiction.id}: ${decision.id}`, records };
    const { conflict } = contradiction;
    if (conflict === undefined || context.repo.conflict(conflict).state !== 'open') {
      const asked = [document, ...results.filter(({ path }) => path !== document.path)];
      const { changes, records: more } = withReferences(context, asked);
      const task = taskNameOf(context.run, parent);
      const all = { ...common, records: [...records, ...more] };
      return context.repo.land({ ...all, task, operationId: this.operationId(key), changes });
    }
    const written = [document, ...results];
    const resolution: Resolution['results'] = context.repo.conflict(conflict).paths.map(({ path, current }) => {
      const own = written.find((change) => change.path === path);
      const content = own?.kind === 'put' ? (own.content ?? null) : (current.content ?? null);
      return { path, content };
    });
    const reason = `settled by ${decision.id}`;
    return context.repo.resolve(conflict, {
      ...common,
      results: resolution,
      otherwise: { fate: 'transformed', reason },
      operationId: this.operationId(key),
      ...(this.#asOf !== undefined && { asOf: this.#asOf }),
    });
  }

  /** What cites a decision that does not hold any more, or was fought over and not put right, and what the agent names. */
  #followers({ decision, results, tasks }: SettleRequest, replaces: readonly string[]): Task[] {
    const { context, contradiction, parent, generation } = this.#parts;
    const done = new Set(results.map(({ path }) => path));
    const citing = replaces
      .filter((id) => id !== decision.id)
      .flatMap((id) => context.repo.references({ decision: id }).map(({ path }) => path));
    const fought = contradiction.paths.filter((path) => !path.startsWith('design/'));
    const paths = [...new Set([...citing, ...fought])].filter((path) => !done.has(path)).toSorted();
    const groups = paths.slice(0, followersMax).map((path) => [path]);
    groups.at(-1)?.push(...paths.slice(followersMax));
    const brief = `The decision ${decision.id} holds from now on:\n${decision.text}\nMake the files of your scope follow it, and cite it where they cite what it supersedes.`;
    const asked = [...groups.map((scope) => ({ title: `Follow ${decision.id}`, scope, brief })), ...tasks];
    const base = context.repo.snapshot().seq;
    const stem = `follow-${contradiction.id}-${generation}`;
    return asked.map((one, at) => ({ ...one, id: `${stem}-${at + 1}` as TaskId, parent, role: 'worker', base }));
  }

  async finish(report: HandoffReport): Promise<Refusal | undefined> {
    if (report.status !== 'done' || this.#settled !== undefined) return undefined;
    return refused('not accepted: nothing is settled. Call settle, or finish as blocked.');
  }
}
