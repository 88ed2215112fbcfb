import { readdirSync } from 'node:fs';
import { join } from 'node:path';

import { any, openRepo } from '@mound/vcs';
import { describe, expect, test } from 'vitest';

import { parseResultFile } from '../../harness/result-file.ts';
import { withTempDir } from '../../harness/temp-dir.ts';
import { seedMound } from '../../subjects/mound.ts';
import { SwarmLoad } from '../../workloads/swarm-load.ts';
import { noProgress } from '../suite.ts';
import { Agents, type AgentsRun } from './agents.ts';
import { swarmLoadRunOf } from './parameters.ts';
import { readBack } from './read-back.ts';
import { runSwarmLoadSuite } from './swarm-load.ts';

const tiny = { ...swarmLoadRunOf('quick', {}), agents: 24, rate: 60, seconds: 2, thinkMs: 150, megafileLines: 240 };
const never = new AbortController().signal;

test('a tiny run: nothing is lost, the control loses, nothing is left behind', async () => {
  await withTempDir(undefined, async (dir) => {
    const outcome = await runSwarmLoadSuite(tiny, { dir, signal: never, progress: noProgress });
    if (outcome.kind !== 'result') throw new Error('no result file');
    const { samples, notes } = outcome.result;
    expect(parseResultFile(JSON.stringify(outcome.result))).toMatchObject({ suite: 'swarm-load' });
    const of = (subject: string, metric: string): number | undefined =>
      samples.find((sample) => sample.subject === subject && sample.metric === metric)?.median;
    expect(notes).toContain('nothing is lost');
    expect(of('mound', 'lostUpdates')).toBe(0);
    expect(of('mound', 'commitsPerSecond')).toBeGreaterThan(0);
    expect(of('mound-overwriting', 'lostUpdates')).toBeGreaterThan(0);
    expect(samples[0]?.workload).toMatchObject({ agents: 24, processes: 2 });
    expect(outcome.exitCode).toBe(0);
    expect(readdirSync(dir)).toEqual([]);
  });
});

describe('the read back', () => {
  const load = new SwarmLoad({ files: 60, agents: 12, megafileLines: 240, seed: 5 });

  async function ran(dir: string): Promise<AgentsRun> {
    const repo = await openRepo(dir, { create: true });
    try {
      await seedMound(repo, load.initialFiles());
      const agents = Array.from({ length: 12 }, (_, agent) => agent);
      const options = { agents, durationMs: 600, periodMs: 100, thinkMs: 60, overwrites: false, signal: never };
      return await new Agents(repo, load, options).run();
    } finally {
      await repo.close();
    }
  }

  /** Puts an earlier content of a file back, as a store that loses an update would. */
  async function forgetNewest(dir: string): Promise<void> {
    const repo = await openRepo(dir);
    try {
      const newest = repo
        .snapshot()
        .list('src')
        .toSorted((a, b) => b.version - a.version)[0];
      if (newest === undefined) throw new Error('there is no file');
      const content = repo.snapshot(newest.version - 1).read(newest.path) ?? Buffer.of();
      await repo.put(newest.path, content, { author: { name: 'thief', kind: 'system' }, expect: any });
    } finally {
      await repo.close();
    }
  }

  test('misses a line that is gone though nobody who had seen it replaced it, and a doubled one', async () => {
    await withTempDir(undefined, async (parent) => {
      const dir = join(parent, 'store');
      const { answers, replaced } = await ran(dir);
      expect(answers.length).toBeGreaterThan(12);
      const before = await readBack(dir, load, answers, [replaced]);
      expect([before.lost, before.faults]).toEqual([[], []]);
      expect(before.accounted).toBeGreaterThan(0);
      await forgetNewest(dir);
      expect((await readBack(dir, load, answers, [replaced])).lost).not.toEqual([]);
      const repo = await openRepo(dir);
      const [path = ''] = load.paths;
      const content = repo.snapshot().read(path) ?? Buffer.of();
      await repo.put(path, Buffer.concat([content, content]), {
        author: { name: 'thief', kind: 'system' },
        expect: any,
      });
      await repo.close();
      expect((await readBack(dir, load, answers, [replaced])).faults.join('\n')).toMatch(
        /has \d+ lines instead of 240/,
      );
    });
  });

  test('misses an answer that nothing in the store speaks of', async () => {
    await withTempDir(undefined, async (parent) => {
      const dir = join(parent, 'store');
      const { answers, replaced } = await ran(dir);
      const made = answers.find(({ agent, step }) => load.step(agent, step).kind === 'edit');
      if (made === undefined) throw new Error('nobody edited');
      for (const kind of ['landed', 'kept'] as const) {
        const invented = { ...made, step: 9_999, tries: 0, kind };
        if (load.step(invented.agent, invented.step).kind !== 'edit') throw new Error('take another step');
        expect((await readBack(dir, load, [...answers, invented], [replaced])).lost).toHaveLength(1);
      }
    });
  });
});
