import { percentText } from '../harness/format-number.ts';
import { percentileOf } from '../harness/statistics.ts';
import type { Metric } from '../harness/metric.ts';
import { sampleOf, type Sample, type WorkloadFields } from '../harness/result-file.ts';
import { controlNote, curveSamples } from '../suites/curve/curve-samples.ts';
import type { CellResult } from './cell-result.ts';
import type { Cell } from './cells.ts';
import type { RoleSpend } from './measures/spend.ts';

/** A finished cell with what it came to. */
export interface Finished {
  readonly cell: Cell;
  readonly result: CellResult;
}

type Figure = readonly [Metric, (result: CellResult) => number | undefined];

/** What any minds show, scripts included. */
const mechanical: readonly Figure[] = [
  ['commitsPerRound', ({ commits }) => commits],
  ['conflictsTotal', ({ conflicts }) => conflicts],
  ['conflictsPerCommit', ({ commits, conflicts }) => conflicts / Math.max(1, commits)],
  ['tasksTotal', ({ tasks }) => tasks],
];

/** What depends on the judgement of a model: only of live or recorded runs. */
const judged: readonly Figure[] = [
  ['score', ({ score }) => score],
  ['conflictsPerAcceptedLine', ({ conflicts, acceptedLines }) => conflicts / Math.max(1, acceptedLines)],
  ['linesTotal', ({ size }) => size.lines],
  ['filesTotal', ({ size }) => size.files],
  ['largestFileLines', ({ size }) => size.largest[0]?.lines],
  ['duplicateShare', ({ duplicateShare }) => duplicateShare],
  ['buildPassShare', builtShare],
  ['similarityShare', ({ likeness }) => likeness?.share],
  ['dependencyViolations', ({ violations }) => violations.length],
]; // prettier-ignore

function builtShare({ curve }: CellResult): number | undefined {
  const tried = (curve?.points ?? []).filter(({ state }) => state !== 'empty');
  if (tried.length === 0) return undefined;
  return tried.filter(({ state }) => !state.startsWith('build-')).length / tried.length;
}

const ofRole: readonly (readonly [Metric, (spend: RoleSpend) => number | undefined])[] = [
  ['modelRequests', ({ requests }) => requests],
  ['costUsd', ({ usd }) => usd],
  ['unknownCostRequests', ({ unknownRequests }) => unknownRequests],
  ['inputTokens', ({ inputTokens }) => inputTokens],
  ['outputTokens', ({ outputTokens }) => outputTokens],
  ['contextTokensP50', ({ context }) => contextAt(context, 0.5)],
  ['contextTokensP99', ({ context }) => contextAt(context, 0.99)],
];

const contextAt = (context: readonly number[], share: number): number | undefined =>
  context.length === 0 ? undefined : percentileOf(Float64Array.from(context), share);

/** One value a seed; what a cell cannot tell is left out. */
export function samplesOf(experiment: string, finished: readonly Finished[]): Sample[] {
  const groups = grouped(finished);
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    if (first === undefined) return [];
    const { arm, mixName, mix, minds } = first.cell;
    const workload: WorkloadFields = { workload: 'experiment', experiment, mix: mixName, planner: mix.planner, worker: mix.worker, minds }; // prettier-ignore
    const results = group.map(({ result }) => result);
    const isJudged = minds !== 'scripted';
    const figures = [...(isJudged ? judged : []), ...mechanical];
    const time: Figure[] = minds === 'recorded' ? [] : [['wallSeconds', ({ seconds }) => seconds]];
    const roles = [...new Set(results.flatMap(({ spend }) => Object.keys(spend)))];
    return [
      ...[...figures, ...time].flatMap(([metric, of]) => sampled(arm, workload, metric, results.map(of))),
      ...(isJudged ? roles : []).flatMap((role) =>
        ofRole.flatMap(([metric, of]) =>
          sampled(
            arm,
            { ...workload, role },
            metric,
            results.map(({ spend }) => spend[role] && of(spend[role])),
          ),
        ),
      ),
      ...(isJudged ? group : []).flatMap(curveOf),
    ];
  });
}

/** Of a replay the time says nothing. */
function curveOf({ cell, result }: Finished): Sample[] {
  if (result.curve === undefined) return [];
  return curveSamples(cell.name, result.curve).flatMap((sample) => {
    if (cell.minds === 'live') return [sample];
    const { minutes: _, ...workload } = sample.workload;
    return sample.metric === 'minutesToShare' ? [] : [{ ...sample, workload }];
  });
}

function sampled(
  arm: string,
  workload: WorkloadFields,
  metric: Metric,
  values: readonly (number | undefined)[],
): Sample[] {
  const known = values.flatMap((value) => value ?? []);
  return known.length === 0 ? [] : [sampleOf(arm, workload, metric, known)];
}

/** By arm and mix. */
function grouped(finished: readonly Finished[]): Map<string, Finished[]> {
  const groups = new Map<string, Finished[]>();
  for (const one of finished) {
    const key = JSON.stringify([one.cell.arm, one.cell.mixName]);
    groups.set(key, [...(groups.get(key) ?? []), one]);
  }
  return groups;
}

/** What figures alone do not say. */
export function notesOf(finished: readonly Finished[], isScored: boolean): string[] {
  const minds = new Set(finished.map(({ cell }) => cell.minds));
  const reported = finished.filter(({ cell }) => cell.minds !== 'scripted');
  return [
    ...(minds.has('scripted')
      ? [`not measured where minds are scripts: ${judged.map(([metric]) => metric).join(', ')}, costs, tokens: they depend on what a model makes of it`]
      : []),
    ...(minds.has('recorded') ? ['recorded answers are replayed: costs and tokens are those of the recording, the order in which commits land may be another, and nothing is said of time'] : []),
    ...(isScored ? [] : ['score: not measured, the experiment names no way']),
    ...finished.flatMap(({ result }) => noteOf(result)),
    ...reported.flatMap(({ result: { cell, curve } }) =>
      curve === undefined ? [] : controlNote(curve).map((note) => `${cell}: ${note}`),
    ),
    ...reported.flatMap(({ result }) => likenessNote(result)),
    ...(reported.some(({ result }) => Object.values(result.spend).some(({ estimatedTokens }) => estimatedTokens))
      ? ['tokens that nobody reported are estimated by length: four bytes a token'] : []),
  ]; // prettier-ignore
}

function noteOf(result: CellResult): string[] {
  const { cell, minds, reason, detail, how, size, violations, score } = result;
  const largest = size.largest.map(({ path, lines }) => `${path} ${lines}`).join(', ');
  const told =
    minds === 'scripted'
      ? ''
      : `; score ${score === undefined ? 'not measured' : percentText(score, 2)}; longest files: ${largest || 'none'}`;
  const why = detail === undefined ? '' : ` (${detail})`;
  return [
    `${cell}: ended ${reason}${why}, ${how}${told}`,
    ...violations.slice(0, 5).map(({ path, dependency }) => `${cell}: FAULT: ${path} depends on ${dependency}, which is not allowed`),
  ]; // prettier-ignore
}

function likenessNote({ cell, likeness }: CellResult): string[] {
  if (likeness?.most === undefined) return [];
  const { path, share } = likeness.most;
  return [`${cell}: most like the references is ${path}: ${(share * 100).toFixed(1)} % of its shingles stand there`];
}
