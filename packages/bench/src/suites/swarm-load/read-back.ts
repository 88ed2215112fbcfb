import { openRepo, type Repo } from '@mound/vcs';

import { isSetting, markOfLine, type SwarmLoad } from '../../workloads/swarm-load.ts';
import { operationIdOf, type Answer, type Replaced } from './agents.ts';

export interface ReadBack {
  /** Steps whose author was told that they are safe and of which a line is nowhere. */
  readonly lost: readonly string[];
  /** What must not be, whatever the authors were told; the first few of each kind. */
  readonly faults: readonly string[];
  /** Steps whose lines stand in the files, or were replaced by edits that had seen them. */
  readonly accounted: number;
  /** Steps that are whole in an open conflict. */
  readonly aside: number;
  readonly openConflicts: number;
  /** By type. */
  readonly events: ReadonlyMap<string, number>;
}

const faultsMax = 20;

/**
 * Opens the store anew and holds it against what the agents were told. A line
 * that is gone must have been replaced by one whose author had seen it.
 */
export async function readBack(
  dir: string,
  load: SwarmLoad,
  answers: readonly Answer[],
  replaced: readonly Replaced[],
): Promise<ReadBack> {
  const repo = await openRepo(dir);
  try {
    const faults: string[] = [];
    const accounted = accountedMarks(repo, load, replaced, faults);
    const lost: string[] = [];
    let [found, aside] = [0, 0];
    for (const answer of answers) {
      const step = load.step(answer.agent, answer.step);
      if (step.kind === 'flip') continue;
      const id = operationIdOf(load.parameters.seed, answer);
      const stands = step.edits.every(({ marks }) => marks.every((mark) => accounted.has(mark)));
      if (answer.kind === 'rejected') faults.push(`${id} was rejected`);
      else if (answer.kind !== 'kept') {
        if (stands) found++;
        else lost.push(id);
      } else {
        const told = repo.outcome(id);
        if (told === undefined) lost.push(id);
        const conflict = told?.kind === 'conflicted' ? repo.conflict(told.conflict) : undefined;
        // A later try of its author, or one that piled on, has ended the conflict.
        if (conflict?.state !== 'open') continue;
        aside++;
        const asked = new Map(conflict.asked.map((edit) => [edit.path as string, edit]));
        if (!step.edits.every(({ path, texts }) => holdsLines(asked.get(path)?.content, texts))) lost.push(id);
      }
    }
    const events = new Map<string, number>();
    for (const { kind } of repo.events()) events.set(kind, (events.get(kind) ?? 0) + 1);
    return {
      lost,
      faults: faults.slice(0, faultsMax),
      accounted: found,
      aside,
      openConflicts: repo.stats().conflictsOpen,
      events,
    };
  } finally {
    await repo.close();
  }
}

/** Each line bears a mark that no other has, so that it stands nowhere by chance. */
const holdsLines = (content: Buffer | undefined, texts: readonly string[]): boolean =>
  content !== undefined && texts.every((text) => content.includes(`\n${text}\n`));

/** Marks that stand in a file, and those that they replaced, and so on. */
function accountedMarks(repo: Repo, load: SwarmLoad, replaced: readonly Replaced[], faults: string[]): Set<number> {
  const accounted = new Set<number>();
  // A mark is made by one process, but for those of edits that several agents made.
  const before = new Map<number, number[]>();
  for (const { byPileOn } of replaced) {
    for (const [mark, one] of byPileOn) before.set(mark, [...(before.get(mark) ?? []), one]);
  }
  const befores = (mark: number): readonly number[] =>
    before.get(mark) ?? replaced.flatMap(({ by }) => by.get(mark) ?? []);
  const snapshot = repo.snapshot();
  for (const [rank, path] of load.paths.entries()) {
    const lines = snapshot.readText(path)?.split('\n') ?? [];
    if (lines.length - 1 !== load.linesOf(rank)) {
      faults.push(`${path} has ${lines.length - 1} lines instead of ${load.linesOf(rank)}`);
    }
    const standing: number[] = lines.flatMap((line) => markOfLine(line) ?? []);
    if (new Set(standing).size < standing.length) faults.push(`${path} holds a line twice`);
    while (standing.length > 0) {
      const mark = standing.pop() ?? 0;
      if (accounted.has(mark)) continue;
      accounted.add(mark);
      standing.push(...befores(mark));
    }
  }
  for (const path of load.settings) {
    if (!isSetting(snapshot.read(path) ?? Buffer.of())) faults.push(`${path} is neither of its two contents`);
  }
  return accounted;
}
