import { Interrupted } from '../harness/interrupt.ts';
import type { Sample } from '../harness/result-file.ts';

/** What a run notes beside its figures. */
export interface Findings {
  readonly notes: string[];
  /** The run's directory, which a result must not name. */
  dir: string;
  /** Something that must not be: exit code 1. */
  failed: boolean;
}

/** Where a suite's negative control takes so long that it has to be asked for. */
export const noControl = 'control: not run; --control or --full runs it';

/** What a tail latency is worth where there are few commits. */
export function tailNotes(samples: readonly Sample[]): string[] {
  const isFew = samples.some(({ metric, min }) => metric === 'commitsPerRound' && min < 100);
  return isFew ? ['p99 of a round with fewer than 100 commits is its slowest one'] : [];
}

/** Runs one step of one arm; an arm that fails is told of and left out, the others go on. */
export async function attempt(
  name: string,
  what: string,
  findings: Findings,
  step: () => Promise<void>,
): Promise<boolean> {
  try {
    await step();
    return true;
  } catch (error) {
    if (error instanceof Interrupted) throw error;
    findings.failed = true;
    const reason = (error instanceof Error ? error.message : String(error)).replaceAll(findings.dir, 'DIR');
    findings.notes.push(`failed: ${name} could not ${what}: ${reason}`);
    return false;
  }
}
