import { standing, type IntendedWork } from '../../workloads/intended-work.ts';
import type { Build, Tree } from './build.ts';

/** What one arm came to with one stream of work. Figures that an arm cannot have are undefined. */
export interface ArmFigures {
  /** Intended edits that stand in the end. */
  readonly accepted: number;
  /** Intended edits that were acknowledged on the trunk and do not stand in the end. */
  readonly lost: number;
  /** Attempts to publish that needed more than a clean merge by a program: conflicts, and locks that were taken. */
  readonly conflicts: number;
  /** Commits on the trunk, those that settle conflicts included. */
  readonly commits: number;
  /** Of these, those that bring nothing in that is wanted: of neutral agents, of notes and decisions, reverts. */
  readonly neutralCommits: number | undefined;
  /** Attempts to publish that a rule of the repository refused. */
  readonly refusedTries: number;
  /** Work that was brought in twice: by a second owner of a task, or as a change that had landed since. */
  readonly duplicateWork: number | undefined;
  /** Files that came back to an earlier content. */
  readonly oscillations: number;
  /** Trees of the trunk that were built, and those of them that do not build. */
  readonly builds: number;
  readonly brokenBuilds: number;
  readonly endsBuilding: boolean | undefined;
  readonly seconds: number;
  /** Tokens of all requests, estimated by length. */
  readonly tokens: number | undefined;
  /** Of words that agents were told without asking, estimated likewise. */
  readonly toldTokens: number | undefined;
  /** Of the checks that the run itself made; undefined where it made none. */
  readonly passRate: number | undefined;
  readonly mergeQueueMsP50: number | undefined;
  readonly mergeQueueMsP99: number | undefined;
}

/** Trees of one arm that are built at most; they are taken evenly. */
const buildsMax = 40;

/** Every so many of a row, the last one always. */
export function sampled<Item>(items: readonly Item[]): Item[] {
  const every = Math.max(1, Math.ceil(items.length / buildsMax));
  return items.filter((_, at) => (items.length - 1 - at) % every === 0);
}

export interface Judged {
  readonly builds: number;
  readonly brokenBuilds: number;
  readonly endsBuilding: boolean | undefined;
}

/** Builds trees in the order in which they stood on the trunk; without a compiler nothing is said. */
export async function judgeBuilds(
  build: Build | undefined,
  trees: Iterable<Tree> | AsyncIterable<Tree>,
): Promise<Judged> {
  if (build === undefined) return { builds: 0, brokenBuilds: 0, endsBuilding: undefined };
  let [builds, brokenBuilds] = [0, 0];
  let isRight = true;
  for await (const tree of trees) {
    isRight = build.faults(tree).length === 0;
    builds++;
    if (!isRight) brokenBuilds++;
  }
  return { builds, brokenBuilds, endsBuilding: builds === 0 ? undefined : isRight };
}

/** As it is acknowledged: its task may leave it to another. */
export const parameterName = (task: string): string => `parameter of ${task}`;

/** Accepted and lost edits, by the tree in the end and the tasks that somebody was told are on the trunk. */
export function judgeEdits(
  work: IntendedWork,
  tree: Tree,
  acknowledged: ReadonlySet<string>,
): Pick<ArmFigures, 'accepted' | 'lost'> {
  const stands = standing(tree);
  let [accepted, lost] = [0, 0];
  for (const { id, edits } of work.tasks) {
    for (const { kind, token } of edits) {
      if (stands.has(token)) accepted++;
      else if (acknowledged.has(kind === 'parameter' ? parameterName(id) : id)) lost++;
    }
  }
  return { accepted, lost };
}
