import { formatNumber } from '../../harness/format-number.ts';
import { throwIfInterrupted } from '../../harness/interrupt.ts';
import { makeResult } from '../../harness/make-result.ts';
import { type ResultFile, type Sample } from '../../harness/result-file.ts';
import { runRounds } from '../../harness/rounds.ts';
import { isInMemory, withTempDir } from '../../harness/temp-dir.ts';
import { commitSubjects, slowedMoundSubject, slowedMs, unwrittenSubjects } from '../../subjects/index.ts';
import type { Subject } from '../../subjects/subject.ts';
import { attempt, noControl, tailNotes, type Findings } from '../findings.ts';
import type { Suite, SuiteContext, SuiteOutcome } from '../suite.ts';
import { commitTargets, targetNotes } from '../targets.ts';
import { nameOfPlan, type ArmPlan, type CommitArm } from './arm.ts';
import { commitOptions, parametersOf, referenceName, type CommitParameters } from './parameters.ts';
import { plansOf, Workloads } from './plans.ts';
import { isProfiled, shareNote, shareSamples } from './profile.ts';
import { samplesOf, slowdownOf } from './samples.ts';

export const commitSuite: Suite = {
  name: 'commit',
  summary:
    'Durable commits per second under several loads: Mound, the floor program, git in six ways, SQLite in two, Fossil, Mercurial',
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
    const { rounds, budgetMs, warmUpMs } = parameters;
    findings.dir = dir;
    findings.notes.push(
      `${rounds} rounds of at most ${budgetMs} ms a subject and load after a warm-up of ${warmUpMs} ms at least, interleaved`,
    );
    findings.notes.push(
      'bytes/commit is growth on disk: a store that fills space it had already shows less, in short runs even 0',
    );
    if (await isInMemory(dir)) findings.notes.push('the directory lies in memory: a flush costs nothing there (--dir)');
    const workloads = new Workloads(parameters.seed);
    const plans = plansOf(parameters, await availableOf(parameters.subjects, findings), workloads);
    noteLimits(plans, findings);
    context.progress.begin(plans.length * (rounds + 3));
    const arms: CommitArm[] = [];
    try {
      await prepareAll(plans, workloads, arms, findings, context);
      const measured = await measureAll(arms, parameters, findings, context);
      const samples = samplesOf(measured);
      findings.notes.push(...tailNotes(samples), ...targetNotes(commitTargets, samples, referenceName));
      if (parameters.profile) samples.push(...(await profileAll(measured, parameters, findings, context)));
      await verifyAll(measured, findings, context);
      if (parameters.control) checkControl(measured, findings);
      else findings.notes.push(noControl);
      return await makeResult({ suite: 'commit', samples, notes: findings.notes, versions: await versionsOf(arms) });
    } finally {
      context.progress.end();
      for (const arm of arms) await arm.cleanup().catch(() => undefined);
    }
  });
  return { kind: 'result', result, exitCode: findings.failed ? 1 : 0 };
}

/** The subjects that are there; those that are not are told of. */
async function availableOf(subjects: readonly Subject[], findings: Findings): Promise<Subject[]> {
  const found: Subject[] = [];
  for (const subject of subjects) {
    const available = await subject.available();
    if (available === true) found.push(subject);
    else findings.notes.push(`missing: ${subject.name} (needs ${available.missing})`);
  }
  const isAll = commitSubjects.every((one) => subjects.includes(one));
  if (isAll) findings.notes.push(...unwrittenSubjects.map(({ name, why }) => `missing: ${name} (${why})`));
  return found;
}

async function versionsOf(arms: readonly CommitArm[]): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const { name, version } of new Set(arms.map(({ plan }) => plan.subject))) {
    const told = await version?.();
    if (told !== undefined) found[name] = told;
  }
  return found;
}

function noteLimits(plans: readonly ArmPlan[], findings: Findings): void {
  if (plans.length === 0) findings.notes.push('none of the subjects can be put under any of these loads');
  const oneAtATime = plans.filter(({ subject }) => subject.pace === 'one-at-a-time').map(({ subject }) => subject.name);
  if (oneAtATime.length > 0) {
    const names = [...new Set(oneAtATime)].join(', ');
    findings.notes.push(
      `one commit at a time in a process is all that these can do, so they stand beside every load: ${names}`,
    );
  }
  if (plans.some(({ load }) => load.processes > 1)) {
    findings.notes.push(
      'with several processes, in flight is for each of them, and the floor program is in its one process',
    );
  }
}

async function prepareAll(
  plans: readonly ArmPlan[],
  workloads: Workloads,
  arms: CommitArm[],
  findings: Findings,
  { signal, progress }: Pick<SuiteContext, 'signal' | 'progress'>,
): Promise<void> {
  for (const plan of plans) {
    throwIfInterrupted(signal);
    const name = nameOfPlan(plan);
    progress.step(`preparing ${name}`);
    await attempt(name, 'be prepared', findings, async () => {
      arms.push(await workloads.prepare(plan, findings.dir, signal));
    });
  }
  for (const note of new Set(arms.flatMap((arm) => arm.notes))) findings.notes.push(note);
}

/** The arms that went through all rounds. */
async function measureAll(
  arms: readonly CommitArm[],
  { rounds, budgetMs, warmUpMs, commitsMax }: CommitParameters,
  findings: Findings,
  { signal, progress }: Pick<SuiteContext, 'signal' | 'progress'>,
): Promise<CommitArm[]> {
  const broken = new Set<CommitArm>();
  await runRounds(arms, rounds, signal, async (arm, round) => {
    const isWarmUp = round < 0;
    progress.step(`${isWarmUp ? 'warm-up' : `round ${round + 1} of ${rounds}`}: ${nameOfPlan(arm.plan)}`);
    if (broken.has(arm)) return;
    const limits = { budgetMs: isWarmUp ? budgetMs / 4 : budgetMs, commitsMax };
    const from = performance.now();
    const ran = await attempt(nameOfPlan(arm.plan), 'commit', findings, async () => {
      // A process that compiles as it runs is slow for thousands of commits, each of several for itself.
      do await arm.runRound(limits, isWarmUp, signal);
      while (isWarmUp && performance.now() - from < warmUpMs);
    });
    if (!ran) broken.add(arm);
  });
  return arms.filter((arm) => !broken.has(arm));
}

async function profileAll(
  arms: readonly CommitArm[],
  { budgetMs, commitsMax }: CommitParameters,
  findings: Findings,
  { signal, progress }: Pick<SuiteContext, 'signal' | 'progress'>,
): Promise<Sample[]> {
  const samples: Sample[] = [];
  for (const arm of arms) {
    if (!isProfiled(arm)) continue;
    const name = nameOfPlan(arm.plan);
    progress.step(`profiling ${name}`);
    await attempt(name, 'be profiled', findings, async () => {
      samples.push(...(await shareSamples(arm, { budgetMs, commitsMax }, signal)));
    });
  }
  if (samples.length > 0) findings.notes.push(shareNote);
  return samples;
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
    progress.step(`reading back ${nameOfPlan(arm.plan)}`);
    await attempt(nameOfPlan(arm.plan), 'be read back', findings, async () => {
      const faults = await arm.verify();
      if (faults.length > 0) throw new Error(faults.join('; '));
      commits += arm.acknowledgedCount;
      held++;
    });
  }
  findings.notes.push(`read back: ${commits} acknowledged commits of ${held} of ${arms.length} arms are all there`);
}

function checkControl(arms: readonly CommitArm[], findings: Findings): void {
  const { shows, addedMs } = slowdownOf(arms, slowedMoundSubject.name, slowedMs);
  if (!shows) findings.failed = true;
  findings.notes.push(
    `control: the injected slowdown of ${slowedMs} ms a commit ${shows ? 'shows' : 'DOES NOT SHOW'} (${addedMs.map(formatNumber).join(', ')} ms by load)${shows ? '' : ': trust nothing here'}`,
  );
}
