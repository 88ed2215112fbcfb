import { any, openRepo, type Author } from '@mound/vcs';
import type { WorkerBrief } from '../core/brief.ts';
import { allOff } from '../core/coordination.ts';
import type { RunId, TaskId } from '../core/ids.ts';
import type { Lens } from '../core/lens.ts';
import type { PriceOverride } from '../cost/prices.ts';
import type { Model } from '../model/model.ts';
import { ScriptedModel, type Script } from '../model/scripted-model.ts';
import type { ReviewCase } from '../review/corpus.ts';
import { scoreReviews, type CorpusScore } from '../review/score.ts';
import { runSwarm } from './run-swarm.ts';
import { RunKeys } from './run-keys.ts';
import { verdictsIn } from './verdicts.ts';

export interface ReviewTrialOptions {
  /** An empty directory, for the repository in which the cases land. */
  readonly dir: string;
  readonly cases: readonly ReviewCase[];
  /** Each looks at every case that it applies to, whatever its rate. */
  readonly lenses: readonly Lens[];
  /** By the names that lenses give. */
  readonly models: Readonly<Record<string, Model>>;
  readonly prices?: readonly PriceOverride[];
  readonly agentsMax: number;
  readonly signal?: AbortSignal;
}

const seeder: Author = { name: 'review-trial', kind: 'system' };
const run = 'trial' as RunId;

/** Nobody's work but the case's: it lands what was changed, and mends nothing that a reviewer finds. */
const worker: Script = ({ brief, turn }) => {
  const { input } = brief as WorkerBrief;
  const finish = (status: string): { name: string; arguments: { status: string } } => ({ name: 'finish', arguments: { status } }); // prettier-ignore
  if (input === undefined || turn > 0) return { calls: [finish('nothing-to-do')] };
  const { path, after, message } = input as { readonly path: string; readonly after: string; readonly message: string };
  const commit = { name: 'commit', arguments: { changes: [{ path, content: after }], message } };
  return { calls: [commit, finish('done')] };
};

/**
 * Has lenses review the cases of a corpus, in a run like any other, and says what each found of the defects. What the
 * reviewed changes cost to write is not known, so no share is told. Errors: those of `runSwarm`.
 */
export async function runReviewTrial(options: ReviewTrialOptions): Promise<CorpusScore> {
  const { dir, models, agentsMax, prices, signal } = options;
  // Apart from one another: two cases may be of one file.
  const placed = options.cases.map((one, at) => ({ ...one, path: `case${at}/${one.path}` }));
  const lenses = options.lenses.map((lens) => ({ ...lens, rate: 1, appliesTo: scopeOf(lens, options.cases) }));
  const repo = await openRepo(dir, { create: true });
  try {
    const changes = placed
      .filter(({ before }) => before !== '')
      .map(({ path, before }) => ({ kind: 'put', path, content: before, expect: any }) as const);
    if (changes.length > 0) await repo.land({ author: seeder, message: 'what stood before', changes });
    const { reason, detail } = await runSwarm({
      repo,
      goal: 'Review the cases',
      runId: run,
      models: { ...models, worker: new ScriptedModel({ worker }, 'the case itself') },
      agentsMax,
      tasks: placed.map(({ path, after, message }, at) => ({
        id: `case${at}` as TaskId,
        title: message.split('\n')[0] ?? '',
        brief: message,
        scope: [path],
        input: { path, after, message },
      })),
      policy: {
        thrashing: false,
        coordination: { ...allOff, lenses: 'on' },
        review: { lenses, onBlocking: 'task' },
      },
      limits: { fruitlessTasksMax: Number.MAX_SAFE_INTEGER },
      ...(prices !== undefined && { prices }),
      ...(signal !== undefined && { signal }),
    });
    if (reason !== 'finished') throw new Error(`the reviews ended early: ${reason}${detail ? ` (${detail})` : ''}`);
    return scoreReviews(placed, verdictsIn(repo.snapshot(), new RunKeys(run)), (seq) => {
      const [change] = repo.commit(seq).changes;
      return placed.find(({ path }) => path === change?.path);
    });
  } finally {
    await repo.close();
  }
}

/** The paths that a lens is for, where the cases stand now; one that is for none of them is for nothing. */
function scopeOf({ appliesTo }: Lens, cases: readonly ReviewCase[]): string[] {
  if (appliesTo.length === 0) return [];
  return cases.flatMap((_, at) => appliesTo.map((path) => `case${at}/${path}`));
}
