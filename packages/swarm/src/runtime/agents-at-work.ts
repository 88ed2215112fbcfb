import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Repo } from '@mound/vcs';
import { rootTask, type AgentId, type TaskId } from '../core/ids.ts';
import { systemTime } from '../core/time.ts';
import { CostLedger, type CostSum } from '../cost/cost-ledger.ts';
import { PriceBook } from '../cost/prices.ts';
import { RunKeys } from './run-keys.ts';
import type { RunView } from './run-view.ts';
import { livesIn, sumLife } from './transcript-costs.ts';
import { readTranscript } from './transcript.ts';

/** An agent that has no record yet: it is at work, or was cut off. */
export interface AgentAtWork {
  readonly agent: AgentId;
  readonly role: string;
  readonly task: TaskId;
  readonly model: string;
  readonly turns: number;
  readonly cost: CostSum;
  readonly byModel: Readonly<Record<string, CostSum>>;
}

/** What agents have spent that have not ended, from their transcripts at their usual place. */
export function agentsAtWork(repo: Repo, { run, header }: RunView): AgentAtWork[] {
  const directory = join(repo.dir, '.mound', 'swarm', run);
  if (!existsSync(directory)) return [];
  const [keys, snapshot] = [new RunKeys(run), repo.snapshot()];
  const prices = new PriceBook(header.prices ?? [], systemTime);
  return readdirSync(directory)
    .filter((name) => name.endsWith('.jsonl'))
    .flatMap((name) => livesIn(readTranscript(join(directory, name)).lines))
    .flatMap(({ start, lines }): AgentAtWork[] => {
      const { agent, role, model, conflict, generation, task = rootTask } = start;
      const key = conflict === undefined ? keys.handoff(task, generation) : keys.merge(conflict, generation);
      if (snapshot.record(key) !== undefined) return [];
      const costs = new CostLedger(prices);
      const { turns } = sumLife(lines, costs, { role, agent, task });
      const { total, byModel } = costs.report();
      return [{ agent, role, task, model, turns, cost: total, byModel }];
    });
}
