import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';

import { throwIfInterrupted } from '../../harness/interrupt.ts';
import { makeResult } from '../../harness/make-result.ts';
import { type Sample } from '../../harness/result-file.ts';
import { runRounds } from '../../harness/rounds.ts';
import { isInMemory, withTempDir } from '../../harness/temp-dir.ts';
import { HotEdits } from '../../workloads/hot-edits.ts';
import { attempt, noControl, tailNotes, type Findings } from '../findings.ts';
import { ContentionArm } from './arm.ts';
import { overwritingContender } from './mound.ts';
import { contentionOptions, contentionParametersOf, type ContentionParameters } from './parameters.ts';
import { contentionSamples, type MeasuredArm } from './samples.ts';
import { contentionText } from './text.ts';
import type { Suite, SuiteContext, SuiteOutcome } from '../suite.ts';

export const contentionSuite: Suite = {
  name: 'contention',
  summary: 'Many agents edit the same few files at once: Mound beside git worktrees; what lands, conflicts, is lost',
  options: contentionOptions,
  run: (context) => runContentionSuite(contentionParametersOf(context.size, context.values), context),
};

/** The warm-up makes this part of a round's edits. */
const warmUpPart = 8;

type Context = Pick<SuiteContext, 'dir' | 'signal' | 'progress'>;

/** What happened besides the figures. */
export async function runContentionSuite(parameters: ContentionParameters, context: Context): Promise<SuiteOutcome> {
  return withTempDir(context.dir, async (dir): Promise<SuiteOutcome> => {
    const { files, agents, seed, rounds, commits } = parameters;
    const load = new HotEdits({ files, agents, seed });
    const findings: Findings = { notes: [load.describe()], dir, failed: false };
    if (await isInMemory(dir)) findings.notes.push('the directory lies in memory: a flush costs nothing there (--dir)');
    context.progress.begin(parameters.subjects.length * (rounds + 3));
    const arms: ContentionArm[] = [];
    try {
      await prepareAll(parameters, load, arms, findings, context);
      const ran = await measureAll(arms, parameters, load, findings, context);
      const measured = await readAllBack(ran, findings, context);
      if (parameters.control) checkControl(measured, findings);
      else findings.notes.push(noControl);
      const workload = {
        ...load.fields(),
        inFlight: agents,
        commits,
        backoff: parameters.backsOff,
        processes: 1,
        durability: 'flushed',
      };
      const title = `${agents} agents at once, ${files} files, ${rounds} rounds of ${commits} edits for each arm, interleaved`;
      const samples = contentionSamples(measured, workload);
      findings.notes.push(...tailNotes(samples));
      return await outcomeOf(title, measured, samples, findings);
    } finally {
      context.progress.end();
      for (const arm of arms) await arm.close().catch(() => undefined);
    }
  });
}

async function outcomeOf(
  title: string,
  measured: readonly MeasuredArm[],
  samples: readonly Sample[],
  { notes, failed }: Findings,
): Promise<SuiteOutcome> {
  const subjects = measured.map(({ arm }) => arm.subject);
  const told = subjects.map(({ name, onConflict }) => `a conflict in ${name}: ${onConflict}`);
  const result = await makeResult({ suite: contentionSuite.name, samples, notes: [...told, ...notes] });
  const text = contentionText({ title, machine: result.machine, subjects, samples, notes });
  return { kind: 'result', result, text, exitCode: failed ? 1 : 0 };
}

async function prepareAll(
  { subjects }: ContentionParameters,
  load: HotEdits,
  arms: ContentionArm[],
  findings: Findings,
  { signal, progress }: Context,
): Promise<void> {
  for (const subject of subjects) {
    throwIfInterrupted(signal);
    progress.step(`preparing ${subject.name}`);
    const available = await subject.available();
    if (available !== true) {
      findings.notes.push(`missing: ${subject.name} (needs ${available.missing})`);
      continue;
    }
    await attempt(subject.name, 'be prepared', findings, async () => {
      const dir = join(findings.dir, subject.name);
      await mkdir(dir);
      arms.push(await ContentionArm.prepare(subject, load, dir, signal));
    });
  }
  for (const arm of arms) findings.notes.push(...arm.notes);
}

/** The arms that went through all rounds. */
async function measureAll(
  arms: readonly ContentionArm[],
  { rounds, agents, commits, budgetMs }: ContentionParameters,
  load: HotEdits,
  findings: Findings,
  { signal, progress }: Context,
): Promise<ContentionArm[]> {
  const broken = new Set<ContentionArm>();
  await runRounds(arms, rounds, signal, async (arm, round) => {
    const { name } = arm.subject;
    progress.step(`${round < 0 ? 'warm-up' : `round ${round + 1} of ${rounds}`}: ${name}`);
    if (broken.has(arm)) return;
    const edits = load.round(round, round < 0 ? Math.min(agents, Math.ceil(commits / warmUpPart)) : commits);
    const ran = await attempt(name, 'commit', findings, () => arm.runRound(edits, { budgetMs, signal }));
    if (!ran) broken.add(arm);
  });
  for (const arm of arms) {
    const short = arm.rounds.filter(({ answered }) => answered < commits).length;
    if (short === 0) continue;
    findings.notes.push(`${arm.subject.name}: out of time (${budgetMs} ms) in ${short} of ${rounds} rounds`);
  }
  return arms.filter((arm) => !broken.has(arm));
}

async function readAllBack(
  arms: readonly ContentionArm[],
  findings: Findings,
  { signal, progress }: Context,
): Promise<MeasuredArm[]> {
  const measured: MeasuredArm[] = [];
  for (const arm of arms) {
    throwIfInterrupted(signal);
    const { name } = arm.subject;
    progress.step(`reading back ${name}`);
    await attempt(name, 'be read back', findings, async () => {
      const found = await arm.readBack();
      const { standing, replaced, aside, lost, faults } = found;
      measured.push({ arm, found });
      findings.notes.push(
        `read back from ${name}: ${standing} edits stand, ${replaced} were replaced by edits that had seen them, ` +
          `${aside} lie aside whole, ${lost.length} lost`,
      );
      if (faults.length > 0) throw new Error(`${faults.slice(0, 3).join('; ')} (${faults.length} faults)`);
      // What git or the control loses is a finding; what Mound loses is a broken promise.
      if (name === 'mound' && lost.length > 0) throw new Error(`${lost.map(({ id }) => id).join(', ')} lost`);
    });
  }
  return measured;
}

function checkControl(measured: readonly MeasuredArm[], findings: Findings): void {
  const control = measured.find(({ arm }) => arm.subject === overwritingContender);
  const shows = control !== undefined && control.found.lost.length > 0;
  if (!shows) findings.failed = true;
  findings.notes.push(
    `control: an arm that overwrites ${shows ? 'shows as losing edits' : 'DOES NOT SHOW as losing edits: trust nothing here'}`,
  );
}
