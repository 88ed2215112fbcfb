import { medianOf } from '../../harness/statistics.ts';
import { carelessMerges, slowedMerges } from '../../subjects/merges/mound.ts';
import type { Findings } from '../findings.ts';
import type { Replay } from './replay.ts';

/** The slowed Mound must show as slower, the careless one as merging what nobody else merges. */
export function checkControls(replay: Replay, findings: Findings): void {
  const [slowed, own] = [replay.ms.get(slowedMerges.name) ?? [], replay.ms.get('mound') ?? []];
  const isSlower = slowed.length > 0 && own.length > 0 && medianOf(slowed) >= medianOf(own) + 0.5;
  tell(findings, isSlower, 'a Mound that takes 1 ms longer for each merge', 'slower');
  const careless = replay.comparison.counts.get(carelessMerges.name);
  const isCareless = careless !== undefined && careless.cleanAgainstAll > 0;
  tell(findings, isCareless, "a Mound that takes current's lines in a conflict", 'merging what no other merges');
}

function tell(findings: Findings, shows: boolean, what: string, as: string): void {
  if (!shows) findings.failed = true;
  findings.notes.push(
    `control: ${what} ${shows ? 'shows' : 'DOES NOT SHOW'} as ${as}${shows ? '' : ': trust nothing here'}`,
  );
}
