import { join } from 'node:path';

import { throwIfInterrupted } from '../../harness/interrupt.ts';
import { makeResult } from '../../harness/make-result.ts';
import { sampleOf, type Sample } from '../../harness/result-file.ts';
import { medianOf } from '../../harness/statistics.ts';
import { withTempDir } from '../../harness/temp-dir.ts';
import { wholeNumber, type Suite, type SuiteContext, type SuiteOutcome, type SuiteSize } from '../suite.ts';
import { HotFile, type HotFileParameters, type Phase } from './hot-file.ts';

const sizes: Readonly<Record<SuiteSize, HotFileParameters & { readonly rounds: number }>> = {
  quick: { agents: 8, lines: 2048, modules: 128, edits: 200, seed: 1, rounds: 1 },
  default: { agents: 16, lines: 4096, modules: 512, edits: 1000, seed: 1, rounds: 3 },
  full: { agents: 16, lines: 4096, modules: 512, edits: 4000, seed: 1, rounds: 5 },
};

/** By how much stale retries must fall at least, and by how much they may in the control. */
const fallMin = 10;
const controlFallMax = 2;

interface Round {
  readonly before: Phase;
  readonly after: Phase;
}

const arms = ['split', 'control'] as const;

export const megafileSuite: Suite = {
  name: 'megafile',
  summary: 'Many agents edit one large file, before and after it is split; how often an edit is stale',
  options: [
    { flags: '--agents <n>', description: 'agents at once', parse: wholeNumber(2, 1000) },
    { flags: '--lines <n>', description: 'lines of the file', parse: wholeNumber(100, 100_000) },
    { flags: '--modules <n>', description: 'modules that it is split into', parse: wholeNumber(2, 10_000) },
    { flags: '--edits <n>', description: 'edits before, and as many after', parse: wholeNumber(10, 1_000_000) },
    { flags: '--rounds <n>', description: 'repositories of each arm', parse: wholeNumber(1, 100) },
    { flags: '--seed <n>', description: 'decides text and edits', parse: wholeNumber(0, 2 ** 31 - 1) },
  ],
  run: (context) => runMegafileSuite({ ...sizes[context.size], ...context.values }, context),
};

export async function runMegafileSuite(
  { rounds, ...parameters }: HotFileParameters & { readonly rounds: number },
  { dir: parent, signal, progress }: Pick<SuiteContext, 'dir' | 'signal' | 'progress'>,
): Promise<SuiteOutcome> {
  return withTempDir(parent, async (dir): Promise<SuiteOutcome> => {
    const found: Record<(typeof arms)[number], Round[]> = { split: [], control: [] };
    progress.begin(rounds * arms.length);
    try {
      for (let round = 0; round < rounds; round++) {
        for (const arm of arms) {
          throwIfInterrupted(signal);
          progress.step(`round ${round + 1} of ${rounds}: ${arm}`);
          const hot = await HotFile.create(join(dir, `${arm}-${round}`), {
            ...parameters,
            seed: parameters.seed + round,
          });
          try {
            const before = await hot.run('before');
            await hot.split(arm === 'control');
            found[arm].push({ before, after: await hot.run('after') });
          } finally {
            await hot.close();
          }
        }
      }
    } finally {
      progress.end();
    }
    const samples = arms.flatMap((arm) => samplesOf(arm, found[arm], parameters));
    const { notes, isRight } = judge(found);
    const result = await makeResult({ suite: megafileSuite.name, samples, notes });
    return { kind: 'result', result, exitCode: isRight ? 0 : 1 };
  });
}

const perCommit = ({ stale, landed }: Phase): number => stale / Math.max(1, landed);

/** An arm without one stale retry left counts as one, so that no fall is without bound. */
const fallOf = ({ before, after }: Round): number =>
  perCommit(before) / (Math.max(1, after.stale) / Math.max(1, after.landed));

function samplesOf(arm: string, rounds: readonly Round[], parameters: HotFileParameters): Sample[] {
  const { agents, lines, modules, edits, seed } = parameters;
  const common = { workload: 'megafile', arm, agents, lines, modules: arm === 'control' ? 1 : modules, edits, seed };
  const samples = (['before', 'after'] as const).flatMap((phase): Sample[] => {
    const workload = { ...common, phase };
    const of = (figure: (found: Phase) => number): number[] => rounds.map((round) => figure(round[phase]));
    return [
      sampleOf(
        'mound',
        workload,
        'commitsPerSecond',
        of(({ landed, seconds }) => landed / seconds),
      ),
      sampleOf('mound', workload, 'staleRetriesPerCommit', of(perCommit)),
      sampleOf(
        'mound',
        workload,
        'conflictsPerCommit',
        of(({ conflicts, landed }) => conflicts / Math.max(1, landed)),
      ),
      sampleOf(
        'mound',
        workload,
        'lostUpdates',
        of(({ lost }) => lost),
      ),
    ];
  });
  return [...samples, sampleOf('mound', common, 'staleRetriesFall', rounds.map(fallOf))];
}

function judge({ split, control }: Readonly<Record<(typeof arms)[number], readonly Round[]>>): {
  readonly notes: string[];
  readonly isRight: boolean;
} {
  const [fall, controlFall] = [split, control].map((rounds) =>
    rounds.length === 0 ? undefined : medianOf(rounds.map(fallOf)),
  );
  const lost = [...split, ...control].reduce((sum, { before, after }) => sum + before.lost + after.lost, 0);
  const isFallen = fall !== undefined && fall >= fallMin;
  const isControlled = controlFall !== undefined && controlFall <= controlFallMax;
  const shown = (value: number | undefined): string => (value ?? 0).toPrecision(3);
  return {
    isRight: isFallen && isControlled && lost === 0,
    notes: [
      `stale retries per landed edit fall ${shown(fall)} times${isFallen ? '' : `: less than the ${fallMin} that were asked for`}`,
      `control: a split that puts everything in one module shows ${shown(controlFall)} times` +
        (isControlled ? '' : ': it MUST NOT show a fall; trust nothing here'),
      `${lost} edits lost`,
    ],
  };
}
