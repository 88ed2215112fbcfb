import type { Outcome } from '../core/outcome.ts';
import type { RecordHead } from '../repo/api.ts';
import type { CommitView, ConflictSide, ConflictView, HunkLines } from '../views/types.ts';
import { bytesFields } from './intent.ts';

/** The fields that `--json` and the server promise of an outcome. */
export function outcomeFields(outcome: Outcome): object {
  const { kind, ...rest } = outcome;
  return { outcome: kind, ...rest };
}

/** The same the other way round. */
export function outcomeOf(value: object): Outcome {
  const { outcome: kind, ...rest } = value as { outcome: Outcome['kind'] };
  return { kind, ...rest } as unknown as Outcome;
}

export const commitFields = ({ gitRaw: _raw, time, ...view }: CommitView): object => ({ ...view, time });

function sideFields({ content, ...side }: ConflictSide): object {
  return { ...side, ...(content === undefined ? { content: null } : bytesFields('content', content)) };
}

const linesFields = ({ start, count, text }: HunkLines): object => ({
  start,
  count,
  text: Buffer.from(text).toString('utf8'),
});

export const conflictFields = (view: ConflictView): object => ({
  ...view,
  asked: view.asked.map(({ kind, path, movedFrom, movedTo }) => ({ kind, path, movedFrom, movedTo })),
  paths: view.paths.map((path) => ({
    ...path,
    base: sideFields(path.base),
    current: sideFields(path.current),
    incoming: sideFields(path.incoming),
    hunks: path.hunks.map(({ index, base, current, incoming }) => ({
      index,
      base: linesFields(base),
      current: linesFields(current),
      incoming: linesFields(incoming),
    })),
  })),
});

export const recordFields = ({ key, version, value, objects }: RecordHead): object => ({
  key,
  version,
  ...bytesFields('value', value),
  objects,
});
