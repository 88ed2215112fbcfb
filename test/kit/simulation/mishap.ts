import { version, type Change, type Intent, type Repo } from '@mound/vcs';
import { linesOf, operationOf, type AskedEdit, type Draw, type Operation, type Place } from './operation.ts';

/** What is rare among edits drawn at random, and went wrong before. */

const textOf = (lines: readonly string[]): string => `${lines.join('\n')}\n`;

function intentOf(
  { branch }: Place,
  id: string,
  changes: readonly Change[],
): Intent & { operationId: string; branch: string } {
  return { branch, author: { name: id, kind: 'agent' }, message: id, operationId: id, changes };
}

/** Takes one or two files away. */
export function drawDeletion(repo: Repo, draw: Draw, place: Place, id: string): Operation | undefined {
  const snapshot = repo.snapshot(place.seq, place.branch);
  const live = snapshot.list();
  if (live.length === 0) return undefined;
  const first = draw.below(live.length);
  const heads = live.slice(first, first + 1 + draw.below(2));
  const changes = heads.map(({ path, version: at }): Change => ({ kind: 'delete', path, expect: version(at) }));
  const edits = heads.map(({ path }): AskedEdit => {
    const seen = snapshot.readText(path);
    return { path, seen, removed: linesOf(seen), added: [], isDelete: true };
  });
  return operationOf(intentOf(place, id, changes), edits, false);
}

/** One changes two files, another one moves the first to the place of the second and has seen nothing of it. */
export function drawMoveBehind(
  repo: Repo,
  draw: Draw,
  paths: readonly string[],
  place: Place,
  id: string,
): Operation[] {
  const snapshot = repo.snapshot(place.seq, place.branch);
  const live = paths.flatMap((path) => snapshot.head(path) ?? []);
  const [source, target] = [live[draw.below(live.length)], live[draw.below(live.length)]];
  if (source === undefined || target === undefined || source === target) return [];
  const expect = { expect: version(source.version), expectTo: version(target.version) };
  const plain = { seen: undefined, removed: [], added: [], isDelete: false };
  const lines = linesOf(snapshot.readText(source.path));
  const line = `${id} ${source.path}`;
  const isGone = draw.below(3) === 0;
  const changes: Change[] = [
    isGone
      ? { kind: 'delete', path: source.path, expect: expect.expect }
      : { kind: 'put', path: source.path, content: textOf([line, ...lines]), expect: expect.expect },
  ];
  const edits: AskedEdit[] = [
    { ...plain, path: source.path, removed: isGone ? lines : [], added: isGone ? [] : [line] },
  ];
  if (draw.below(2) === 0) {
    const mode = target.mode === 'file' ? 'executable' : 'file';
    changes.push({ kind: 'chmod', path: target.path, mode, expect: expect.expectTo });
    edits.push({ ...plain, path: target.path });
  }
  const move: Change = { kind: 'move', path: source.path, to: target.path, ...expect };
  const asked: AskedEdit[] = [
    { ...plain, path: source.path },
    { ...plain, path: target.path, removed: linesOf(snapshot.readText(target.path)) },
  ];
  return [
    operationOf(intentOf(place, `${id}-before`, changes), edits, false),
    operationOf(intentOf(place, `${id}-behind`, [move]), asked, false),
  ];
}
