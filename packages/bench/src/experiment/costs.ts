import { percentText } from '../harness/format-number.ts';
import type { EvidenceTable, Sample } from '../harness/result-file.ts';

/** Roles as they are told of: whose work a request was. */
export const rolesTold = ['planner', 'workers', 'merge', 'review'] as const;
export type RoleTold = (typeof rolesTold)[number];

const toldAs: Readonly<Record<string, RoleTold>> = {
  planner: 'planner',
  worker: 'workers',
  peer: 'workers',
  merger: 'merge',
  reconciler: 'merge',
  decomposer: 'merge',
  reviewer: 'review',
};

/** Money of which a part may be unknown. */
export interface Money {
  /** undefined: nobody knows what any of it cost. */
  readonly usd: number | undefined;
  readonly unknownRequests: number;
}

/** What one arm with one mix came to, medians of its seeds. */
export interface Spending {
  readonly arm: string;
  readonly mix: string;
  readonly planner: string;
  readonly worker: string;
  readonly isPublished: boolean;
  /** undefined: no such role spent anything. */
  readonly money: Readonly<Record<RoleTold, Money | undefined>>;
  readonly tokens: Readonly<Record<RoleTold, number>>;
  readonly score: number | undefined;
}

/** From samples of an experiment alone, in the order in which they stand there. */
export function spendingsOf(samples: readonly Sample[]): Spending[] {
  const own = samples.filter(({ workload }) => ['experiment', 'published'].includes(String(workload['workload'])));
  const byArm = new Map<string, Sample[]>();
  for (const sample of own) {
    const key = JSON.stringify([sample.subject, sample.workload['mix']]);
    byArm.set(key, [...(byArm.get(key) ?? []), sample]);
  }
  return [...byArm.values()].flatMap((group) => {
    const [first] = group;
    const withRole = group.filter(({ workload }) => workload['role'] !== undefined);
    if (first === undefined || withRole.length === 0) return [];
    const { subject, workload } = first;
    const text = (name: string): string => String(workload[name] ?? '');
    return [
      {
        arm: subject,
        mix: text('mix'),
        planner: text('planner'),
        worker: text('worker'),
        isPublished: workload['workload'] === 'published',
        money: eachRole((role) => moneyOf(withRole, role)),
        tokens: eachRole((role) => sumOf(withRole, role, 'inputTokens') + sumOf(withRole, role, 'outputTokens')),
        score: group.find(({ metric }) => metric === 'score')?.median,
      },
    ];
  });
}

const eachRole = <Value>(of: (role: RoleTold) => Value): Record<RoleTold, Value> =>
  Object.fromEntries(rolesTold.map((role) => [role, of(role)])) as Record<RoleTold, Value>;

const samplesOfRole = (samples: readonly Sample[], role: RoleTold): Sample[] =>
  samples.filter(({ workload }) => (toldAs[String(workload['role'])] ?? 'workers') === role);

const sumOf = (samples: readonly Sample[], role: RoleTold, metric: Sample['metric']): number =>
  samplesOfRole(samples, role).reduce((sum, one) => sum + (one.metric === metric ? one.median : 0), 0);

function moneyOf(samples: readonly Sample[], role: RoleTold): Money | undefined {
  const own = samplesOfRole(samples, role);
  if (own.length === 0) return undefined;
  const isKnown = own.some(({ metric }) => metric === 'costUsd');
  return {
    usd: isKnown ? sumOf(own, role, 'costUsd') : undefined,
    unknownRequests: sumOf(own, role, 'unknownCostRequests'),
  };
}

export function totalOf({ money }: Spending): Money {
  const all = Object.values(money).flatMap((one) => one ?? []);
  const known = all.flatMap(({ usd }) => usd ?? []);
  return {
    usd: known.length === 0 ? undefined : known.reduce((sum, usd) => sum + usd, 0),
    unknownRequests: all.reduce((sum, { unknownRequests }) => sum + unknownRequests, 0),
  };
}

/** `$1,192`, `$0.0123`, `unknown`, `$1.20 and 3 unknown`; nothing spent is `-`. Unknown is never 0. */
export function moneyText(money: Money | undefined): string {
  if (money === undefined) return '-';
  const { usd, unknownRequests } = money;
  if (usd === undefined) return 'unknown';
  const digits = usd >= 100 ? 0 : usd >= 1 ? 2 : 4;
  const text = `$${usd.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits })}`;
  return unknownRequests === 0 ? text : `${text} and ${unknownRequests} unknown`;
}

const plannerAndWorkers = ({ arm, mix, isPublished }: Spending): string[] => [isPublished ? `${arm}*` : arm, mix];

/** Whoever spent: planner and workers apart, merge and review with them; then, where there is one, the matrix. */
export function costTables(samples: readonly Sample[]): EvidenceTable[] {
  const all = spendingsOf(samples);
  if (all.every(({ isPublished }) => isPublished)) return [];
  const hasPublished = all.some(({ isPublished }) => isPublished);
  return [
    {
      title: 'What it cost, by role',
      caption: `US dollars of the whole run, from the ledger; merge: mergers, reconcilers, decomposers${hasPublished ? '; * as published, another task and other models, the planner’s part as a difference' : ''}. A price that nobody knows is unknown, not 0`,
      headers: ['arm', 'mix', ...rolesTold, 'total', 'planner’s part', 'workers’ tokens'],
      rows: all.map((one) => [
        ...plannerAndWorkers(one),
        ...rolesTold.map((role) => moneyText(one.money[role])),
        moneyText(totalOf(one)),
        plannerShare(one),
        workersShare(one),
      ]),
    },
    ...matricesOf(all).flatMap(({ arm, planners, workers, at }) => [
      matrixTable(`Cost of every planner with every worker, ${arm}`, 'US dollars of the whole run', planners, workers, (planner, worker) => {
        const found = at(planner, worker);
        return found === undefined ? '-' : moneyText(totalOf(found));
      }),
      matrixTable(`Score of every planner with every worker, ${arm}`, 'Share of the tests that are passed in the end', planners, workers, (planner, worker) => {
        const score = at(planner, worker)?.score;
        return score === undefined ? 'not measured' : percentText(score);
      }),
    ]),
  ]; // prettier-ignore
}

function plannerShare(spending: Spending): string {
  const { usd, unknownRequests } = totalOf(spending);
  const planner = spending.money.planner?.usd;
  return usd === undefined || usd === 0 || planner === undefined || unknownRequests > 0 ? 'unknown' : percentText(planner / usd);
} // prettier-ignore

function workersShare({ tokens, isPublished }: Spending): string {
  const all = Object.values(tokens).reduce((sum, one) => sum + one, 0);
  if (isPublished) return 'at least 69 %';
  return all === 0 ? '-' : percentText(tokens.workers / all);
}

function matrixTable(
  title: string,
  caption: string,
  planners: readonly string[],
  workers: readonly string[],
  cell: (planner: string, worker: string) => string,
): EvidenceTable {
  return {
    title,
    caption: `${caption}; a row a planner, a column a worker`,
    headers: ['planner', ...workers],
    rows: planners.map((planner) => [planner, ...workers.map((worker) => cell(planner, worker))]),
  };
}

export interface Matrix {
  readonly arm: string;
  readonly planners: readonly string[];
  readonly workers: readonly string[];
  readonly at: (planner: string, worker: string) => Spending | undefined;
}

/** Of each arm in which two planners or more met two workers or more. */
export function matricesOf(all: readonly Spending[]): Matrix[] {
  const own = all.filter(({ isPublished, planner }) => !isPublished && planner !== '');
  const arms = [...new Set(own.map(({ arm }) => arm))];
  return arms.flatMap((arm) => {
    const some = own.filter((one) => one.arm === arm);
    const planners = [...new Set(some.map(({ planner }) => planner))];
    const workers = [...new Set(some.map(({ worker }) => worker))];
    const isMatrix = planners.length > 1 && workers.length > 1 && some.length > Math.max(planners.length, workers.length); // prettier-ignore
    const at = (planner: string, worker: string): Spending | undefined =>
      some.find((one) => one.planner === planner && one.worker === worker);
    return isMatrix ? [{ arm, planners, workers, at }] : [];
  });
}
