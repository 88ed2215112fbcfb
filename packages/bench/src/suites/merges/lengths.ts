import { sampleOf, type Sample, type WorkloadFields } from '../../harness/result-file.ts';
import { runRounds } from '../../harness/rounds.ts';
import { medianOf } from '../../harness/statistics.ts';
import { hardTriples, sizedTriple, type MergeTriple } from '../../workloads/merge-triples.ts';
import type { SuiteContext } from '../suite.ts';
import type { MergeArm } from './arm.ts';
import type { MergesParameters } from './parameters.ts';

interface Length {
  readonly workload: WorkloadFields;
  readonly triple: MergeTriple;
  /** Merges of one round; its figure is their median. */
  readonly times: number;
}

/** Merges of 200 to 20,000 lines, and those that an unbounded merge takes minutes for. */
function lengthsOf(seed: number): Length[] {
  const sized = [
    { lines: 200, edits: 2, times: 20 },
    { lines: 2_000, edits: 20, times: 5 },
    { lines: 20_000, edits: 200, times: 2 },
  ].map(({ lines, edits, times }) => ({
    workload: { source: 'timed', lines, editsPerSide: edits },
    triple: sizedTriple(seed, lines, edits),
    times,
  }));
  const hard = hardTriples(seed).map((triple) => ({
    workload: { source: 'timed', input: triple.origin },
    triple,
    times: 1,
  }));
  return [...sized, ...hard];
}

/** Interleaved rounds; a ratio is taken within each. */
export async function timeLengths(
  arms: readonly MergeArm[],
  { rounds, seed }: MergesParameters,
  { signal, progress }: Pick<SuiteContext, 'signal' | 'progress'>,
): Promise<Sample[]> {
  if (rounds === 0) return [];
  const lengths = lengthsOf(seed);
  /** By arm and length: a figure a round. */
  const figures = new Map(arms.map((arm) => [arm, lengths.map((): number[] => [])]));
  await runRounds(arms, rounds, signal, async (arm, round) => {
    if (arm === arms[0]) progress.step('timed lengths');
    for (const [at, { triple, times }] of lengths.entries()) {
      const { ms } = await arm.merge(Array.from({ length: times }, () => triple));
      if (round >= 0) figures.get(arm)?.[at]?.push(medianOf(ms));
    }
  });
  const samples: Sample[] = [];
  for (const [arm, perLength] of figures) {
    perLength.forEach((ms, at) => {
      samples.push(sampleOf(arm.name, (lengths[at] as Length).workload, 'mergeMsP50', ms));
    });
  }
  const own = arms.find(({ name }) => name === 'mound');
  for (const [arm, perLength] of figures) {
    if (own === undefined || arm.name.startsWith(own.name)) continue;
    perLength.forEach((ms, at) => {
      const ratios = ms.map((value, round) => value / (figures.get(own)?.[at]?.[round] ?? value));
      const { workload } = lengths[at] as Length;
      samples.push(sampleOf(own.name, { ...workload, peer: arm.name }, 'ratioToPeer', ratios));
    });
  }
  return samples;
}
