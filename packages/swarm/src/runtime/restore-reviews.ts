import { rootTask, taskOfName } from '../core/ids.ts';
import type { RunContext } from './run-context.ts';
import { system } from './run-header.ts';
import { revertFor } from './run-reviewer.ts';
import type { Swarm } from './swarm.ts';
import { decodeTask } from './task-book.ts';
import { costOf, verdictsIn, type KeptVerdict } from './verdicts.ts';

/** Landings of these bring conflicts together, or are reviews' own: nobody looks at them. */
const unreviewed: readonly string[] = ['merger', 'reconciler', 'decomposer', 'reviewer'];

/**
 * Reviews where an earlier process left them: what there is a verdict on is counted and not looked at again, what has
 * none is looked at. `since`: when the run began, in milliseconds since 1970.
 */
export function restoreReviews(context: RunContext, swarm: Swarm, since: number): void {
  const { reviews } = swarm;
  if (!reviews.isOn) return;
  const { repo, keys, run } = context;
  for (const verdict of verdictsIn(repo.snapshot(), keys)) {
    reviews.restore(verdict, verdict.cost);
    const reviewed = taskOfName(run, repo.commit(verdict.seq).task);
    if (reviewed !== undefined) reviews.restoreWork(reviewed, costOf(repo.snapshot(), `${keys.handoff(reviewed)}/`));
    for (const task of verdict.tasks) judge(context, swarm, task);
    void revertAgain(context, swarm, verdict);
  }
  const landings = [];
  for (const commit of repo.log()) {
    if (commit.time < since) break;
    if (taskOfName(run, commit.task) !== undefined && !unreviewed.includes(commit.author.role ?? ''))
      landings.push(commit);
  }
  for (const commit of landings.toReversed()) reviews.look(commit);
}

/** A task that looked into a finding and has ended. */
function judge(context: RunContext, swarm: Swarm, task: KeptVerdict['tasks'][number]): void {
  const head = context.repo.snapshot().record(context.keys.task(task));
  const record = head && decodeTask(head.value);
  if (record?.state !== 'done' && record?.state !== 'ended') return;
  swarm.reviews.judge(task, record.operations.length > 0 ? 'confirmed' : 'refuted');
}

/** The process died between the verdict and what follows from it by policy. */
async function revertAgain(context: RunContext, swarm: Swarm, verdict: KeptVerdict): Promise<void> {
  const blocking = verdict.findings.filter(({ severity }) => severity === 'blocking');
  if (context.parts.policy.review?.onBlocking !== 'revert' || blocking.length === 0) return;
  const task = taskOfName(context.run, context.repo.commit(verdict.seq).task);
  const planner = task === undefined ? rootTask : swarm.commonPlannerOf([context.mustTask(task).parent]);
  const at = { seq: verdict.seq, lens: verdict.lens, planner };
  try {
    await revertFor(context, swarm, { ...system, role: 'reviewer' }, at, blocking);
  } catch (error) {
    swarm.fail(error);
  }
}
