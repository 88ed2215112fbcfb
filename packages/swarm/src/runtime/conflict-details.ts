import type { ConflictPath, ConflictSide, ConflictView, Hunk, HunkLines } from '@mound/vcs';
import type { ConflictDetails, ConflictedPath, SideView, Span } from '../tools/operations.ts';
import { textOf } from './repo-reads.ts';

/** A side longer than this is not shown whole: its hunks are what counts. */
const sideCharsMax = 20_000;
/** A longer stretch of a hunk is cut. */
const hunkCharsMax = 4_000;

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
  if (text === undefined) return { version, text, state: 'binary' };
  return text.length > sideCharsMax ? { version, text: undefined, state: 'large' } : { version, text, state: 'text' };
}

const hunkDetails = ({ index, base, current, incoming }: Hunk): ConflictedPath['hunks'][number] => ({
  index,
  base: spanOf(base),
  current: spanOf(current),
  incoming: spanOf(incoming),
});

function spanOf({ start, count, text }: HunkLines): Span {
  const whole = Buffer.from(text).toString('utf8');
  const isCut = whole.length > hunkCharsMax;
  return { from: start, lines: count, text: isCut ? whole.slice(0, hunkCharsMax) : whole, ...(isCut && { cut: true }) };
}
