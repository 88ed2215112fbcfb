import type { AdmittedIntent } from '../intent/edit.ts';
import { isRejected } from '../intent/reject.ts';
import type { LogReader } from '../log/log-reader.ts';
import { mergeAllQuickly } from '../merge/index.ts';
import { decide } from './decide.ts';
import { DecisionShelf } from './decision-shelf.ts';
import type { DriverChoice } from './driver-choice.ts';
import { LandingState } from './landing-state.ts';
import { StaleMerge } from './merge-stale.ts';
import { prepare } from './prepare.ts';
import { noExtras } from './prepared.ts';
import { RuleStore } from './rule-store.ts';

/** Whether a kept intent would land by now, merged where it has to be. Nothing is written; a landing may come between. */
export function wouldLand(
  reader: LogReader,
  choice: DriverChoice,
  kept: AdmittedIntent,
  rules = new RuleStore(reader),
): boolean {
  const intent = prepare(reader, kept, noExtras, 0);
  const branchId = reader.getBranchId(kept.branch);
  if (isRejected(intent) || branchId === undefined) return false;
  const { counters } = reader.store;
  const state = new LandingState(reader, branchId, {
    anyFreeze: counters.freezes > 0,
    anyHold: false,
    rules: rules.get(counters),
    shelf: new DecisionShelf(reader),
  });
  const verdict = decide(state, intent);
  if (verdict.kind !== 'stale') return verdict.kind === 'land' || verdict.kind === 'unchanged';
  const merge = new StaleMerge(reader, state, choice);
  const plan = merge.plan(intent, counters.lastSeq);
  // What cannot be told here and now is found out by trying.
  const results = mergeAllQuickly(plan.jobs);
  if (results === undefined) return false;
  const merged = merge.settle(intent, plan, results);
  if (merged.kind === 'conflict') return false;
  const again = decide(state, merged.intent);
  return again.kind === 'land' || again.kind === 'unchanged';
}
