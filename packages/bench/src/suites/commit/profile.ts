import { profileCpu, type CpuProfile } from '../../harness/cpu-profile.ts';
import { sampleOf, type Sample } from '../../harness/result-file.ts';
import type { CommitArm, RoundLimits } from './arm.ts';
import { referenceName } from './parameters.ts';
import { sharesOf } from './shares.ts';

export const shareNote =
  'share: one more run under V8’s profiler, outside the rounds: self time in the main thread by the code it was in ' +
  '(Node’s own code counts for its caller); flush and ready are what the kernel saw of it: standing, and wanting to run without a processor';

export const isProfiled = ({ plan: { subject, load } }: CommitArm): boolean =>
  subject.name === referenceName && load.processes === 1;

/** Where Mound's time goes: one profiled run of an arm in this process, read back with the rest. */
export async function shareSamples(arm: CommitArm, limits: RoundLimits, signal: AbortSignal): Promise<Sample[]> {
  const profiled: CpuProfile[] = [];
  const around = async (run: () => Promise<void>): Promise<void> => {
    profiled.push(await profileCpu(run));
  };
  await arm.runRound({ ...limits, around }, true, signal);
  const { subject, fields } = arm.plan;
  return profiled
    .flatMap((found) => [...sharesOf(found)])
    .map(([phase, share]) => sampleOf(subject.name, { ...fields, phase }, 'share', [share]));
}
