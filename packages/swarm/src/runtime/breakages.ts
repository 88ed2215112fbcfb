import {
  breakageOf,
  withBreakageComment,
  type Author,
  type Change,
  type ExplainedBreakage,
  type RepoEvent,
} from '@mound/vcs';
import { taskNameOf, taskOfName } from '../core/ids.ts';
import { isInScope, type Task } from '../core/task.ts';
import type { FoundBreakage } from '../tools/operations.ts';
import { textOf } from './repo-reads.ts';
import type { RunContext } from './run-context.ts';
import type { Swarm } from './swarm.ts';

/** Breakages that an answer lists; more explain less. */
const foundMax = 5;
/** Places of each. */
const placesMax = 5;

/** A worker's changes, those outside of its scope with a comment that says why. `base`: the snapshot that it reads. */
export function withBreakageNotes(
  context: RunContext,
  task: Task,
  author: Author,
  {
    base,
    changes,
    breakage,
  }: { readonly base: number; readonly changes: readonly Change[]; readonly breakage: string },
): readonly Change[] {
  const stated = breakageOf(breakage, author, taskNameOf(context.run, task.id));
  const snapshot = context.repo.snapshot(base);
  return changes.map((change): Change => {
    if (change.kind !== 'put' || isInScope(task.scope, change.path)) return change;
    const { content } = change;
    const bytes = content === undefined ? context.repo.readObject(change.blob) : Buffer.from(content as string);
    const text = textOf(bytes);
    if (text === undefined) return change;
    const noted = withBreakageComment(change.path, snapshot.readText(change.path), text, stated);
    const { path, expect, mode } = change;
    return noted === text ? change : { kind: 'put', path, expect, content: noted, ...(mode !== undefined && { mode }) };
  });
}

/** What explains a failed command. `read` gives the files that it saw. */
export function explanationsOf(
  context: RunContext,
  output: string,
  base: number,
  read: (path: string) => string | undefined,
): FoundBreakage[] {
  if (!context.isOn('breakages')) return [];
  const files = new Map<string, readonly string[]>();
  const sourceLine = (path: string, line: number): string | undefined => {
    let lines = files.get(path);
    if (lines === undefined) files.set(path, (lines = read(path)?.split(/\r?\n/) ?? []));
    return lines[line - 1];
  };
  const { breakages } = context.repo.explain(output, { at: base, sourceLine });
  return breakages.slice(0, foundMax).map(viewOf);
}

function viewOf({ id, rationale, author, task, seq, paths, symbols, matches }: ExplainedBreakage): FoundBreakage {
  const places = matches.slice(0, placesMax).map(({ path, line, message }) => `${path}:${line}: ${message}`);
  const by = author.agent ?? author.name;
  return {
    id,
    rationale,
    by,
    ...(task !== undefined && { task }),
    seq,
    paths: [...paths],
    symbols: [...symbols],
    places,
  };
}

/** Tells those who work on what somebody broke, before their next request. */
export function followBreakages(context: RunContext, swarm: Swarm, event: RepoEvent): void {
  if (event.kind !== 'breakage.stated' || !context.isOn('breakages')) return;
  const breaker = taskOfName(context.run, event.task);
  for (const { id, scope, plans } of swarm.state.tasks.values()) {
    const isTheirs = event.paths.some((path) => isInScope(scope, path));
    if (id === breaker || plans || !isTheirs) continue;
    const who = event.agent ?? event.author;
    const text = `${who} changed ${event.paths.join(', ')}, which is in your scope, and meant to (breakage ${event.breakage}, seq ${event.seq}): ${event.rationale}`;
    swarm.tell(id, text, () => undefined);
  }
}
