import type { ConflictPath, ConflictSide, ConflictView, Hunk, HunkLines, Repo } from '@mound/vcs';
import type { ConflictDetails, ConflictedPath, SideView, Span } from '../tools/operations.ts';
import { textOf } from './repo-reads.ts';

/** A side longer than this is not shown whole: its hunks are what counts. */
const sideCharsMax = 20_000;
/** A longer stretch of a hunk is cut. */
const hunkCharsMax = 4_000;

/** Landings of the current side that are told of, the newest. */
const metMax = 20;

/** A conflict as a merger reads it: both sides, and why each is as it is. */
export const detailsOf = (repo: Repo, view: ConflictView): ConflictDetails => ({
  conflict: view.id,
  state: view.state,
  asOf: view.asOf,
  author: view.author.name,
  message: view.message,
  ...(view.rationale !== undefined && { rationale: view.rationale }),
  paths: view.paths.map(pathDetails),
  met: landingsOf(view)
    .slice(0, metMax)
    .map((seq) => {
      const { author, message, rationale } = repo.commit(seq);
      return { seq, author: author.name, message, ...(rationale !== undefined && { rationale }) };
    }),
});

const landingsOf = ({ paths }: ConflictView): number[] =>
  [...new Set(paths.flatMap(({ currentBy }) => currentBy.map(({ seq }) => Number(seq))))].toSorted(
    (left, right) => right - left,
  );

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
