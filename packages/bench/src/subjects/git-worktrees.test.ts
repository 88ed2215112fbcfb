import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import { withTempDir } from '../harness/temp-dir.ts';
import type { ContendedTrunk } from '../workloads/contended-trunk.ts';
import { HotEdits, type HotEdit } from '../workloads/hot-edits.ts';
import { holdsEdit, Lineage } from '../workloads/lineage.ts';
import { gitWorktrees } from './git-worktrees.ts';
import { GitTroubles, troubleOf } from './git-worktrees-troubles.ts';

const load = new HotEdits({ files: 3, agents: 2, seed: 1 });
const path = [...load.files.keys()][0] ?? '';

const edit = (agent: number, number: number, line: number): HotEdit => ({
  id: `e0-0-${number}`,
  agent,
  round: 0,
  path,
  line,
  texts: [`  trace('e0-0-${number}.0', ${number});`],
});

const subject = gitWorktrees({ backsOff: false });
const isMissing = (await subject.available()) !== true;

async function withTrunk(use: (trunk: ContendedTrunk, dir: string) => Promise<void>): Promise<void> {
  await withTempDir(undefined, async (dir) => {
    const trunk = await subject.prepare(load.files, 2, dir, new AbortController().signal);
    try {
      await use(trunk, dir);
    } finally {
      await trunk.close();
    }
  });
}

test.skipIf(isMissing)('merges what can be merged, strands what conflicts, and goes on', async () => {
  await withTrunk(async (trunk) => {
    const lineage = new Lineage();
    const bring = (one: HotEdit) => trunk.bring(one, (seen) => lineage.rewrite(one, seen));
    const [mine, apart, same, after] = [edit(0, 1, 20), edit(1, 2, 60), edit(0, 3, 60), edit(0, 4, 60)];
    expect(await bring(mine)).toEqual({ kind: 'landed' });
    expect(await bring(apart)).toEqual({ kind: 'landed' });
    // Agent 0 has not seen agent 1's line yet.
    expect(await bring(same)).toEqual({ kind: 'stranded', because: 'conflict', isRecorded: true });
    expect(await bring(after)).toEqual({ kind: 'landed' });
    const content = (await trunk.readTrunk([path])).get(path) ?? Buffer.of();
    expect([mine, apart, same, after].map((one) => holdsEdit(content, one))).toEqual([true, false, false, true]);
    expect(lineage.read(content).accountsFor(apart)).toBe(true);
    const aside = await trunk.readAside([mine, same]);
    expect([...aside.keys()]).toEqual([same.id]);
    expect(holdsEdit(aside.get(same.id) ?? Buffer.of(), same)).toBe(true);
    expect(trunk.troubles).toMatchObject({ lockFailures: 0, racesLost: 0 });
  });
});

test.skipIf(isMissing)('a lock that stays is counted, and the edit is refused', async () => {
  await withTrunk(async (trunk, dir) => {
    const lineage = new Lineage();
    const bring = (one: HotEdit) => trunk.bring(one, (seen) => lineage.rewrite(one, seen));
    const lock = join(dir, 'trunk.git', 'refs', 'heads', 'main.lock');
    await mkdir(join(lock, '..'), { recursive: true });
    await writeFile(lock, '');
    expect(await bring(edit(0, 1, 20))).toEqual({ kind: 'stranded', because: 'tries', isRecorded: true });
    expect(trunk.troubles.lockFailures).toBe(10);
    await rm(lock);
    const [worktree = ''] = await readdir(join(dir, 'trunk.git', 'worktrees'));
    expect(worktree).toBe('agent-0');
    const index = join(dir, 'trunk.git', 'worktrees', worktree, 'index.lock');
    await writeFile(index, '');
    expect(await bring(edit(0, 2, 20))).toEqual({ kind: 'stranded', because: 'refused', isRecorded: false });
    expect(trunk.troubles.lockFailures).toBe(30);
    await rm(index);
    expect(await bring(edit(1, 3, 20))).toEqual({ kind: 'landed' });
    const content = (await trunk.readTrunk([path])).get(path) ?? Buffer.of();
    expect(lineage.read(content).shows(edit(0, 2, 20))).toBe(false);
  });
});

test.each([
  [
    "fatal: update_ref failed for ref 'refs/heads/main': cannot lock ref 'refs/heads/main': is at 44402520131e but expected 1115a58cfa73",
    'race',
  ],
  ["fatal: Unable to create 'DIR/index.lock': File exists.", 'lock'],
  ['error: could not lock config file DIR/config: File exists', 'lock'],
  ["cannot lock ref 'refs/heads/main': Unable to create 'DIR/main.lock': File exists.", 'lock'],
  ['error: could not apply 1115a58... Edit src/a.ts', 'conflict'],
  ['fatal: not a git repository', 'other'],
])('%s', (words, trouble) => {
  expect(troubleOf(new Error(words))).toBe(trouble);
});

test('what is no part of the load is thrown on', () => {
  const troubles = new GitTroubles();
  const error = new Error('fatal: not a git repository');
  expect(() => troubles.take(error)).toThrow(error);
  expect(troubles).toMatchObject({ lockFailures: 0, racesLost: 0 });
});
