import type { Repo, RepoEvent } from '@mound/vcs';
import { taskNameOf, taskOfName, type TaskId } from '../core/ids.ts';
import { overlapOf } from '../core/topic.ts';
import type { SwarmEvent } from '../events/event.ts';
import type { ContradictionState } from '../state/contradiction.ts';
import { decisionsOf, type ActiveDecision } from './decisions.ts';
import type { RunContext } from './run-context.ts';
import type { Swarm } from './swarm.ts';

/** Landings on a path that are looked at. */
const landingsMax = 16;

/** The task whose planner gave a task; undefined where it is none of this run's. */
function plannerOf(context: RunContext, name: string | undefined): TaskId | undefined {
  const task = taskOfName(context.run, name);
  return task === undefined ? undefined : context.mustTask(task).parent;
}

const distinct = (planners: readonly (TaskId | undefined)[]): TaskId[] => [
  ...new Set(planners.filter((planner) => planner !== undefined)),
];

/** Planners of the landings on a path, from the one that is the same again. */
function plannersSince(context: RunContext, path: string, earlier: number, seq: number): TaskId[] {
  const landings = [...context.repo.log({ path, from: seq, limit: landingsMax })];
  return distinct(landings.filter((one) => one.seq >= earlier).map(({ task }) => plannerOf(context, task)));
}

/** Pairs of active decisions that settle the same under different owners. */
function overlapsAmong(context: RunContext, decisions: readonly ActiveDecision[]): SwarmEvent[] {
  const found: SwarmEvent[] = [];
  for (const [at, one] of decisions.entries()) {
    for (const other of decisions.slice(at + 1)) {
      if (one.owner === other.owner || overlapOf(one.topics, other.topics) === undefined) continue;
      const planners = distinct(
        [one, other].map(({ owner }) => taskOfName(context.run, taskNameOf(context.run, owner as TaskId))),
      );
      found.push({
        kind: 'decisions.overlapped',
        decisions: [one.id, other.id],
        paths: [one.path, other.path],
        planners: planners.filter((planner) => context.book.task(planner) !== undefined),
      });
    }
  }
  return found;
}

/** Decisions that stand beside one another and cannot both hold. */
export const overlapsNow = (context: RunContext): SwarmEvent[] =>
  context.isOn('reconciler') ? overlapsAmong(context, decisionsOf(context)) : [];

/** What an event of the store's feed says of agents that work against one another. */
export function fightsIn(context: RunContext, event: RepoEvent): SwarmEvent[] {
  if (!context.isOn('reconciler')) return [];
  switch (event.kind) {
    case 'decision.changed':
      return overlapsNow(context);
    case 'file.oscillated': {
      const planners = plannersSince(context, event.path, event.earlier, event.seq);
      return [{ kind: 'path.contested', path: event.path, how: 'oscillation', planners }];
    }
    case 'conflict.opened': {
      const sides = [event.task, ...event.met.map(({ task }) => task)];
      const planners = distinct(sides.map((name) => plannerOf(context, name)));
      return event.paths.map((path) => ({ kind: 'path.contested', path, how: 'conflict', planners }));
    }
    default:
      return [];
  }
}

/** The newest landings on what is fought over, with whose planner wanted each. */
export function landingsOn(
  context: RunContext,
  { paths }: Pick<ContradictionState, 'paths'>,
): {
  seq: number;
  author: string;
  task?: string;
  planner?: string;
  message: string;
  rationale?: string;
  paths: string[];
}[] {
  const { repo } = context;
  const seqs = new Set(
    paths.flatMap((path) => [...repo.log({ path, limit: landingsMax })].map(({ seq }) => Number(seq))),
  );
  return [...seqs]
    .toSorted((left, right) => right - left)
    .slice(0, landingsMax)
    .map((seq) => landingAt(context, repo, seq));
}

function landingAt(context: RunContext, repo: Repo, seq: number): ReturnType<typeof landingsOn>[number] {
  const { author, task, message, rationale, changes } = repo.commit(seq);
  const planner = plannerOf(context, task);
  return {
    seq,
    author: author.name,
    ...(task !== undefined && { task }),
    ...(planner !== undefined && { planner }),
    message,
    ...(rationale !== undefined && { rationale }),
    paths: changes.map(({ path }) => path),
  };
}

/** Both sides, and whoever works on what is concerned, hear of the decision before their next request. */
export function tellOfDecision(context: RunContext, swarm: Swarm, contradiction: ContradictionState, id: string): void {
  const decision = decisionsOf(context).find((one) => one.id === id);
  if (decision === undefined) return;
  const { cite, topics, text } = decision;
  const says = `A neutral agent has settled what you and others did in two ways. From now on this holds, for ${topics.join(', ')}: ${text}\nCite it in code as ${cite}. Do not decide or delegate otherwise.`;
  for (const planner of contradiction.planners) if (swarm.isLive(planner)) swarm.tell(planner, says, () => undefined);
  for (const task of swarm.workersOn(contradiction.paths)) swarm.tell(task, says, () => undefined);
}
