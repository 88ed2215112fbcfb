import { sampleOf, type Sample } from '../harness/result-file.ts';

/** What the experiment that this one follows has published; shown beside what is measured, and never mixed with it. */
export const publishedSource = 'Cursor, "Agent swarms and the new model economics", 2026-07-20';

const usd: readonly (readonly [mix: string, workers: number, planner: number])[] = [
  ['one frontier model in both roles', 9373, 1192],
  ['frontier planner, cheap fast workers', 411, 928],
];

const engineLines: readonly (readonly [mix: string, oldSwarm: number, newSwarm: number])[] = [
  ['one mix', 64_305, 9908],
  ['another mix', 19_013, 4645],
];

export function publishedSamples(): Sample[] {
  const workload = { workload: 'published', source: publishedSource };
  return [
    ...usd.flatMap(([mix, workers, planner]) => [
      sampleOf('published', { ...workload, mix, role: 'planner' }, 'costUsd', [planner]),
      sampleOf('published', { ...workload, mix, role: 'worker' }, 'costUsd', [workers]),
    ]),
    ...engineLines.flatMap(([mix, before, after]) => [
      sampleOf('published: old swarm', { ...workload, mix }, 'linesTotal', [before]),
      sampleOf('published: new swarm', { ...workload, mix }, 'linesTotal', [after]),
    ]),
  ];
}

/** Figures that are ranges or bounds, which a sample would make more of than they are. */
export const publishedNotes: readonly string[] = [
  `published (${publishedSource}), another task and other models: the score on hidden tests after 4 h was 11 to 77 % with the old swarm, 73 to 85 % with the new one, whose best mix had two thirds within the first hour`,
  'published: over 70,000 conflicts in 2 h with the old swarm, under 1,000 in 4 h with the new one; the hottest file had 7,771 conflicts by 1,173 agents, then 47',
  'published: workers carry at least 69 % of the tokens, over 90 % in most runs; the planner’s cost is told as the difference between the total and the workers’',
];
