import { createHash } from 'node:crypto';
import type { CommitView, Outcome, Repo, RepoEvent } from '@mound/vcs';
import { expect } from 'vitest';
import { linesOf, type Draw, type Operation } from './operation.ts';

/** Everything that a reader of a snapshot can see. */
export function digestOf(repo: Repo, branch: string, seq: number): string {
  const snapshot = repo.snapshot(seq, branch);
  const hash = createHash('sha256');
  for (const head of snapshot.list()) hash.update(JSON.stringify([head, snapshot.readText(head.path)]));
  for (const { key, version, value } of snapshot.records())
    hash.update(JSON.stringify([key, version, value.toString('hex')]));
  return hash.digest('hex');
}

export function checkSame(found: unknown, expected: unknown, what: string): void {
  expect(found, what).toEqual(expected);
}

const rejections = new Set([
  'stale',
  'record-stale',
  'path-clash',
  'path-collision',
  'frozen',
  'resolution-stale',
  'resolution-unaccounted',
  'no-such-conflict',
  'no-such-path',
]);

/** An answer to an operation: the first one for ever, or a rejection that a simulation may meet. */
export function checkAnswer(operation: Operation, outcome: Outcome): void {
  if (operation.first !== undefined) return expect(outcome, `${operation.id} again`).toEqual(operation.first);
  if (outcome.kind === 'rejected') expect(rejections, `${operation.id}: ${outcome.message}`).toContain(outcome.code);
}

/** Gapless, and the same from wherever one starts. */
export function checkEvents(repo: Repo, draw: Draw): RepoEvent[] {
  const events = [...repo.events()];
  const seqs = [...new Set(events.map(({ seq }) => seq as number))];
  expect(seqs).toEqual(Array.from({ length: repo.stats().seq }, (_, at) => at + 1));
  for (const [at, event] of events.entries()) {
    const before = events[at - 1];
    expect(event.index).toBe(before?.seq === event.seq ? before.index + 1 : 1);
  }
  checkFreezes(events);
  checkParked(events);
  for (let round = 0; round < 5; round++) {
    const at = draw.below(events.length);
    const cursor = events[at] ?? { seq: 0, index: 0 };
    expect([...repo.events(cursor)]).toEqual(events.slice(at + 1));
  }
  return events;
}

/** Nothing lands on a path between its freeze and its thaw, but what its owner lands, and a split that ends it. */
function checkFreezes(events: readonly RepoEvent[]): void {
  const frozen = new Map<string, RepoEvent & { readonly kind: 'file.frozen' }>();
  const splits = new Set(events.flatMap((event) => (event.kind === 'file.split' ? `${event.seq} ${event.path}` : [])));
  for (const event of events) {
    if (event.kind === 'file.frozen') frozen.set(`${event.branch} ${event.path}`, event);
    else if (event.kind === 'file.thawed') {
      const freeze = frozen.get(`${event.branch} ${event.path}`);
      if (event.reason === 'expired') expect(freeze?.until, `${event.seq} is over`).toBeLessThanOrEqual(event.time);
      frozen.delete(`${event.branch} ${event.path}`);
    } else if (event.kind === 'intent.landed') {
      const held = event.changes.filter(({ path }) => {
        const freeze = frozen.get(`${event.branch} ${path}`);
        if (freeze === undefined) return false;
        return freeze.owner === undefined ? !splits.has(`${event.seq} ${path}`) : freeze.owner !== event.author;
      });
      expect(held, `${event.operationId} at ${event.seq} meets a freeze`).toEqual([]);
    }
  }
}

/** What was parked is decided again once, if at all. */
function checkParked(events: readonly RepoEvent[]): void {
  const decided = events.flatMap((event) => (event.kind === 'intent.unparked' ? event.parked : []));
  expect(decided, 'a parked intent is decided once').toEqual([...new Set(decided)]);
}

/** The landing of an operation took away nothing but what its author saw there, and brought all that it asked. */
function checkLanding(repo: Repo, operation: Operation, view: CommitView): void {
  const { id, edits, isForced, drops = [] } = operation;
  const textAt = (path: string, seq: number): string | undefined => repo.snapshot(seq, view.branch).readText(path);
  const mayGo = new Set(edits.flatMap(({ removed }) => removed));
  const after = new Set(view.changes.flatMap(({ path }) => linesOf(textAt(path, view.seq))));
  // A line that moved to another path of the same landing has not gone.
  const gone = view.changes
    .flatMap(({ path }) => linesOf(textAt(path, view.seq - 1)))
    .filter((line) => !after.has(line) && !mayGo.has(line));
  const revived = view.changes.filter(({ movedFrom }) => movedFrom && textAt(movedFrom, view.seq - 1) === undefined);
  expect(revived, `${id} at ${view.seq} moves what is there`).toEqual([]);
  if (!isForced) expect(gone, `${id} at ${view.seq} takes away only what its author saw`).toEqual([]);
  const left = drops.filter((path) => textAt(path, view.seq) !== undefined);
  expect(left, `${id} at ${view.seq} takes away what it was to take away`).toEqual([]);
  const missing = edits.flatMap(({ added }) => added).filter((line) => !after.has(line));
  expect(missing, `${id} at ${view.seq} brings what it asked`).toEqual([]);
}

/** What a conflict kept and landed as it was asked is held to the same. */
function checkRemerge(repo: Repo, operation: Operation, seq: number): void {
  const { first } = operation;
  const { ending } = first?.kind === 'conflicted' ? repo.conflict(first.conflict) : {};
  const isCommit = [...repo.events({ seq, index: 0 })].some(
    (event) => event.seq === seq && event.kind === 'intent.landed',
  );
  if (ending === 'remerge' && isCommit) checkLanding(repo, operation, repo.commit(seq));
}

/** Each operation landed at most once, as it was told, and no byte that was told is gone. */
export function checkOperations(repo: Repo, operations: readonly Operation[], events: readonly RepoEvent[]): void {
  const landings = new Map<string, number[]>();
  for (const event of events) {
    const id = event.kind === 'intent.landed' ? event.operationId : undefined;
    if (id !== undefined) landings.set(id, [...(landings.get(id) ?? []), event.seq]);
  }
  for (const operation of operations) {
    const { id, first } = operation;
    const landed = landings.get(id) ?? [];
    expect(landed.length, `${id} landed once`).toBeLessThanOrEqual(1);
    const now = repo.outcome(id);
    if (first === undefined) expect([landed, now], `${id} was never done`).toEqual([[], undefined]);
    else if (first.kind === 'landed' || first.kind === 'merged') {
      expect(now, id).toEqual(first);
      // Records alone make no commit.
      expect(landed, id).toEqual(first.commit === undefined ? [] : [first.seq]);
    } else if (first.kind === 'conflicted') {
      expect(landed, id).toEqual([]);
      const { paths } = repo.conflict(first.conflict);
      // An edit of a file that was split shows in several places.
      const kept = paths.flatMap(({ incoming }) => linesOf(incoming.content?.toString('utf8')));
      for (const { path } of paths) {
        const asked = operation.edits.find((edit) => edit.path === path);
        expect(kept, `${id} is kept whole`).toEqual(expect.arrayContaining([...(asked?.added ?? [])]));
      }
      if (now?.kind === 'landed' || now?.kind === 'merged') checkRemerge(repo, operation, now.seq);
    } else if (first.kind === 'parked' && (now?.kind === 'landed' || now?.kind === 'merged') && landed.length > 0) {
      expect(landed, id).toEqual([now.seq]);
    }
    for (const seq of landed) checkLanding(repo, operation, repo.commit(seq));
  }
}

export function checkCounter(repo: Repo, operations: readonly Operation[]): void {
  const counted = operations.filter(({ counts, first }) => counts && first?.kind === 'landed').length;
  expect(Number(repo.snapshot().record('counter')?.value.toString('utf8') ?? 0)).toBe(counted);
}
