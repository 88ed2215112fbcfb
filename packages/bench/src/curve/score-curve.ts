import { realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';

import { detectSandbox } from '@mound/swarm';
import { firstBad, MoundError, openRepo, type CheckVerdict, type Repo } from '@mound/vcs';

import { LineJournal, type JournalForm } from '../harness/line-journal.ts';
import {
  pointStates,
  publishedThresholds,
  type CommitPlace,
  type Culprit,
  type CurvePoint,
  type CurveResult,
  type Regression,
  type Scored,
} from './curve.ts';
import { falls, isBuilt, isLower, reached, steps, type Fall } from './plan.ts';
import { runCommits, type RunCommits } from './run-commits.ts';
import { scoreSnapshot } from './score-snapshot.ts';
import { identityOf, totalOf, type Scorer } from './scorer.ts';

export interface CurveOptions {
  /** Directory that holds the repository's `.mound`; it is only read. */
  readonly repo: string;
  /** Default: `main`. */
  readonly branch?: string;
  /** A swarm's run; default: the newest that landed something, else all commits. */
  readonly run?: string;
  /** Seqs of the first and the last commit, where it is not a run's. */
  readonly from?: number;
  readonly to?: number;
  /** For the shell, in the directory of a snapshot; default: nothing is built. */
  readonly build?: string;
  readonly scorer: Scorer;
  /** Commits between two points. Default: 1. */
  readonly every?: number;
  /** Share by which a score may fall unnoticed. Default: 0. */
  readonly tolerance?: number;
  /** Falls whose commit is looked for. Default: 20. */
  readonly regressionsMax?: number;
  /** From 0 to 1. Default: {@link publishedThresholds}. */
  readonly thresholds?: readonly number[];
  /** Default 600, each. */
  readonly buildSeconds?: number;
  readonly scoreSeconds?: number;
  /** `required` (the default): nothing is run where none works. `none`: without one, with the network and all files. */
  readonly sandbox?: 'required' | 'none';
  /** File that keeps the points; what it has is not scored again. */
  readonly journal?: string;
  /** Parent of temporary directories, outside of the repository. Default: the system's. */
  readonly dir?: string;
  readonly signal?: AbortSignal;
  /** Told of each point, also of those that the journal had. */
  readonly onPoint?: (point: CurvePoint) => void;
  /** Told once how many points there will be at least. */
  readonly onPlan?: (points: number) => void;
}

type Row = Scored & { readonly seq: number };

const journalForm: JournalForm<Row> = {
  kind: 'curve-journal',
  version: 1,
  rowOf: (value) => {
    const row = value as Partial<Row> | null | undefined;
    const isRow = typeof row?.seq === 'number' && row.state !== undefined && pointStates.includes(row.state);
    return isRow ? (row as Row) : undefined;
  },
};

/**
 * Scores what stood in a repository along the commits of a run, each in a new directory and without a network, and
 * looks for the commits that made it worse. It can be killed at any point and, with a journal, run again.
 * Errors: `invalid-argument` (no such run or commits, no sandbox, a journal of something else), those of `openRepo`,
 * `Interrupted`.
 */
export async function scoreCurve(options: CurveOptions): Promise<CurveResult> {
  const parent = resolve(options.dir ?? tmpdir());
  const sandbox = sandboxFor(options, parent);
  const repo = await openRepo(options.repo, { readOnly: true });
  try {
    const home = realpathSync(repo.dir);
    if (isWithin(parent, home))
      throw new MoundError('invalid-argument', `${parent} is in the repository; name a directory outside of it`);
    if (options.scorer.kind === 'engine' && isWithin(parent, realpathSync(options.scorer.corpus)))
      throw new MoundError(
        'invalid-argument',
        `${parent} is in the corpus, which nobody is to see; name another directory`,
      );
    const { branch = 'main', run, from, to } = options;
    const commits = runCommits(repo, { branch, ...definedOf({ run, from, to }) });
    return await new CurveRun(repo, commits, options, sandbox, await openJournal(repo, options, sandbox)).result();
  } finally {
    await repo.close();
  }
}

/** Also where it is the same. */
const isWithin = (path: string, dir: string): boolean => !`${relative(dir, path)}/`.startsWith('../');

function definedOf<Value extends object>(value: Value): { [Key in keyof Value]: Exclude<Value[Key], undefined> } {
  return Object.fromEntries(Object.entries(value).filter(([, one]) => one !== undefined)) as never;
}

function sandboxFor({ sandbox = 'required' }: CurveOptions, dir: string): CurveResult['sandbox'] {
  if (sandbox === 'none') return 'none';
  const found = detectSandbox(dir, ['bubblewrap', 'unshare']);
  if (found !== 'none') return found;
  const message =
    'neither bubblewrap nor unshare works here, and nothing is run with a network within reach; install bubblewrap, or say --no-sandbox';
  throw new MoundError('invalid-argument', message);
}

async function openJournal(
  repo: Repo,
  options: CurveOptions,
  sandbox: CurveResult['sandbox'],
): Promise<LineJournal<Row> | undefined> {
  if (options.journal === undefined) return undefined;
  const { branch = 'main', build = '', scorer, buildSeconds = 600, scoreSeconds = 600 } = options;
  const score = await identityOf(scorer);
  const head = { repository: repo.repoId, branch, build, score, sandbox, buildSeconds, scoreSeconds };
  const journal = LineJournal.open(options.journal, journalForm, head);
  if (typeof journal === 'string') throw new MoundError('invalid-argument', journal);
  return journal;
}

/** What was found before what only may be. */
const inOrder = ({ candidates: a }: Regression, { candidates: b }: Regression): number =>
  (a[0] ?? 0) - (b[0] ?? 0) || a.length - b.length;

class CurveRun {
  readonly #repo: Repo;
  readonly #commits: RunCommits;
  readonly #options: CurveOptions;
  readonly #sandbox: CurveResult['sandbox'];
  readonly #journal: LineJournal<Row> | undefined;
  readonly #signal: AbortSignal;
  readonly #rows: Map<number, Scored>;
  readonly #told = new Set<number>();
  #total = 0;

  constructor(
    repo: Repo,
    commits: RunCommits,
    options: CurveOptions,
    sandbox: CurveResult['sandbox'],
    journal: LineJournal<Row> | undefined,
  ) {
    this.#repo = repo;
    this.#commits = commits;
    this.#options = options;
    this.#sandbox = sandbox;
    this.#journal = journal;
    this.#signal = options.signal ?? new AbortController().signal;
    this.#rows = new Map(journal?.rows.map(({ seq, ...scored }) => [seq, scored]));
  }

  async result(): Promise<CurveResult> {
    const { places, run, startedAt } = this.#commits;
    const { every = 1, tolerance = 0, regressionsMax = 20, thresholds = publishedThresholds } = this.#options;
    const chosen = steps(places.length - 1, every).flatMap((at) => places[at] ?? []);
    this.#options.onPlan?.(chosen.length);
    for (const place of chosen) await this.#score(place);
    if (this.#knownTotal() === 0) this.#total = await totalOf(this.#options.scorer);
    const regressions: Regression[] = [];
    // What is scored on the way may show more of them.
    for (let fall = this.#nextFall(regressions, tolerance); fall !== undefined;) {
      const { from, to } = fall;
      const range = places.filter(({ seq }) => seq > from.seq && seq <= to.seq);
      const isSought = regressions.length < regressionsMax;
      const candidates = isSought ? await this.#narrow(fall, range, tolerance) : range.map(({ seq }) => seq);
      regressions.push(this.#regression(fall, candidates, tolerance));
      fall = this.#nextFall(regressions, tolerance);
    }
    const points = this.#points();
    return {
      run,
      startedAt,
      commits: places.length - 1,
      every,
      sandbox: this.#sandbox,
      points,
      regressions: regressions.toSorted(inOrder),
      reached: reached(points, thresholds),
    };
  }

  async #score(place: CommitPlace): Promise<CurvePoint> {
    if (!this.#rows.has(place.seq)) {
      const { branch = 'main', build, scorer, buildSeconds = 600, scoreSeconds = 600, dir } = this.#options;
      const scored = await scoreSnapshot(place.seq === 0 ? undefined : this.#repo.snapshot(place.seq, branch), {
        build,
        scorer: scorer.kind === 'engine' ? { ...scorer, corpus: realpathSync(scorer.corpus) } : scorer,
        sandbox: this.#sandbox,
        hidden: [join(realpathSync(this.#repo.dir), '.mound')],
        buildSeconds,
        scoreSeconds,
        dir,
        signal: this.#signal,
      });
      this.#journal?.add({ seq: place.seq, ...scored });
      this.#rows.set(place.seq, scored);
    }
    const point = this.#pointOf(place);
    if (!this.#told.has(place.seq)) this.#options.onPoint?.(point);
    this.#told.add(place.seq);
    return point;
  }

  /** Where nothing was asked, the total is what it was elsewhere. */
  #pointOf(place: CommitPlace): CurvePoint {
    const scored = this.#rows.get(place.seq);
    if (scored === undefined) throw new Error(`seq ${place.seq} was not scored`);
    const known = scored.total || this.#knownTotal();
    return { ...place, ...scored, total: known, score: known === 0 ? 0 : scored.passed / known };
  }

  #knownTotal(): number {
    return Math.max(this.#total, ...[...this.#rows.values()].map(({ total }) => total));
  }

  /** Those that are scored by now. */
  #points(): CurvePoint[] {
    return this.#commits.places.filter(({ seq }) => this.#told.has(seq)).map((place) => this.#pointOf(place));
  }

  #mustPlace(seq: number): CommitPlace {
    const place = this.#commits.places.find((one) => one.seq === seq);
    if (place === undefined) throw new Error(`seq ${seq} is no commit of the run`);
    return place;
  }

  /** The first that no regression tells of yet. */
  #nextFall(known: readonly Regression[], tolerance: number): Fall | undefined {
    return falls(this.#points(), tolerance).find(
      ({ kind, from, to }) =>
        !known.some((one) => one.kind === kind && one.candidates.some((seq) => seq > from.seq && seq <= to.seq)),
    );
  }

  #narrow({ kind, from }: Fall, range: readonly CommitPlace[], tolerance: number): Promise<number[]> {
    const tryOne = async (seq: number): Promise<CheckVerdict> => {
      const point = await this.#score(this.#mustPlace(seq));
      const built = isBuilt(point.state);
      if (kind === 'build') return built ? 'passed' : 'failed';
      if (!built) return 'skipped';
      return isLower(point, from, tolerance) ? 'failed' : 'passed';
    };
    return firstBad(
      range.map(({ seq }) => seq),
      tryOne,
    );
  }

  #regression({ kind, from, to }: Fall, candidates: readonly number[], tolerance: number): Regression {
    const points = this.#points();
    const [first = to.seq] = candidates;
    const last = candidates.at(-1) ?? to.seq;
    const before = points.findLast(({ seq, state }) => seq < first && isBuilt(state)) ?? from;
    const after = points.find(({ seq, state }) => seq >= last && (kind === 'build' || isBuilt(state))) ?? to;
    const recovered = points.find(({ seq, state, score }) => {
      if (seq <= after.seq || !isBuilt(state)) return false;
      return kind === 'build' || score >= before.score - tolerance;
    });
    return {
      kind,
      candidates,
      culprit: candidates.length === 1 ? this.#culprit(first) : undefined,
      before: before.score,
      after: after.score,
      recoveredAt: recovered?.seq,
    };
  }

  #culprit(seq: number): Culprit {
    const { author, message, task } = this.#repo.commit(seq);
    return {
      ...this.#mustPlace(seq),
      agent: author.agent ?? author.name,
      role: author.role ?? '',
      model: author.model ?? '',
      task: task ?? '',
      message: message.split('\n', 1)[0] ?? '',
    };
  }
}
