import type { CommitView } from '@mound/vcs';
import { changedLines } from '../core/changed-lines.ts';
import { taskOfName, type TaskId } from '../core/ids.ts';
import type { Finding, Lens } from '../core/lens.ts';
import type { CostSum } from '../cost/cost-ledger.ts';
import type { SwarmEvent } from '../events/event.ts';
import { lensesFor, riskOf, type LandingFacts } from '../review/risk.ts';
import type { ReviewCost, ReviewReport } from '../review/review-ledger.ts';
import type { RunContext } from './run-context.ts';
import type { Swarm } from './swarm.ts';
import type { VerdictRecord } from './verdicts.ts';

/** Tasks that mend what a review found are named so; what they land is not reviewed again. */
const fixStem = 'fix-';

/** What reviewers are to look at, and what became of what they found. */
export class ReviewDesk {
  readonly #context: RunContext;
  readonly #swarm: Swarm;
  /** By the model that wrote. */
  readonly #records = new Map<string, { reviewed: number; faulty: number }>();
  readonly #reviewed = new Set<TaskId>();
  readonly #fixes = new Map<TaskId, { readonly seq: number; readonly finding: Finding }>();
  readonly #reverted = new Set<number>();
  /** What the reviewed tasks of processes before this one cost. */
  readonly #earlierWork = new Map<TaskId, ReviewCost>();
  /** Of processes before this one, by landing and lens. */
  readonly #verdicts = new Set<string>();

  constructor(context: RunContext, swarm: Swarm) {
    this.#context = context;
    this.#swarm = swarm;
  }

  get #lenses(): readonly Lens[] {
    const { review } = this.#context.parts.policy;
    return review !== undefined && this.#context.isOn('lenses') ? review.lenses : [];
  }

  mustLens(name: string): Lens {
    const lens = this.#lenses.find((one) => one.name === name);
    if (lens === undefined) throw new Error(`there is no lens '${name}'`);
    return lens;
  }

  /** What an event means for reviews. */
  seen(event: SwarmEvent): void {
    if (event.kind === 'task.finished') this.#judge(event.report.task, event);
    if (event.kind !== 'intent.answered' || event.seq === undefined || this.#lenses.length === 0) return;
    // A landing whose changes were all true already made no commit.
    const [commit] = this.#context.repo.log({ from: event.seq, limit: 1 });
    if (commit?.seq === event.seq && event.outcome !== 'resolved') this.look(commit);
  }

  get isOn(): boolean {
    return this.#lenses.length > 0;
  }

  /** Has lenses look at a landing: those that have not. */
  look(commit: CommitView): void {
    const { seq } = commit;
    const task = taskOfName(this.#context.run, commit.task);
    if (task === undefined || task.startsWith(fixStem)) return;
    const facts = this.#factsOf(commit);
    const chosen = lensesFor(this.#context.run, this.#lenses, facts);
    if (chosen.length > 0) this.#reviewed.add(task);
    const risk = Math.round(riskOf(facts) * 100) / 100;
    const planner = this.#swarm.commonPlannerOf([this.#context.mustTask(task).parent]);
    for (const { name: lens } of chosen) {
      if (this.#verdicts.has(`${seq}-${lens}`)) continue;
      const review = `${seq}-${lens}`;
      this.#swarm.dispatch({ kind: 'review.wanted', review, lens, seq, task, planner, risk });
    }
  }

  #factsOf({ seq, changes, breakage, author }: CommitView): LandingFacts {
    const { repo } = this.#context;
    const { files, contests } = this.#swarm.state;
    const text = (at: number, path: string): string => (at === 0 ? '' : (repo.snapshot(at).readText(path) ?? ''));
    return {
      seq,
      paths: changes.map(({ path }) => path),
      lines: changes.reduce((sum, { path, previous }) => sum + changedLines(text(previous, path), text(seq, path)), 0),
      breaks: breakage !== undefined,
      hotPaths: changes.filter(({ path }) => files.has(path) || contests.has(path)).length,
      record: this.#records.get(author.model ?? '') ?? { reviewed: 0, faulty: 0 },
    };
  }

  /** A lens has given its verdict. `cost`: of the reviewer. */
  add(seq: number, lens: string, findings: readonly Finding[], cost: ReviewCost): void {
    this.#context.parts.tally.reviews.add({ seq, lens, findings, cost });
    const { model = '' } = this.#context.repo.commit(seq).author;
    const record = this.#records.get(model) ?? { reviewed: 0, faulty: 0 };
    const isFaulty = findings.some(({ severity }) => severity === 'blocking');
    this.#records.set(model, { reviewed: record.reviewed + 1, faulty: record.faulty + Number(isFaulty) });
  }

  /** A verdict of a process before this one. */
  restore({ seq, lens, findings, tasks, about = [] }: VerdictRecord, cost: ReviewCost): void {
    this.#verdicts.add(`${seq}-${lens}`);
    this.add(seq, lens, findings, cost);
    for (const [at, task] of tasks.entries()) {
      const finding = findings[about[at] ?? -1];
      if (finding !== undefined) this.follow(task, seq, finding);
    }
  }

  /** What a task cost that was reviewed in a process before this one. */
  restoreWork(task: TaskId, cost: ReviewCost): void {
    this.#earlierWork.set(task, cost);
  }

  /** What a task that looked into a finding came to. */
  judge(task: TaskId, verdict: 'confirmed' | 'refuted'): void {
    const fix = this.#fixes.get(task);
    if (fix !== undefined) this.#context.parts.tally.reviews.judge(fix.seq, fix.finding, verdict);
  }

  /** True once for a landing that is to be taken back. */
  reverts(seq: number): boolean {
    if (this.#reverted.has(seq)) return false;
    this.#reverted.add(seq);
    return true;
  }

  fixId(seq: number, lens: string, number: number): TaskId {
    return `${fixStem}${seq}-${lens}-${number}` as TaskId;
  }

  follow(task: TaskId, seq: number, finding: Finding): void {
    this.#fixes.set(task, { seq, finding });
  }

  /** Who was put to a finding has mended it, or found nothing to mend. */
  #judge(task: TaskId, { report }: Extract<SwarmEvent, { kind: 'task.finished' }>): void {
    const { status } = report.handoff;
    if (report.outcome !== 'none' && report.outcome !== 'unchanged') this.judge(task, 'confirmed');
    else if (status === 'nothing-to-do') this.judge(task, 'refuted');
  }

  /** `byTask`: what each task of the run cost. */
  report(byTask: Readonly<Record<string, CostSum>>): ReviewReport {
    const work = { nanoUsd: 0, tokens: 0 };
    for (const task of this.#reviewed) {
      const sum = byTask[task];
      if (sum === undefined) continue;
      work.nanoUsd += sum.nanoUsd;
      work.tokens += sum.usage.inputTokens + sum.usage.outputTokens;
    }
    for (const { nanoUsd, tokens } of this.#earlierWork.values()) {
      work.nanoUsd += nanoUsd;
      work.tokens += tokens;
    }
    return this.#context.parts.tally.reviews.report(work);
  }
}
