import { MoundError } from '../core/errors.ts';
import { absent, version, type Change, type Intent } from '../core/intent.ts';
import type { ChangeRow } from '../format/entry.ts';
import type { LogReader } from '../log/log-reader.ts';
import type { CommitView } from '../views/types.ts';
import type { RevertOptions } from './api.ts';
import { optionsOf } from './restore.ts';

/**
 * The intent that takes a commit back: each of its changes the other way round,
 * based on the version that the commit made, so that landing it merges with what
 * came since, as it does with any stale edit.
 */
export function revertIntent(reader: LogReader, view: CommitView, options: RevertOptions): Intent {
  const { seq } = view;
  const branchId = reader.branchNamed(options.branch ?? 'main').id;
  const rows = reader.landing(seq).changes;
  for (const [index, row] of rows.entries()) mustHave(reader, branchId, { seq, index }, row, view);
  const sources = new Set(
    rows.filter((row) => row.mode !== undefined && row.movedPathId !== 0).map((row) => row.movedPathId),
  );
  const changes = rows.flatMap((row): Change[] => {
    const path = reader.pathOf(row.pathId);
    const before = row.previous.seq === 0 ? undefined : reader.version(row.previous);
    const expect = row.mode === undefined ? absent : version(seq);
    const source = rows.find(({ pathId }) => pathId === row.movedPathId && row.mode !== undefined);
    if (source !== undefined && before?.mode === undefined) {
      // Moved back, with the text that it had.
      const content = reader.content(source.previous);
      return [{ kind: 'move', path, to: reader.pathOf(source.pathId), content, expect }];
    }
    if (row.mode === undefined && sources.has(row.pathId) && isMovedBack(rows, row, reader)) return [];
    if (before?.mode === undefined) return row.mode === undefined ? [] : [{ kind: 'delete', path, expect }];
    return [{ kind: 'put', path, content: reader.content(row.previous), mode: before.mode, expect }];
  });
  const message = options.message ?? `Revert seq ${seq}: ${view.message.split('\n')[0] ?? ''}`;
  return { author: options.author, message, changes, ...optionsOf(options) };
}

/** Whether the file that went away comes back by the move of its destination. */
function isMovedBack(rows: readonly ChangeRow[], source: ChangeRow, reader: LogReader): boolean {
  return rows.some((row) => {
    const isDestination = row.mode !== undefined && row.movedPathId === source.pathId;
    return isDestination && (row.previous.seq === 0 || reader.version(row.previous).mode === undefined);
  });
}

function mustHave(
  reader: LogReader,
  branchId: number,
  place: { readonly seq: number; readonly index: number },
  row: ChangeRow,
  view: CommitView,
): void {
  const head = reader.head(branchId, row.pathId);
  const then = head && reader.headAsOf(head, place.seq);
  if (then?.place.seq === place.seq && then.place.index === place.index) return;
  throw new MoundError('no-such-commit', `seq ${view.seq} is not on this branch but on '${view.branch}'`, {
    seq: view.seq,
    branch: view.branch,
  });
}
