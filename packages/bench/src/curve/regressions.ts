import { firstBad, type CheckVerdict, type Repo } from '@mound/vcs';

import type { Culprit, CurvePoint, Regression } from './curve.ts';
import { falls, isBuilt, isLower, type Fall } from './plan.ts';
import type { Points } from './points.ts';

export interface SearchBounds {
  /** Share by which a score may fall unnoticed. */
  readonly tolerance: number;
  /** Falls whose commit is looked for. */
  readonly regressionsMax: number;
}

/** The commits that made a curve fall; what is scored on the way joins the points. */
export async function findRegressions(repo: Repo, points: Points, bounds: SearchBounds): Promise<Regression[]> {
  const found: Regression[] = [];
  // What is scored on the way may show more of them.
  for (let fall = nextFall(points, found, bounds); fall !== undefined; fall = nextFall(points, found, bounds)) {
    const { from, to } = fall;
    const range = points.places.map(({ seq }) => seq).filter((seq) => seq > from.seq && seq <= to.seq);
    const isSought = found.length < bounds.regressionsMax;
    const candidates = isSought ? await narrow(points, fall, range, bounds.tolerance) : range;
    found.push(await regressionOf(repo, points, fall, candidates, bounds.tolerance));
  }
  return found.toSorted(inOrder);
}

/** What was found before what only may be. */
const inOrder = ({ candidates: a }: Regression, { candidates: b }: Regression): number =>
  (a[0] ?? 0) - (b[0] ?? 0) || a.length - b.length;

/** The first that no regression tells of yet. */
function nextFall(points: Points, known: readonly Regression[], { tolerance }: SearchBounds): Fall | undefined {
  return falls(points.all(), tolerance).find(
    ({ kind, from, to }) =>
      !known.some((one) => one.kind === kind && one.candidates.some((seq) => seq > from.seq && seq <= to.seq)),
  );
}

function verdictOf(point: CurvePoint, { kind, from }: Fall, tolerance: number): CheckVerdict {
  const built = isBuilt(point.state);
  if (kind === 'build') return built ? 'passed' : 'failed';
  if (!built) return 'skipped';
  return isLower(point, from, tolerance) ? 'failed' : 'passed';
}

const narrow = (points: Points, fall: Fall, range: readonly number[], tolerance: number): Promise<number[]> =>
  firstBad(range, async (seq) => verdictOf(await points.score(points.mustPlace(seq)), fall, tolerance));

async function regressionOf(
  repo: Repo,
  points: Points,
  fall: Fall,
  candidates: readonly number[],
  tolerance: number,
): Promise<Regression> {
  const { kind, from, to } = fall;
  const [first = to.seq] = candidates;
  const isFound = candidates.length === 1;
  const second = isFound ? await points.scoreAgain(points.mustPlace(first)) : undefined;
  const all = points.all();
  const last = candidates.at(-1) ?? to.seq;
  const before = all.findLast(({ seq, state }) => seq < first && isBuilt(state)) ?? from;
  const after = all.find(({ seq, state }) => seq >= last && (kind === 'build' || isBuilt(state))) ?? to;
  const recovered = all.find(({ seq, state, score }) => {
    if (seq <= after.seq || !isBuilt(state)) return false;
    return kind === 'build' || score >= before.score - tolerance;
  });
  return {
    kind,
    candidates,
    culprit: isFound ? culpritOf(repo, points, first) : undefined,
    before: before.score,
    after: after.score,
    varies: second !== undefined && verdictOf(second, fall, tolerance) !== 'failed',
    recoveredAt: recovered?.seq,
  };
}

function culpritOf(repo: Repo, points: Points, seq: number): Culprit {
  const { author, message, task } = repo.commit(seq);
  return {
    ...points.mustPlace(seq),
    agent: author.agent ?? author.name,
    role: author.role ?? '',
    model: author.model ?? '',
    task: task ?? '',
    message: message.split('\n', 1)[0] ?? '',
  };
}
