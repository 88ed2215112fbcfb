import { throwIfInterrupted } from '../../harness/interrupt.ts';
import { makeResult } from '../../harness/make-result.ts';
import { type Sample, type WorkloadFields } from '../../harness/result-file.ts';
import { withTempDir } from '../../harness/temp-dir.ts';
import { generatedTriple, type MergeTriple } from '../../workloads/merge-triples.ts';
import { attempt, noControl, type Findings } from '../findings.ts';
import type { Suite, SuiteContext, SuiteOutcome } from '../suite.ts';
import { MergeArm } from './arm.ts';
import { checkControls } from './controls.ts';
import { DisagreementFiles } from './disagreement-files.ts';
import { timeLengths } from './lengths.ts';
import { mergesArgument, mergesOptions, mergesParametersOf, type MergesParameters } from './parameters.ts';
import { RecordedMerges } from './recorded-merges.ts';
import { Replay } from './replay.ts';
import { replaySamples } from './samples.ts';

export const mergesSuite: Suite = {
  name: 'merges',
  summary:
    "Three-way merges of files, of a git history or generated: Mound's drivers beside git, GNU diff3 and what people committed",
  argument: mergesArgument,
  options: mergesOptions,
  run: (context) => runMergesSuite(mergesParametersOf(context.size, context.values), context),
};

type Context = Pick<SuiteContext, 'dir' | 'signal' | 'progress'>;

/** Errors: `not-a-git-repository`, `git-missing`. */
export async function runMergesSuite(parameters: MergesParameters, context: Context): Promise<SuiteOutcome> {
  return withTempDir(context.dir, async (dir): Promise<SuiteOutcome> => {
    const findings: Findings = { notes: [], dir, failed: false };
    const arms: MergeArm[] = [];
    const recorded = await openRecorded(parameters, context.signal);
    const steps = recorded?.mergeCount ?? parameters.triples;
    try {
      context.progress.begin(steps + parameters.rounds);
      await openAll(parameters, arms, findings, context);
      const files = new DisagreementFiles(parameters.disagreements);
      const replay = new Replay(arms, parameters.mounds, files);
      await replay.run(triplesOf(parameters, recorded, context), context.signal);
      await files.end();
      if (recorded !== undefined) findings.notes.push(...historyNotes(recorded));
      const workload = workloadOf(parameters, replay.merges);
      const samples: Sample[] = replaySamples(replay, parameters.mounds, workload);
      samples.push(...(await timeLengths(arms, parameters, context)));
      if (parameters.control) checkControls(replay, findings);
      else findings.notes.push(noControl);
      const { notes, failed } = findings;
      const result = await makeResult({ suite: mergesSuite.name, samples, notes });
      return { kind: 'result', result, exitCode: failed ? 1 : 0 };
    } finally {
      context.progress.end();
      await recorded?.close();
      for (const arm of arms) await arm.close().catch(() => undefined);
    }
  });
}

async function openRecorded(parameters: MergesParameters, signal: AbortSignal): Promise<RecordedMerges | undefined> {
  const { gitDir, mergesMax, seed } = parameters;
  return gitDir === undefined ? undefined : RecordedMerges.open(gitDir, { mergesMax, seed }, signal);
}

async function openAll(
  { subjects }: MergesParameters,
  arms: MergeArm[],
  findings: Findings,
  { signal }: Context,
): Promise<void> {
  for (const subject of subjects) {
    throwIfInterrupted(signal);
    const available = await subject.available();
    if (available !== true) findings.notes.push(`missing: ${subject.name} (needs ${available.missing})`);
    else {
      await attempt(subject.name, 'be opened', findings, async () => {
        arms.push(await MergeArm.open(subject, findings.dir, signal));
      });
    }
  }
}

function triplesOf(
  { triples, seed }: MergesParameters,
  recorded: RecordedMerges | undefined,
  { signal, progress }: Context,
): AsyncIterable<MergeTriple> {
  if (recorded !== undefined) return recorded.triples(signal, () => progress.step('merges of the history'));
  return generated(seed, triples, () => progress.step('generated merges'));
}

async function* generated(seed: number, count: number, onTriple: () => void): AsyncGenerator<MergeTriple> {
  for (let index = 0; index < count; index++) {
    onTriple();
    yield generatedTriple(seed, index);
  }
}

const workloadOf = ({ gitDir, seed }: MergesParameters, merges: number): WorkloadFields => ({
  source: gitDir === undefined ? 'generated' : 'history',
  merges,
  seed,
});

function historyNotes({ counts }: RecordedMerges): string[] {
  const { merges, read, crissCross, withoutBase, otherFiles, repeated } = counts;
  return [
    `history: ${read} of ${merges} merges with two parents read; ${crissCross} of them have several merge bases and ` +
      `${withoutBase} none, and are left out`,
    `left out of the files that both sides changed: ${otherFiles} that are no files everywhere, or absent on a side; ` +
      `${repeated} whose three contents came before at the same path; renamed files are not followed`,
  ];
}
