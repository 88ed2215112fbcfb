import type { ConflictPath, ConflictSide, ConflictView, Hunk, HunkLines } from '@mound/vcs';
import type { ConflictDetails, ConflictedPath, SideView, Span } from '../tools/operations.ts';
import { textOf } from './repo-reads.ts';

/** A conflict as a merger reads it. */
export const detailsOf = (view: ConflictView): ConflictDetails => ({
  conflict: view.id,
  state: view.state,
  asOf: view.asOf,
  author: view.author.name,
  message: view.message,
  paths: view.paths.map(pathDetails),
});

function pathDetails(path: ConflictPath): ConflictedPath {
  const [base, current, incoming] = [sideOf(path.base), sideOf(path.current), sideOf(path.incoming)];
  const isText = [base, current, incoming].every(({ state }) => state !== 'binary');
  const hunks = isText ? path.hunks.map(hunkDetails) : [];
  return { path: path.path, reason: path.reason, base, current, incoming, hunks };
}

function sideOf(side: ConflictSide): SideView {
  const { version, content } = side;
  if (content === undefined) return { version, text: undefined, state: 'absent' };
  const text = textOf(content);
  return { version, text, state: text === undefined ? 'binary' : 'text' };
}

const hunkDetails = ({ index, base, current, incoming }: Hunk): ConflictedPath['hunks'][number] => ({
  index,
  base: spanOf(base),
  current: spanOf(current),
  incoming: spanOf(incoming),
});

const spanOf = ({ start, count, text }: HunkLines): Span => ({
  from: start,
  lines: count,
  text: Buffer.from(text).toString('utf8'),
});
