import { modelsAsked, type Cell } from './cells.ts';
import type { Experiment } from './experiment-file.ts';
import { missingFor } from './preparation.ts';

/** What an experiment would do, without asking any model. */
export interface DryRun {
  readonly experiment: string;
  readonly arms: readonly string[];
  readonly mixes: readonly string[];
  readonly seeds: number;
  readonly cells: readonly string[];
  readonly budget: Experiment['budget'];
  /** One line each; empty: it can begin. */
  readonly missing: readonly string[];
  /** US dollars; undefined: nobody can say, `why` tells the reason. */
  readonly usdAtMost: number | undefined;
  readonly why: string;
  readonly hoursAtMost: number | undefined;
}

export function dryRunOf(
  experiment: Experiment,
  cells: readonly Cell[],
  env: NodeJS.ProcessEnv,
  isSandboxed: boolean,
): DryRun {
  const { budget, name, seeds } = experiment;
  const minutes = budget.minutes;
  return {
    experiment: name,
    arms: [...new Set(cells.map(({ arm }) => arm))],
    mixes: [...new Set(cells.map(({ mixName }) => mixName))],
    seeds,
    cells: cells.map((cell) => cell.name),
    budget,
    missing: missingFor(experiment, cells, env, isSandboxed),
    ...costOf(experiment, cells),
    hoursAtMost: minutes === 'unlimited' ? undefined : (minutes * cells.length) / 60,
  };
}

function costOf({ budget: { usd } }: Experiment, cells: readonly Cell[]): Pick<DryRun, 'usdAtMost' | 'why'> {
  const paid = cells.filter(({ config }) =>
    modelsAsked(config).some(({ kind }) => kind === 'endpoint' || kind === 'command'),
  );
  if (paid.length === 0) return { usdAtMost: 0, why: 'no model is asked that costs: they are replayed, scripts or a mailbox' }; // prettier-ignore
  if (paid.some(({ unsafeWithout }) => unsafeWithout.includes('budgets'))) return { usdAtMost: undefined, why: 'an arm runs without budgets' }; // prettier-ignore
  if (usd === 'unlimited') return { usdAtMost: undefined, why: 'budget.usd bounds nothing' };
  return { usdAtMost: usd * paid.length, why: `${paid.length} runs of $${usd} at most; a request whose price nobody knows is not sent where money is bounded` }; // prettier-ignore
}

export function dryRunText(run: DryRun): string {
  const { usdAtMost, why, hoursAtMost } = run;
  const bounds = Object.entries(run.budget).map(([name, bound]) => `${name} ${bound}`);
  return [
    `${run.experiment}: ${run.cells.length} runs: ${run.arms.length} arms, ${run.mixes.length} mixes, ${run.seeds} seeds`,
    `arms: ${run.arms.join(', ')}`,
    `mixes: ${run.mixes.join(', ')}`,
    `each with: ${bounds.join(', ')}`,
    `cost at most: ${usdAtMost === undefined ? 'unknown' : `$${usdAtMost.toFixed(2)}`} (${why})`,
    `time at most: ${hoursAtMost === undefined ? 'unbounded (budget.minutes)' : `${hoursAtMost.toFixed(1)} h, one run after another`}`,
    ...(run.missing.length === 0 ? ['nothing is missing'] : run.missing.map((line) => `missing: ${line}`)),
  ].join('\n');
}
