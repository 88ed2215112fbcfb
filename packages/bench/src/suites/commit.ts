import { throwIfInterrupted } from '../harness/interrupt.ts';
import { describeMachine } from '../harness/machine.ts';
import { formatVersion, type ResultFile } from '../harness/result-file.ts';
import { runRounds } from '../harness/rounds.ts';
import { isInMemory, withTempDir } from '../harness/temp-dir.ts';
import { slowedMoundSubject } from '../subjects/index.ts';
import type { Subject } from '../subjects/subject.ts';
import { W1 } from '../workloads/w1.ts';
import { attempt, type Findings } from './findings.ts';
import { CommitArm, type ArmPlan } from './commit-arm.ts';
import { commitOptions, parametersOf, type CommitParameters } from './commit-parameters.ts';
import { samplesOf, slowdownShows } from './commit-samples.ts';
import type { Suite, SuiteContext, SuiteOutcome } from './suite.ts';

export const commitSuite: Suite = {
  name: 'commit',
  summary: 'Durable commits per second: Mound, the floor program, git in three ways, isomorphic-git, SQLite',
  options: commitOptions,
  run: (context) => runCommitSuite(parametersOf(context.size, context.values), context),
};

/** What happened besides the figures. */
export async function runCommitSuite(
  parameters: CommitParameters,
  context: Pick<SuiteContext, 'dir' | 'signal' | 'progress'>,
): Promise<SuiteOutcome> {
  const findings: Findings = { notes: [], dir: '', failed: false };
  const result = await withTempDir(context.dir, async (dir): Promise<ResultFile> => {
    const { rounds, budgetMs } = parameters;
    findings.dir = dir;
    findings.notes.push(`W1, ${rounds} rounds of at most ${budgetMs} ms a subject after a warm-up, interleaved`);
    findings.notes.push(
      'bytes/commit is growth on disk: a store that fills space it had already shows less, in short runs even 0',
    );
    if (await isInMemory(dir)) findings.notes.push('the directory lies in memory: a flush costs nothing there (--dir)');
    const plans = await plansOf(parameters, findings);
    context.progress.begin(plans.length * (rounds + 3));
    const arms: CommitArm[] = [];
    try {
      await prepareAll(plans, dir, arms, findings, context);
      const measured = await measureAll(arms, parameters, findings, context);
      await verifyAll(measured, findings, context);
      if (parameters.control) checkControl(measured, findings);
      const machine = await describeMachine();
      return { suite: 'commit', formatVersion, machine, samples: samplesOf(measured), notes: findings.notes };
    } finally {
      context.progress.end();
      for (const arm of arms) await arm.cleanup().catch(() => undefined);
    }
  });
  return { kind: 'result', result, exitCode: findings.failed ? 1 : 0 };
}

/** Loads at which a subject is measured. */
function loadsOf(subject: Subject, inFlight: readonly number[]): readonly number[] {
  if (subject.pace === 'one-at-a-time') return [1];
  return subject.pace === 'stream' ? [Math.max(...inFlight)] : inFlight;
}

async function plansOf(parameters: CommitParameters, findings: Findings): Promise<ArmPlan[]> {
  const workload = new W1(parameters);
  const plans: ArmPlan[] = [];
  const oneAtATime: string[] = [];
  for (const subject of parameters.subjects) {
    const available = await subject.available();
    if (available !== true) {
      findings.notes.push(`missing: ${subject.name} (needs ${available.missing})`);
      continue;
    }
    if (subject.pace === 'one-at-a-time') oneAtATime.push(subject.name);
    for (const inFlight of loadsOf(subject, parameters.inFlight)) {
      const fields = { ...workload.fields(), inFlight, processes: 1, durability: subject.durability };
      plans.push({ subject, inFlight, files: workload.files, stream: workload.stream(inFlight), fields });
    }
  }
  if (oneAtATime.length > 0) {
    findings.notes.push(
      `one commit at a time is all that these can do, so they stand beside every load: ${oneAtATime.join(', ')}`,
    );
  }
  return plans;
}

async function prepareAll(
  plans: readonly ArmPlan[],
  dir: string,
  arms: CommitArm[],
  findings: Findings,
  { signal, progress }: Pick<SuiteContext, 'signal' | 'progress'>,
): Promise<void> {
  for (const plan of plans) {
    throwIfInterrupted(signal);
    const name = `${plan.subject.name} at ${plan.inFlight}`;
    progress.step(`preparing ${name}`);
    await attempt(name, 'be prepared', findings, async () => {
      arms.push(await CommitArm.prepare(plan, dir, signal));
    });
  }
  for (const note of new Set(arms.flatMap((arm) => arm.notes))) findings.notes.push(note);
}

/** The arms that went through all rounds. */
async function measureAll(
  arms: readonly CommitArm[],
  { rounds, budgetMs, commitsMax }: CommitParameters,
  findings: Findings,
  { signal, progress }: Pick<SuiteContext, 'signal' | 'progress'>,
): Promise<CommitArm[]> {
  const broken = new Set<CommitArm>();
  await runRounds(arms, rounds, signal, async (arm, round) => {
    const isWarmUp = round < 0;
    progress.step(`${isWarmUp ? 'warm-up' : `round ${round + 1} of ${rounds}`}: ${arm.name}`);
    if (broken.has(arm)) return;
    const limits = { budgetMs: isWarmUp ? budgetMs / 4 : budgetMs, commitsMax };
    const ran = await attempt(arm.name, 'commit', findings, () => arm.runRound(limits, isWarmUp, signal));
    if (!ran) broken.add(arm);
  });
  return arms.filter((arm) => !broken.has(arm));
}

async function verifyAll(
  arms: readonly CommitArm[],
  findings: Findings,
  { signal, progress }: Pick<SuiteContext, 'signal' | 'progress'>,
): Promise<void> {
  let commits = 0;
  let held = 0;
  for (const arm of arms) {
    throwIfInterrupted(signal);
    progress.step(`reading back ${arm.name}`);
    await attempt(arm.name, 'be read back', findings, async () => {
      const faults = await arm.verify();
      if (faults.length > 0) throw new Error(faults.join('; '));
      commits += arm.acknowledgedCount;
      held++;
    });
  }
  findings.notes.push(`read back: ${commits} acknowledged commits of ${held} of ${arms.length} arms are all there`);
}

function checkControl(arms: readonly CommitArm[], findings: Findings): void {
  const shows = slowdownShows(arms, slowedMoundSubject.name);
  if (!shows) findings.failed = true;
  findings.notes.push(
    `control: the injected slowdown of 1 ms a commit ${shows ? 'shows' : 'DOES NOT SHOW: trust nothing here'}`,
  );
}
