import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { openRepo } from '@mound/vcs';
import { expect, test } from 'vitest';
import { indexFaults } from './kit/indexes.ts';
import { Judge, type Landing, type Observed } from './kit/linear/judge.ts';
import { runPlan, type Plan } from './kit/linear/run.ts';
import { scale, seed } from './kit/seed.ts';
import { tempDir } from './kit/temp.ts';

const planIn = (dir: string, more: Partial<Plan> = {}): Plan => ({
  subject: 'mound',
  dir,
  processes: 3,
  agents: 3,
  intents: 20 * scale,
  paths: 3,
  seed,
  ...more,
});

async function checkStore(dir: string): Promise<void> {
  const repo = await openRepo(dir);
  expect(repo.fsck()).toMatchObject({ ok: true, errors: [] });
  await repo.close();
  expect(await indexFaults(dir)).toEqual([]);
}

test('what several processes were told is exactly what is there, in an order that agrees with real time', async () => {
  const dir = tempDir();
  const { finished, verdict } = await runPlan(planIn(dir));
  expect(finished.map(({ code, stderr }) => ({ code, stderr }))).toEqual(finished.map(() => ({ code: 0, stderr: '' })));
  expect(verdict).toMatchObject({ lost: [], unknown: [], faults: [] });
  expect(verdict.acknowledged).toBeGreaterThan(50);
  expect(verdict.acknowledged + verdict.refused).toBe(3 * 3 * 20 * scale);
  await checkStore(dir);
});

// Dead inside the transaction that holds the mutex, before its commit, and behind it.
test.each(['batch-begun', 'entry-written', 'batch-written', 'committed'] as const)(
  'a process that dies at %s takes nothing from the others, and leaves at most what it was not told',
  async (step) => {
    const dir = tempDir();
    const death = { process: 0, step, nth: 3 + (seed % 8) };
    const { finished, verdict } = await runPlan(planIn(dir, { intents: 12 * scale, death }));
    expect(finished.map(({ code, signal, stderr }) => [code, signal, stderr])).toEqual([
      [null, 'SIGKILL', ''],
      [0, null, ''],
      [0, null, ''],
    ]);
    expect(verdict).toMatchObject({ lost: [], faults: [] });
    expect(verdict.unknown.every((id) => id.startsWith('w0-'))).toBe(true);
    // One intent of each of its agents was in flight.
    expect(verdict.unknown.length).toBeLessThanOrEqual(3);
    await checkStore(dir);
  },
);

test('the same harness finds what git in JavaScript loses without a word', async () => {
  const { finished, verdict } = await runPlan(planIn(tempDir(), { subject: 'isomorphic-git', intents: 8 }));
  expect(finished.map(({ code, stderr }) => ({ code, stderr }))).toEqual(finished.map(() => ({ code: 0, stderr: '' })));
  expect(verdict.acknowledged).toBe(3 * 3 * 8);
  expect(verdict.lost.length).toBeGreaterThan(0);
});

test('the judge sees each way in which a history may be wrong', async () => {
  const dir = join(tempDir(), 'sound');
  mkdirSync(dir);
  const { observed, verdict } = await runPlan(planIn(dir, { processes: 2, agents: 2, intents: 6, paths: 2 }));
  expect(verdict).toMatchObject({ lost: [], unknown: [], faults: [] });
  const judged = (more: Partial<Observed>): string => {
    const { lost, unknown, faults } = new Judge({ ...observed, ...more }).judge();
    return [...lost.map((id) => `${id} is lost`), ...unknown.map((id) => `${id} is unknown`), ...faults].join('\n');
  };
  const { history, lines, files } = observed;
  const middle = history[5];
  const last = history.at(-1);
  if (middle === undefined || last === undefined) throw new Error('a run makes a history');
  const withMiddle = (landing: Partial<Landing>): readonly Landing[] => history.with(5, { ...middle, ...landing });
  expect(judged({ history: history.slice(0, -1) })).toContain(`${last.id} is lost`);
  expect(judged({ history: [...history, last] })).toContain(`${last.id} landed twice`);
  expect(judged({ history: withMiddle({ parents: [] }) })).toContain('is no child of the landing before it');
  const changed = (more: object): Landing['changes'] => middle.changes.map((change) => ({ ...change, ...more }));
  expect(judged({ history: withMiddle({ changes: changed({ previous: 1000 }) }) })).toContain('names version 1000');
  const overwritten = (middle.changes[0]?.text ?? '').replaceAll(/slot (\d) \S+/g, `slot $1 ${middle.id}`);
  expect(judged({ history: withMiddle({ changes: changed({ text: overwritten }) }) })).toContain('than its own line');
  expect(judged({ history: withMiddle({ changes: [] }) })).toContain(`${middle.id} landed in part`);
  expect(judged({ files: new Map([...files, ['file-0', 'x']]) })).toContain('file-0 is not its newest version');
  const without = (kind: string): typeof lines =>
    lines.filter((line) => !('id' in line && line.id === middle.id && line.kind === kind));
  expect(judged({ lines: without('acknowledged') })).toContain(`${middle.id} is unknown`);
  expect(judged({ lines: without('begun') })).toContain('was never asked for');
  const refused = { kind: 'refused', id: middle.id, ended: 0 } as const;
  expect(judged({ lines: [...without('acknowledged'), refused] })).toContain(`${middle.id} was refused and landed`);
  const late = lines.map((line) =>
    line.kind === 'begun' && line.id === middle.id ? { ...line, begun: Infinity } : line,
  );
  expect(judged({ lines: late })).toContain('landed before what was acknowledged');
  const stale = lines.map((line) => (line.kind === 'read' ? { ...line, begun: Infinity } : line));
  expect(judged({ lines: stale })).toContain('older than what had been acknowledged');
  const other = lines.map((line) => (line.kind === 'read' ? { ...line, text: 'x' } : line));
  expect(judged({ lines: other })).toContain('with another text than was written');
  const nowhere = lines.map((line) => (line.kind === 'read' ? { ...line, version: -1 } : line));
  expect(judged({ lines: nowhere })).toContain('which the history does not hold');
  const told = lines.map((line) => (line.kind === 'acknowledged' ? { ...line, order: -1 } : line));
  expect(judged({ lines: told })).toContain('was told -1');
});
