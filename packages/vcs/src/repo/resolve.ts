import { isSameActor } from '../core/actor.ts';
import type { RepoPath } from '../core/ids.ts';
import { absent, type Change, type Intent, type Precondition } from '../core/intent.ts';
import type { Outcome } from '../core/outcome.ts';
import { admit } from '../intent/admit.ts';
import type { AdmittedIntent, Edit } from '../intent/edit.ts';
import { isRejected, reject } from '../intent/reject.ts';
import { packAccounts } from '../land/account-codec.ts';
import { accountFor, type Powers, type ResolvedPath } from '../land/accounting.ts';
import type { Lander } from '../land/lander.ts';
import { noExtras } from '../land/prepared.ts';
import { stateOf, type Conflicts, type OpenConflict } from '../views/conflicts.ts';
import type { ConflictPath, ConflictSide, ConflictView } from '../views/types.ts';
import type { Resolution } from './api.ts';

/** Mode of a resolved path where the resolver names none: what the sides made of the base's. */
function mergedMode({ base, current, incoming }: ConflictPath): NonNullable<ConflictSide['mode']> {
  const changed = incoming.mode !== undefined && incoming.mode !== base.mode ? incoming.mode : current.mode;
  return changed ?? incoming.mode ?? base.mode ?? 'file';
}

/** Closes a conflict: the results for its paths land with the rest of the kept intent as one commit. */
export async function resolveConflict(
  lander: Lander,
  conflicts: Conflicts,
  id: string,
  resolution: Resolution,
): Promise<Outcome> {
  const open = conflicts.get(id);
  const asOf = resolution.asOf ?? open.entry.comparedAt;
  if (!conflicts.isSeen(open, asOf)) {
    return reject(
      'invalid-intent',
      `${id} cannot have been seen as of ${asOf}`,
      'give the asOf of the view that was shown',
    );
  }
  const view = conflicts.view(open, asOf);
  const results = new Map(resolution.results.map((result) => [result.path, result]));
  const missing = view.paths.filter(({ path }) => !results.has(path)).map(({ path }) => path as string);
  const foreign = [...results.keys()].filter((path) => !view.paths.some((row) => row.path === path));
  if (missing.length + foreign.length > 0) {
    const message =
      missing.length > 0 ? `no result for ${missing.join(', ')}` : `${foreign.join(', ')} is not in conflict ${id}`;
    return reject('resolution-unaccounted', message, 'give a result for each conflicted path and no other', {
      paths: [...missing, ...foreign],
    });
  }
  const bare = resolution.results.find(({ content }) => (content as unknown) === undefined);
  if (bare) {
    const next = 'give the content that it shall have; null deletes it';
    return reject('invalid-intent', `the result for ${bare.path} has no content`, next, { paths: [bare.path] });
  }
  const admitted = admitResolution(conflicts, open, view, resolution);
  if (isRejected(admitted)) return admitted;
  const first = lander.firstResolution(open.entry.seq, admitted);
  if (first !== undefined) return first;
  const resolved = view.paths.map((row): ResolvedPath => {
    const at = results.get(row.path)?.at ?? row.path;
    const edit = admitted.edits.find((candidate) => candidate.path === at);
    const result = edit?.kind === 'put' && edit.content ? { content: edit.content, mode: edit.mode ?? 'file' } : null;
    const input = {
      path: row.path,
      base: stateOf(row.base),
      current: stateOf(row.current),
      incoming: stateOf(row.incoming),
    };
    return { path: row.path, input, result, shape: row };
  });
  const powers = powersOf(conflicts, open, view.asOf, admitted);
  const accounted = accountFor(resolved, resolution.accounts ?? [], resolution.otherwise, powers);
  if (isRejected(accounted)) return accounted;
  return lander.land(admitted, {
    ...noExtras,
    coAuthors: conflicts.authorsOfSides(open, view.asOf),
    resolves: open.entry.seq,
    ending: 'resolution',
    accounts: packAccounts(accounted.accounts),
  });
}

/** An agent may discard its own work for a reason in its own words; people answer for what they discard. */
function powersOf(conflicts: Conflicts, open: OpenConflict, asOf: number, { author, edits }: AdmittedIntent): Powers {
  const rows = conflicts.rows(open, asOf);
  return {
    from: (at, side, stretch) => {
      const row = rows[at];
      return row === undefined ? [] : conflicts.from(open, row, asOf, side, stretch);
    },
    mayDiscardFreely: (from) =>
      author.kind !== 'agent' || from.every((seq) => isSameActor(conflicts.authorAt(seq), author)),
    contentAt: (path) => {
      const edit = edits.find((candidate) => candidate.path === path);
      if (edit?.kind === 'put' && edit.content !== undefined) return edit.content;
      return edit?.kind === 'delete' ? undefined : conflicts.contentAt(open, path as RepoPath, asOf);
    },
  };
}

/** The kept intent with the results in place of its conflicted paths. */
function admitResolution(
  conflicts: Conflicts,
  open: OpenConflict,
  view: ConflictView,
  resolution: Resolution,
): AdmittedIntent | ReturnType<typeof reject> {
  const { kept } = open;
  const seen = { kind: 'version', seq: view.asOf } as const;
  const rationale = resolution.rationale ?? kept.rationale;
  const form = admit({
    branch: kept.branch,
    author: resolution.author,
    message: resolution.message ?? `Resolve ${view.id}: ${kept.message}`,
    ...(rationale !== undefined && { rationale }),
    ...(kept.breakage !== undefined && { breakage: kept.breakage }),
    reads: kept.reads,
    onStaleRead: kept.onStaleRead,
    ...(kept.task !== undefined && { task: kept.task }),
    ...(resolution.operationId !== undefined && { operationId: resolution.operationId }),
    changes: onceEach(view.paths).flatMap((row) => {
      // What was seen is named as it was: a place without a file expects none.
      const expect = conflicts.isLiveAt(open, row.path, view.asOf) ? seen : absent;
      return changesOf(row, resolution, expect);
    }),
    records: resolution.records ?? [],
  } satisfies Intent);
  if (isRejected(form)) return form;
  const replaced = new Set<RepoPath>(conflicts.askedPaths(open, view.asOf));
  const rest = kept.edits.filter((edit) => !replaced.has(edit.path));
  const edits = [...rest.map((edit) => sourceAsSeen(edit, replaced, seen)), ...form.edits];
  const doubled = form.edits.find(({ path }) => rest.some((edit) => edit.path === path));
  if (doubled) {
    const message = `${doubled.path} is changed by the kept intent already`;
    return reject('invalid-intent', message, 'let the result stand elsewhere', { paths: [doubled.path] });
  }
  const twice = form.records.find(({ key }) => kept.records.some((record) => record.key === key));
  if (twice) {
    const message = `record ${twice.key} is written by the kept intent already`;
    return reject('invalid-intent', message, 'leave it out: it lands with the rest of the kept intent');
  }
  return { ...form, mergedSeq: kept.mergedSeq, edits, records: [...kept.records, ...form.records] };
}

/** The first row of each path: several edits may have been led to one. */
const onceEach = (rows: readonly ConflictPath[]): ConflictPath[] =>
  rows.filter(({ path }, at) => rows.findIndex((other) => other.path === path) === at);

function changesOf(row: ConflictPath, resolution: Resolution, expect: Precondition): Change[] {
  const result = resolution.results.find((candidate) => candidate.path === row.path);
  const content = result?.content ?? null;
  const deletion = { kind: 'delete', path: row.path, expect } as const;
  if (content === null) return [deletion];
  const put = { kind: 'put', content, mode: result?.mode ?? mergedMode(row) } as const;
  const at = result?.at ?? row.path;
  if (at === row.path) return [{ ...put, path: at, expect }];
  return [...(expect.kind === 'absent' ? [] : [deletion]), { ...put, path: at, expect: absent }];
}

/** The source of a conflicted move goes as the resolver saw it. */
function sourceAsSeen(edit: Edit, replaced: ReadonlySet<RepoPath>, expect: { kind: 'version'; seq: number }): Edit {
  return edit.kind === 'delete' && edit.movedTo !== undefined && replaced.has(edit.movedTo)
    ? { ...edit, expect }
    : edit;
}
