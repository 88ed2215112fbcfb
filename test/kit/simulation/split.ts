import { isMoundError, type Outcome, type Repo, type SplitOptions } from '@mound/vcs';
import { linesOf, type AskedEdit, type Draw, type Operation, type Place } from './operation.ts';

/** Who splits, and for whom a path is sometimes frozen. */
export const splitter = 'splitter';

const text = (lines: readonly string[]): string => lines.map((line) => `${line}\n`).join('');

/** What cannot be asked of the file as it is by now: no answer to keep. */
const notNow: Outcome = { kind: 'rejected', code: 'stale', message: '', next: '', paths: [], stale: [] };

/** Makes two modules of a file as it stood at a place, each with a line of its own, and leaves a third or nothing. */
export function drawSplit(
  repo: Repo,
  draw: Draw,
  paths: readonly string[],
  { branch, seq }: Place,
  id: string,
): Operation | undefined {
  const snapshot = repo.snapshot(seq, branch);
  const live = paths.filter((path) => linesOf(snapshot.readText(path)).length >= 6);
  const path = live[draw.below(Math.max(1, live.length))];
  if (path === undefined) return undefined;
  const lines = linesOf(snapshot.readText(path));
  const third = Math.floor(lines.length / 3);
  const isWhole = draw.below(3) === 0;
  const parts = [lines.slice(isWhole ? 0 : third, 2 * third), lines.slice(2 * third)];
  const modules = parts.map((part, at) => {
    const header = `${id} header ${at}`;
    return { path: `m/${id}-${at}`, header, content: text([header, ...part]) };
  });
  const options: SplitOptions = {
    author: { name: splitter, kind: 'agent' },
    branch,
    operationId: id,
    modules: modules.map(({ path: to, content }) => ({ path: to, content })),
    remains: isWhole ? null : text(lines.slice(0, third)),
    expect: seq,
  };
  const plain = { seen: undefined, removed: [], isDelete: false };
  const edits: AskedEdit[] = [
    { ...plain, path, added: [] },
    ...modules.map(({ path: to, header }) => ({ ...plain, path: to, added: [header] })),
  ];
  const send = async (to: Repo): Promise<Outcome> => {
    try {
      return (await to.split(path, options)).outcome;
    } catch (error) {
      if (isMoundError(error, 'invalid-argument')) return notNow;
      throw error;
    }
  };
  return { id, branch, edits, isForced: false, agent: splitter, counts: false, send };
}
