import { expect, test } from 'vitest';
import { absent, type Repo } from '@mound/vcs';
import type { ReviewerBrief, WorkerBrief } from '../core/brief.ts';
import type { Lens, ReviewPolicy } from '../core/lens.ts';
import { ScriptedModel, type Script } from '../model/scripted-model.ts';
import { resumeSwarm, type SwarmResult } from './run-swarm.ts';
import { call, finish, human, newRepo, planInBatches, put, swarm, task } from './swarm.test.kit.ts';

const lens = (name: string): Lens => ({ name, sees: 'output', model: 'reviewer', persona: '', appliesTo: [], rate: 1 });
const review = (onBlocking: ReviewPolicy['onBlocking']): ReviewPolicy => ({
  onBlocking,
  lenses: [lens('first'), lens('second')],
});

interface Two {
  readonly repo: Repo;
  readonly asked: readonly string[];
  readonly stopped: SwarmResult;
  readonly resumed: SwarmResult;
}

/** One landing that both lenses find wrong; the process is stopped, at once, while the second looks. */
async function inTwo(
  policy: ReviewPolicy,
  between: (repo: Repo) => Promise<void> = async () => undefined,
): Promise<Two> {
  const repo = await newRepo({ start: 'x\n' });
  const stop = new AbortController();
  const asked: string[] = [];
  const reviewer: Script = ({ brief }, signal) => {
    const { lens: name } = brief as ReviewerBrief;
    asked.push(name);
    if (name === 'second' && !stop.signal.aborted) {
      stop.abort();
      signal.throwIfAborted();
    }
    const finding = { severity: 'blocking', path: 'a', from: 1, claim: 'wrong', evidence: 'line 1' };
    return { calls: [call('verdict', { findings: [finding] })] };
  };
  const worker: Script = ({ brief }) => {
    const { id } = (brief as WorkerBrief).task;
    const content = id.startsWith('fix-') ? 'right\n' : 'wrong\n';
    return { calls: [put([{ path: 'a', content }]), finish()] };
  };
  const model = new ScriptedModel({ planner: planInBatches([task('t', [])]), worker, reviewer });
  const models = { planner: model, worker: model, reviewer: model };
  const common = { repo, models, agentsMax: 1, policy: { review: policy } };
  const stopped = await swarm(repo, {}, { ...common, signal: stop.signal });
  await between(repo);
  return { repo, asked, stopped, resumed: await resumeSwarm({ ...common, runId: 'r1' }) };
}

test('a review that was under way is made anew, one that has a verdict is not; what it led to happens once', async () => {
  const { repo, asked, stopped, resumed } = await inTwo(review('task'));
  expect([stopped.reason, resumed.reason]).toEqual(['aborted', 'finished']);
  expect(asked).toEqual(['first', 'second', 'second']);
  expect(repo.snapshot().readText('a')).toBe('right\n');
  expect(repo.snapshot().records('swarm/r1/brief/fix-')).toHaveLength(1);
  expect(repo.snapshot().records('swarm/r1/review/')).toHaveLength(2);
  // The report is of the whole run.
  expect(resumed.review?.lenses).toMatchObject([
    { lens: 'first', calls: 1, findings: 1, confirmed: 1 },
    { lens: 'second', calls: 1, findings: 1, confirmed: 1, unique: 0 },
  ]);
  expect(resumed.review?.shareOfWork.tokens).toBeGreaterThan(0);
});

test('a verdict whose landing was to be taken back, by a process that died before it did, is followed', async () => {
  const { repo, resumed } = await inTwo(review('revert'));
  expect(resumed.reason).toBe('finished');
  const reverts = (of: Repo): number => [...of.log()].filter(({ message }) => message.startsWith('Take back')).length;
  expect([reverts(repo), repo.snapshot().head('a')]).toEqual([1, undefined]);

  // The verdict of the second lens stands, and nothing has come of it.
  const died = await inTwo({ ...review('revert'), lenses: [lens('second')] }, async (other) => {
    const [commit] = [...other.log()].filter(({ changes }) => changes.some(({ path }) => path === 'a'));
    const findings = [{ severity: 'blocking', path: 'a', claim: 'wrong', evidence: 'line 1' }];
    const value = JSON.stringify({ format: 1, seq: commit?.seq, lens: 'second', findings, tasks: [] });
    const key = `swarm/r1/review/${commit?.seq}/second`;
    await other.land({ author: human, message: 'verdict', records: [{ key, expect: absent, value }] });
  });
  expect(died.asked).toEqual(['second']);
  expect([reverts(died.repo), died.repo.snapshot().head('a')]).toEqual([1, undefined]);
});
