import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { absent, unifiedDiff, type Author, type CommitView, type DiffSide, type Outcome } from '@mound/vcs';
import type { AgentEnd } from '../agent/agent.ts';
import { renderBrief } from '../core/brief.ts';
import { rootTask, taskNameOf, type AgentId, type TaskId } from '../core/ids.ts';
import { isSameFinding, type Finding, type Lens, type Verdict } from '../core/lens.ts';
import type { Role } from '../core/role.ts';
import type { Task } from '../core/task.ts';
import type { ReviewState } from '../state/state.ts';
import { refused, type NoteRequest, type Refusal, type ReviewerOperations } from '../tools/operations.ts';
import { reviewerTools } from '../tools/reviewer-tools.ts';
import { lifeOf, runOne } from './agent-run.ts';
import { noteInGuide } from './field-guide.ts';
import { RepoReads } from './repo-reads.ts';
import type { RunContext } from './run-context.ts';
import type { Swarm } from './swarm.ts';
import { isRejected } from './task-book.ts';
import { readTranscript } from './transcript.ts';
import type { VerdictRecord } from './verdicts.ts';

const diffCharsMax = 60_000;
const transcriptCharsMax = 60_000;

const sideAt = (context: RunContext, path: string, at: number): DiffSide | null => {
  const head = at === 0 ? undefined : context.repo.snapshot(at).head(path);
  const content = head && context.repo.snapshot(at).read(path);
  return head === undefined || content === undefined ? null : { content, mode: head.mode };
};

function diffOf(context: RunContext, { seq, changes }: CommitView): string {
  const parts = changes.map(({ path, previous }) =>
    unifiedDiff(path, sideAt(context, path, previous), sideAt(context, path, seq)).toString('utf8'),
  );
  const text = parts.join('');
  return text.length > diffCharsMax ? `${text.slice(0, diffCharsMax)}\n(cut: ${text.length} characters in all)` : text;
}

/** What the agents of a task said and were told, newest last. */
function transcriptOf(context: RunContext, task: TaskId): string {
  const { transcripts } = context.parts.policy;
  if (transcripts === undefined || !existsSync(transcripts)) return '(no transcript is kept)';
  const names = readdirSync(transcripts).filter((name) => name.startsWith(`task-${task}.`));
  const lines = names.toSorted().flatMap((name) => readTranscript(join(transcripts, name)).lines);
  const said = lines.flatMap((line) => (line.kind === 'message' ? [JSON.stringify(line.message)] : [])).join('\n');
  return said.length > transcriptCharsMax ? `(cut)\n${said.slice(-transcriptCharsMax)}` : said;
}

/** A reviewer's one effect: its verdict, with what follows from it, in one intent. */
class RepoReviewer extends RepoReads implements ReviewerOperations {
  readonly #context: RunContext;
  readonly #swarm: Swarm;
  readonly #author: Author;
  readonly #review: ReviewState;
  readonly #lens: Lens;
  given: { readonly verdict: Verdict; readonly tasks: readonly Task[]; readonly reverted: boolean } | undefined;

  constructor(context: RunContext, swarm: Swarm, author: Author, review: ReviewState, base: number) {
    super(context.repo, base, context.guide);
    this.#context = context;
    this.#swarm = swarm;
    this.#author = author;
    this.#review = review;
    this.#lens = swarm.reviews.mustLens(review.lens);
  }

  note(request: NoteRequest, key: string): Promise<Outcome | Refusal> {
    const { seq, lens } = this.#review;
    const operationId = `${this.#context.run}/note/review/${seq}/${lens}/${this.#swarm.runGeneration}/${key}`;
    return noteInGuide(this.#context, request, { author: this.#author, base: this.base, operationId });
  }

  async verdict(verdict: Verdict, key: string): Promise<Refusal | undefined> {
    const { seq, lens } = this.#review;
    const { repo, keys, run, parts } = this.#context;
    const changed = repo.commit(seq).changes.map(({ path }) => path as string);
    const strange = verdict.findings.find(
      ({ path }) => !changed.includes(path) && repo.snapshot().head(path) === undefined,
    );
    if (strange !== undefined)
      return refused(`no verdict: ${strange.path} is no file. Name one of ${changed.join(', ')}.`);
    // What another lens has found on the same landing is being mended already.
    const known = parts.tally.reviews.findingsOn(seq).filter(({ severity }) => severity === 'blocking');
    const fresh = verdict.findings.filter(
      (finding) => finding.severity === 'blocking' && !known.some((other) => isSameFinding(other, finding)),
    );
    const isTask = parts.policy.review?.onBlocking === 'task';
    const tasks = isTask ? fresh.map((finding, at) => this.#taskFor(finding, at + 1)) : [];
    const record: VerdictRecord = {
      format: 1,
      seq,
      lens,
      findings: verdict.findings,
      tasks: tasks.map(({ id }) => id),
      about: isTask ? fresh.map((finding) => verdict.findings.indexOf(finding)) : [],
    };
    const value = JSON.stringify(record);
    const outcome = await repo.land({
      author: this.#author,
      message: `review of ${seq} by ${lens}`,
      task: taskNameOf(run, this.#review.task),
      operationId: `${run}/review/${seq}/${lens}/${this.#swarm.runGeneration}/${key}`,
      records: [{ key: keys.review(seq, lens), expect: absent, value }, ...this.#context.book.creation(tasks)],
    });
    if (isRejected(outcome)) return refused(`no verdict (${outcome.code}): ${outcome.message}. ${outcome.next}`);
    const reverted =
      !isTask && fresh.length > 0 && (await revertFor(this.#context, this.#swarm, this.#author, this.#review, fresh));
    for (const [at, task] of tasks.entries()) {
      const finding = fresh[at];
      if (finding !== undefined) this.#swarm.reviews.follow(task.id, seq, finding);
    }
    this.given = { verdict, tasks, reverted };
    return undefined;
  }

  #taskFor(finding: Finding, number: number): Task {
    const { seq, planner } = this.#review;
    const { path, claim, evidence, from } = finding;
    const at = from === undefined ? path : `${path}:${from}`;
    return {
      id: this.#swarm.reviews.fixId(seq, this.#lens.name, number),
      parent: planner,
      role: 'worker',
      title: `Look into a finding in ${at}`,
      scope: [path],
      brief: `A review of landing ${seq} says, as data: ${JSON.stringify({ at, claim, evidence })}\nWhere it is true, mend it. Where it is not, change nothing, finish with status nothing-to-do, and say in findings why.`,
      base: this.#context.repo.snapshot().seq,
    };
  }
}

/** Takes a landing back, once, whoever finds first; what landed on it since is merged with, or is a conflict. */
export async function revertFor(
  context: RunContext,
  swarm: Swarm,
  author: Author,
  { seq, planner, lens }: Pick<ReviewState, 'seq' | 'planner' | 'lens'>,
  findings: readonly Finding[],
): Promise<boolean> {
  if (!swarm.reviews.reverts(seq)) return false;
  const operationId = `${context.run}/review/${seq}/revert`;
  // By a process before this one.
  if (context.repo.outcome(operationId) !== undefined) return false;
  const why = findings.map(({ path, claim, evidence }) => `${path}: ${claim} (${evidence})`).join('\n');
  const outcome = await context.repo.revert(seq, {
    author,
    message: `Take back landing ${seq}, as ${lens} found it wrong`,
    rationale: why,
    operationId,
  });
  const says = `Landing ${seq} was taken back (${outcome.kind}), for a review found: ${why}`;
  if (swarm.isLive(planner)) swarm.tell(planner, says, () => undefined);
  return outcome.kind === 'landed' || outcome.kind === 'merged';
}

/** The reviewer's role as the lens has it: its model, its persona, and no more tools than it may see by. */
const roleFor = (role: Role, { model, persona, sees }: Lens): Role => ({
  ...role,
  model,
  prompt: persona === '' ? role.prompt : `${role.prompt}\n\nYour lens\n\n${persona}`,
  tools: sees === 'codebase' ? role.tools : role.tools.filter((tool) => tool === 'verdict' || tool === 'note'),
});

/** Looks at one landing through one lens. */
export async function runReviewer(
  context: RunContext,
  swarm: Swarm,
  agent: AgentId,
  id: string,
  signal: AbortSignal,
): Promise<AgentEnd> {
  const review = swarm.state.reviews.get(id);
  if (review === undefined) throw new Error(`review ${id} is not known`);
  const lens = swarm.reviews.mustLens(review.lens);
  const commit = context.repo.commit(review.seq);
  const { title, brief, scope } = context.mustTask(review.task);
  const base = context.repo.snapshot().seq;
  const role = roleFor(context.role('reviewer'), lens);
  const { message, rationale, breakage } = commit;
  const text = renderBrief({
    role: 'reviewer',
    run: context.run,
    agent,
    base,
    lens: lens.name,
    sees: lens.sees,
    seq: review.seq,
    task: { id: review.task, title, brief, scope },
    change: {
      message,
      ...(rationale !== undefined && { rationale }),
      ...(breakage !== undefined && { breakage }),
      diff: diffOf(context, commit),
    },
    ...(lens.sees === 'transcript' && { transcript: transcriptOf(context, review.task) }),
  });
  const operations = new RepoReviewer(context, swarm, context.author(role, agent), review, base);
  const generation = swarm.runGeneration * 1000 + 1;
  const options = { agent, role, task: rootTask, generation, base, goesOn: false, conflict: `review-${id}` };
  const life = lifeOf(context, swarm, options, () => undefined);
  const tools = reviewerTools(operations);
  const progress = (): number => Number(operations.given !== undefined);
  const end = await runOne(context, swarm, { agent, life, role, brief: text, history: [], tools, progress, signal });
  await life.close(end, undefined, false);
  const { given } = operations;
  const { usage, nanoUsd } = life.cost;
  const findings = given?.verdict.findings ?? [];
  if (given !== undefined) {
    swarm.reviews.add(review.seq, lens.name, findings, { nanoUsd, tokens: usage.inputTokens + usage.outputTokens });
  }
  for (const task of given?.tasks ?? []) swarm.addTask(task);
  swarm.dispatch({
    kind: 'review.ended',
    review: id,
    findings: findings.length,
    blocking: findings.filter(({ severity }) => severity === 'blocking').length,
    tasks: (given?.tasks ?? []).map((task) => task.id),
    ...(given?.reverted === true && { reverted: true }),
    ...(given === undefined && { failed: end.detail ?? end.reason }),
  });
  return end;
}
