import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openRepo, seededRandom } from '@mound/vcs';
import { makeModels, mustKeys } from '../config/make-models.ts';
import { settingsOf } from '../config/settings.ts';
import { corpusOf, type RealDiff } from '../review/corpus.ts';
import { realDiffs } from '../review/real-diffs.ts';
import { runReviewTrial } from '../runtime/review-trial.ts';
import { configOf, mustServe, type ConfigFlags } from './config-of-flags.ts';
import { scoreLines } from './review-lines.ts';
import type { Stops } from './run.ts';
import { UsageError } from './usage-error.ts';

export interface LensesFlags extends ConfigFlags {
  readonly cases: number;
  readonly seed: number;
  readonly json?: true;
}

/** Scores the configured lenses on changes of the repository's own history, every second with a seeded defect. */
export async function scoreLenses(flags: LensesFlags, stops: Stops): Promise<void> {
  const config = await configOf(flags, process.env);
  mustServe({ ...config, topology: { kind: 'solo' } });
  const review = settingsOf(config, '').policy?.review;
  if (review === undefined) throw new UsageError('the configuration names no lenses: review.lenses');
  mustKeys(config);
  const source = await openRepo(flags.repo, { readOnly: true });
  const dir = await mkdtemp(join(tmpdir(), 'mound-lenses-'));
  try {
    const diffs: readonly RealDiff[] = realDiffs(source, flags.cases);
    if (diffs.length === 0) throw new UsageError('no change of this repository can be read in one go');
    const { models, prices } = await makeModels(config, { repo: source });
    const score = await runReviewTrial({
      dir,
      cases: corpusOf(diffs, seededRandom(flags.seed)),
      lenses: review.lenses,
      models,
      prices,
      agentsMax: config.bounds.agents,
      signal: stops.soon,
    });
    console.log(flags.json ? JSON.stringify(score) : scoreLines(score).join('\n'));
  } finally {
    await source.close();
    await rm(dir, { recursive: true, force: true });
  }
}
