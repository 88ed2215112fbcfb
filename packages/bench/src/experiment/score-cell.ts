import { join, resolve } from 'node:path';

import { openRepo } from '@mound/vcs';

import { scoreCurve, type CurveResult, type Scorer } from '../curve/index.ts';
import type { Experiment } from './experiment-file.ts';

/** Points of a curve, where the file does not say how many commits apart. */
const pointsDefault = 20;

export interface ScorePlace {
  readonly dir: string;
  readonly run: string;
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
  const every = score.every ?? Math.ceil((await commitsOf(repo)) / pointsDefault);
  return scoreCurve({
    repo,
    run,
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
  // prettier-ignore
  if (command !== undefined) return { kind: 'command', command: command.replaceAll('{here}', here) };
  return { kind: 'engine', corpus: resolve(here, corpus), engine, dialect, recordSeconds };
}

async function commitsOf(dir: string): Promise<number> {
  const repo = await openRepo(dir, { readOnly: true });
  try {
    return [...repo.log()].filter(({ changes }) => changes.length > 0).length;
  } finally {
    await repo.close();
  }
}
