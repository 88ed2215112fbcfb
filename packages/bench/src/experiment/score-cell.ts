import { join, resolve } from 'node:path';

import { openRepo } from '@mound/vcs';

import { scoreCurve, type CurveResult, type Scorer } from '../curve/index.ts';
import type { Experiment } from './experiment-file.ts';

/** Points of a curve, where the file does not say how many commits apart. */
const pointsDefault = 20;

export interface ScorePlace {
  readonly dir: string;
  /** undefined: it has landed nothing, and what it started with is scored. */
  readonly run: string | undefined;
  readonly isSandboxed: boolean;
  readonly signal: AbortSignal;
}

/** The score along a finished run's commits; undefined where the experiment has none. Killed, it goes on with the points that it has. */
export async function scoreCell(
  { score, build, thresholds, here }: Experiment,
  repo: string,
  { dir, run, isSandboxed, signal }: ScorePlace,
): Promise<CurveResult | undefined> {
  if (score === undefined) return undefined;
  const seqs = await commitsOf(repo);
  const last = seqs.at(-1);
  if (last === undefined) return undefined;
  const every = score.every ?? Math.ceil(seqs.length / pointsDefault);
  return scoreCurve({
    repo,
    ...(run === undefined ? { from: last, to: last } : { run }),
    scorer: scorerOf(score, here),
    ...(build !== undefined && { build: build.replaceAll('{here}', here) }),
    every: Math.max(1, every),
    thresholds,
    scoreSeconds: score.seconds,
    sandbox: isSandboxed ? 'required' : 'none',
    journal: join(dir, 'points.jsonl'),
    signal,
  });
}

function scorerOf(
  { command, corpus = '', engine = '', dialect, recordSeconds }: NonNullable<Experiment['score']>,
  here: string,
): Scorer {
  if (command !== undefined) return { kind: 'command', command: command.replaceAll('{here}', here) };
  return { kind: 'engine', corpus: resolve(here, corpus), engine, dialect, recordSeconds };
}

/** Seqs, oldest first. */
async function commitsOf(dir: string): Promise<number[]> {
  const repo = await openRepo(dir, { readOnly: true });
  try {
    const landings = [...repo.log()].filter(({ changes }) => changes.length > 0);
    return landings.map(({ seq }) => seq as number).toReversed();
  } finally {
    await repo.close();
  }
}
