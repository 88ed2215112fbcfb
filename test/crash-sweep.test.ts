import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { any, limits, openRepo, type Repo } from '@mound/vcs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { stepNames, type StepName } from '../packages/vcs/src/core/steps.ts';
import { runScenario } from './kit/crash/scenario.js';
import { checkNotes, happenings, stateOf, type Note } from './kit/crash/state.ts';
import { indexFaults } from './kit/indexes.ts';
import { run } from './kit/process.ts';
import { scale, seed } from './kit/seed.ts';
import { setup, tempDir } from './kit/temp.ts';

const script = fileURLToPath(new URL('./kit/crash/process.js', import.meta.url));

type Counts = Partial<Record<StepName, number>>;

/** Keyed entries that make a lagging index go to its table at the next transaction. */
const fullTail = 8192;

/** How a run of the scenario that nobody kills goes and ends. */
interface Unkilled {
  readonly counts: Counts;
  readonly state: unknown;
  readonly happenings: ReadonlyMap<string, number>;
}

/** Where the scenario starts: most steps are reached from nothing. */
type Start = 'nothing' | 'empty' | 'full';
const starts: Partial<Record<StepName, Start>> = {
  'store-opened': 'empty',
  'index-slice-drained': 'full',
};
const startOf = (step: StepName): Start => starts[step] ?? 'nothing';

const fixtures = mkdtempSync(join(tmpdir(), 'mound-sweep-'));
afterAll(() => rmSync(fixtures, { recursive: true, force: true }));
const unkilled = new Map<Start, Unkilled>();

function copyOf(start: Start): string {
  const dir = join(tempDir(), 'repo');
  cpSync(join(fixtures, start), dir, { recursive: true });
  return dir;
}

beforeAll(async () => {
  mkdirSync(join(fixtures, 'nothing'));
  await (await openRepo(join(fixtures, 'empty'), { create: true })).close();
  const full = await openRepo(join(fixtures, 'full'), { create: true });
  const fill = { author: setup, message: 'fill', records: [{ key: 'fill', expect: any, value: '' }] };
  await Promise.all(Array.from({ length: fullTail }, (_, i) => full.land({ ...fill, operationId: `fill-${i}` })));
  await full.close();
  for (const start of ['nothing', 'empty', 'full'] as const) {
    const dir = copyOf(start);
    const { code, stdout, stderr } = await run(process.execPath, [script, dir, join(dir, 'notes')]);
    if (code !== 0) throw new Error(`the scenario failed: ${stderr}`);
    const repo = await openRepo(dir);
    const counts = JSON.parse(stdout) as Counts;
    unkilled.set(start, { counts, state: stateOf(repo), happenings: happenings(repo) });
    await repo.close();
  }
}, 180_000);

function expected(step: StepName): Unkilled & { readonly count: number } {
  const end = unkilled.get(startOf(step));
  if (end === undefined) throw new Error('the runs that nobody kills come first');
  return { ...end, count: end.counts[step] ?? 0 };
}

test('each named step is reached: a step that the sweep cannot reach is not covered', () => {
  expect(stepNames.filter((step) => expected(step).count === 0)).toEqual([]);
});

/** At which of `count` times to die: the first; in a long run at several. */
function timesOf(count: number): number[] {
  const drawn = Array.from({ length: scale > 1 ? scale : 0 }, (_, at) => 1 + ((seed + at) % count));
  return [...new Set([1, ...drawn])];
}

test.each(stepNames)('killed at %s: all or nothing, and run again it is done once', async (step) => {
  const { count, ...end } = expected(step);
  for (const nth of timesOf(count)) {
    const dir = copyOf(startOf(step));
    const notesFile = join(dir, 'notes');
    const { signal, stderr } = await run(process.execPath, [script, dir, notesFile, step, `${nth}`]);
    expect({ signal, stderr }).toEqual({ signal: 'SIGKILL', stderr: '' });
    const lines = readFileSync(notesFile, 'utf8').split('\n').slice(0, -1);
    await checkAfterDeath(
      dir,
      lines.map((line) => JSON.parse(line) as Note),
    );
    // What the dead process held its paths for is over by then.
    const clock = { now: () => Date.now() + limits.holdMsMax };
    await runScenario(dir, { clock }, undefined, (repo: Repo) => {
      expect(stateOf(repo)).toEqual(end.state);
      expect(happenings(repo)).toEqual(end.happenings);
      expect(repo.fsck()).toMatchObject({ ok: true, errors: [] });
    });
  }
});

async function checkAfterDeath(dir: string, notes: readonly Note[]): Promise<void> {
  // It died before there was a repository.
  if (!existsSync(join(dir, '.mound'))) return expect(notes).toEqual([]);
  const repo = await openRepo(dir);
  try {
    checkNotes(repo, notes);
    expect(repo.fsck()).toMatchObject({ ok: true, errors: [] });
    expect(await indexFaults(dir)).toEqual([]);
  } finally {
    await repo.close();
  }
}
