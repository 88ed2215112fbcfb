import { createHash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import type { Repo } from '@mound/vcs';
import { expect } from 'vitest';

/** A line that the scenario wrote before an intent (`paths`) or after its acknowledgement (`kind`, `seq`). */
export interface Note {
  readonly id: string;
  readonly paths?: readonly string[];
  readonly kind?: string;
  readonly seq?: number;
}

/** What a repository holds, but for seqs and times: equal for all runs of the scenario that got to its end. */
export function stateOf(repo: Repo): unknown {
  const digest = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex').slice(0, 16);
  const filesOf = (branch: string): string[] => {
    const snapshot = repo.snapshot(undefined, branch);
    return snapshot.list().map(({ path, mode }) => `${path} ${mode} ${digest(snapshot.read(path) ?? Buffer.alloc(0))}`);
  };
  const { conflictsOpen, parkedOpen } = repo.stats();
  return {
    files: Object.fromEntries(repo.branches().map(({ name }) => [name, filesOf(name)])),
    records: repo
      .snapshot()
      .records()
      .map(({ key, value }) => [key, key.startsWith('mound/') ? '' : value.toString('utf8')]),
    workspaces: repo.workspaces.list().map(({ name, edits }) => `${name} ${edits}`),
    // A store's own draft is left where its maker died.
    names: readdirSync(repo.dir).filter((name) => name !== 'notes' && !name.startsWith('.mound')),
    tags: repo.tags().map(({ name }) => name),
    open: conflictsOpen + parkedOpen,
  };
}

/** How often each operation id landed, and how often each thing happened that must happen once. */
export function happenings(repo: Repo): Map<string, number> {
  const counts = new Map<string, number>();
  const count = (what: string): void => void counts.set(what, (counts.get(what) ?? 0) + 1);
  for (const event of repo.events()) {
    if (event.kind === 'intent.landed') count(`landed ${event.operationId ?? event.message}`);
    else if (event.kind === 'record.written') count(`record ${event.key}`);
    else if (!['file.merged', 'file.frozen', 'file.thawed', 'file.flagged', 'tag.set'].includes(event.kind))
      count(event.kind);
  }
  return counts;
}

/** After a death: what was acknowledged is there, what was not is there whole or not at all. */
export function checkNotes(repo: Repo, notes: readonly Note[]): void {
  const landings = new Map<string, string[]>();
  for (const event of repo.events()) {
    if (event.kind !== 'intent.landed' || event.operationId === undefined) continue;
    expect(landings.has(event.operationId), `${event.operationId} landed once`).toBe(false);
    landings.set(event.operationId, event.changes.map(({ path }) => path as string).toSorted());
  }
  const acknowledged = new Set<string>();
  for (const { id, kind, seq } of notes) {
    if (kind === undefined) continue;
    acknowledged.add(id);
    const now = repo.outcome(id);
    // What was parked may have been decided since.
    if (kind === 'parked') expect(['parked', 'landed', 'merged']).toContain(now?.kind);
    else if (kind === 'conflicted') expect(['conflicted', 'landed', 'unchanged']).toContain(now?.kind);
    else expect(now, `${id} was acknowledged`).toMatchObject({ kind, seq });
  }
  for (const { id, paths } of notes) {
    if (paths === undefined) continue;
    const now = repo.outcome(id);
    const landed = landings.get(id);
    if (!acknowledged.has(id) && now === undefined) expect(landed, `${id} is wholly absent`).toBeUndefined();
    if (landed === undefined) continue;
    // A path that a move leaves is changed with the one that it leads to.
    for (const path of paths) expect(landed, `${id} is wholly there`).toContain(path);
  }
}
