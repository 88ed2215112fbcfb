import { any, type RecordWrite } from '@mound/vcs';
import { rootTask } from '../core/ids.ts';
import { fightsIn } from './contradictions.ts';
import type { RunContext } from './run-context.ts';
import { sha256 } from './run-header.ts';
import type { RunKeys } from './run-keys.ts';
import type { Swarm } from './swarm.ts';

/** Lands with a settlement: what was fought over before it is over. */
export const settlementRecords = (keys: RunKeys, paths: readonly string[], decision: string): RecordWrite[] =>
  paths.map((path) => ({
    key: keys.settled(sha256(path)),
    expect: any,
    value: JSON.stringify({ format: 1, path, decision }),
  }));

/** Fights over files that no reconciler has settled, as the log tells of them since the run began. `until`: a seq. */
export function restoreFights(context: RunContext, swarm: Swarm, until: number): void {
  if (!context.isOn('reconciler')) return;
  const { repo, keys } = context;
  const snapshot = repo.snapshot();
  const begun = snapshot.record(keys.brief(rootTask))?.version;
  if (begun === undefined) return;
  const settledAt = (path: string): number => snapshot.record(keys.settled(sha256(path)))?.version ?? 0;
  for (const event of repo.events({ seq: begun, index: Number.MAX_SAFE_INTEGER })) {
    if (event.seq > until) return;
    if (event.kind !== 'file.oscillated' && event.kind !== 'conflict.opened') continue;
    for (const fight of fightsIn(context, event)) {
      if (fight.kind === 'path.contested' && event.seq > settledAt(fight.path)) swarm.dispatch(fight);
    }
  }
}
