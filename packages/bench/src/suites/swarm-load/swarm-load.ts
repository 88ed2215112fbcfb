import { makeResult } from '../../harness/make-result.ts';
import { isInMemory, withTempDir } from '../../harness/temp-dir.ts';
import type { Suite, SuiteContext, SuiteOutcome } from '../suite.ts';
import { runArm, type ArmRun } from './arm.ts';
import { swarmLoadOptions, swarmLoadRunOf, type SwarmLoadRun } from './parameters.ts';
import { answersOf, samplesOf, sustainedOf } from './samples.ts';

export const swarmLoadSuite: Suite = {
  name: 'swarm-load',
  summary: 'A thousand agents of several processes with the load of a real swarm: rate, latency, conflicts, losses',
  options: swarmLoadOptions,
  run: (context) => runSwarmLoadSuite(swarmLoadRunOf(context.size, context.values), context),
};

/** The control needs no longer to lose something. */
const controlSecondsMax = 5;

export async function runSwarmLoadSuite(
  run: SwarmLoadRun,
  { dir: parent, signal, progress }: Pick<SuiteContext, 'dir' | 'signal' | 'progress'>,
): Promise<SuiteOutcome> {
  return withTempDir(parent, async (dir): Promise<SuiteOutcome> => {
    const notes: string[] = [];
    if (await isInMemory(dir)) notes.push('the directory lies in memory: a flush costs nothing there (--dir)');
    progress.begin(2);
    try {
      const short = { ...run, seconds: Math.min(run.seconds, controlSecondsMax) };
      progress.step(`control: ${short.seconds} s of a Mound that overwrites`);
      const control = await runArm('control', short, true, dir, signal);
      progress.step(`${run.agents} agents, ${run.seconds} s`);
      const mound = await runArm('mound', run, false, dir, signal);
      const { isRight, told } = judge(mound, control, run);
      const samples = [...samplesOf('mound', run, mound), ...samplesOf('mound-overwriting', short, control)];
      const result = await makeResult({ suite: swarmLoadSuite.name, samples, notes: [...notes, ...told] });
      return { kind: 'result', result, exitCode: isRight ? 0 : 1 };
    } finally {
      progress.end();
    }
  });
}

const listed = (counts: ReadonlyMap<string, number>): string =>
  [...counts]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, count]) => `${name} ${count.toLocaleString('en-US')}`)
    .join(', ');

/** Losses, faults and a control that does not show fail the run; the rate never does. */
function judge(
  { processes, found }: ArmRun,
  control: ArmRun,
  run: SwarmLoadRun,
): { readonly isRight: boolean; readonly told: string[] } {
  const answers = answersOf(processes);
  const late = processes.reduce((sum, one) => sum + one.late, 0);
  const kinds = new Map<string, number>();
  for (const { kind } of answers) kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
  const shown = control.found.lost.length;
  return {
    isRight: found.lost.length === 0 && found.faults.length === 0 && shown > 0,
    told: [
      `offered ${run.rate.toLocaleString('en-US')} steps a second, sustained ${sustainedOf(answers, run).toFixed(0)}; ` +
        `${late.toLocaleString('en-US')} of ${answers.length.toLocaleString('en-US')} steps began late`,
      `answers: ${listed(kinds)}`,
      `read back: ${found.accounted.toLocaleString('en-US')} steps stand or were replaced by edits that had seen them, ` +
        `${found.aside.toLocaleString('en-US')} lie whole in ${found.openConflicts.toLocaleString('en-US')} open conflicts`,
      found.lost.length === 0
        ? 'nothing is lost'
        : `LOST: ${found.lost.length} steps, of them ${found.lost.slice(0, 5).join(', ')}`,
      ...found.faults.map((fault) => `FAULT: ${fault}`),
      `events: ${listed(found.events)}`,
      shown > 0
        ? `control: a Mound that overwrites loses ${shown.toLocaleString('en-US')} steps, and it shows`
        : 'control: a Mound that overwrites SHOWS NO LOSS; trust nothing here',
    ],
  };
}
