import { realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { relative, resolve } from 'node:path';

import { detectSandbox } from '@mound/swarm';
import { MoundError, openRepo, type Repo } from '@mound/vcs';

import { LineJournal } from '../harness/line-journal.ts';
import { publishedThresholds, type CurvePoint, type CurveResult } from './curve.ts';
import { reached, steps } from './plan.ts';
import { pointJournalForm, Points, type PointRow } from './points.ts';
import { findRegressions } from './regressions.ts';
import { runCommits, type RunCommits } from './run-commits.ts';
import { identityOf, type Scorer } from './scorer.ts';

const secondsDefault = 600;

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
    return await curveOf(repo, commits, options, sandbox);
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
): Promise<LineJournal<PointRow> | undefined> {
  if (options.journal === undefined) return undefined;
  const { branch = 'main', build = '', scorer, buildSeconds = secondsDefault, scoreSeconds = secondsDefault } = options;
  const score = await identityOf(scorer);
  const head = { repository: repo.repoId, branch, build, score, sandbox, buildSeconds, scoreSeconds };
  const journal = LineJournal.open(options.journal, pointJournalForm, head);
  if (typeof journal === 'string') throw new MoundError('invalid-argument', journal);
  return journal;
}

async function curveOf(
  repo: Repo,
  { places, run, startedAt }: RunCommits,
  options: CurveOptions,
  sandbox: CurveResult['sandbox'],
): Promise<CurveResult> {
  const { every = 1, tolerance = 0, regressionsMax = 20, thresholds = publishedThresholds } = options;
  const points = new Points({
    repo,
    places,
    branch: options.branch ?? 'main',
    build: options.build,
    scorer: options.scorer,
    sandbox,
    buildSeconds: options.buildSeconds ?? secondsDefault,
    scoreSeconds: options.scoreSeconds ?? secondsDefault,
    dir: options.dir,
    journal: await openJournal(repo, options, sandbox),
    signal: options.signal ?? new AbortController().signal,
    onPoint: options.onPoint,
  });
  const chosen = steps(places.length - 1, every).flatMap((at) => places[at] ?? []);
  options.onPlan?.(chosen.length);
  for (const place of chosen) await points.score(place);
  await points.countTests();
  const regressions = await findRegressions(repo, points, { tolerance, regressionsMax });
  const control = await points.scoreBare();
  const all = points.all();
  return {
    run,
    startedAt,
    commits: places.length - 1,
    every,
    sandbox,
    points: all,
    regressions,
    reached: reached(all, thresholds),
    control,
  };
}
