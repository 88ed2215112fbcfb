import { readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { any, keepGreen, readGreen, type Author, type GreenOptions, type GreenReport, type Repo } from '@mound/vcs'; // prettier-ignore
import { expect, test } from 'vitest';
import { seqOf } from './kit/land.ts';
import { mound, start } from './kit/process.ts';
import { setup, tempDir, tempRepo } from './kit/temp.ts';

const worker = (n: number): Author => ({
  name: `w-${n}`,
  kind: 'agent',
  agent: `w-${n}`,
  role: 'worker',
  model: 'm-1',
});
const write = async (repo: Repo, path: string, content: string, author: Author = setup, task?: string): Promise<number> =>
  seqOf(await repo.land({ author, message: `write ${path}`, ...(task && { task }), changes: [{ kind: 'put', path, content, expect: any }] })); // prettier-ignore

/** Passes while no file says `broken`. */
const command = ['/bin/sh', '-c', '! grep -rq broken .'];
const keep = (repo: Repo, more: Partial<GreenOptions> = {}): Promise<GreenReport> =>
  keepGreen(repo, { command, ...more });
const left = (): string[] => readdirSync(tmpdir()).filter((name) => name.startsWith('mound-bisect-'));

test('green follows what passes; what broke it is found with its agent, role and model', async () => {
  const repo = await tempRepo();
  expect(await keep(repo)).toMatchObject({ kind: 'green', head: 0, tried: [] });
  const first = await write(repo, 'a', 'fine\n');
  expect(await keep(repo)).toMatchObject({ kind: 'green', green: first, head: first });
  // Not tried again while nothing lands.
  expect(await keep(repo)).toMatchObject({ kind: 'green', tried: [] });
  for (let n = 0; n < 6; n++) await write(repo, `b${n}`, 'fine\n');
  const good = repo.branch('main').seq;
  const bad = await write(repo, 'c', 'broken\n', worker(7), 't-3');
  for (let n = 0; n < 6; n++) await write(repo, `d${n}`, 'fine\n');
  const report = await keep(repo);
  const culprit = { seq: bad, good, author: worker(7), task: 't-3', message: 'write c', action: { kind: 'told' } };
  expect(report).toMatchObject({ kind: 'red', green: good, candidates: [], culprits: [culprit] });
  // By halves, not one by one.
  expect(report.tried.length).toBeLessThan(7);
  expect(repo.tags()).toMatchObject([{ name: 'green', seq: good }]);
  expect(readGreen(repo)).toMatchObject({ green: good, passed: 1, failed: 1, passRate: 0.5, culprits: [culprit] });
  expect(readGreen(repo).checks.map(({ verdict }) => verdict)).toEqual(['failed', 'passed']);
});

test('by policy it is taken back with its reason, once; two culprits in one range are both found', async () => {
  const repo = await tempRepo();
  await write(repo, 'a', 'one\n');
  await keep(repo);
  const bads = [];
  for (let n = 1; n <= 2; n++) {
    await write(repo, 'a', `one ${n}\n`);
    bads.push(await write(repo, `c${n}`, 'broken\n', worker(n)));
    await write(repo, `d${n}`, 'fine\n');
  }
  const report = await keep(repo, { policy: 'quarantine' });
  expect(report).toMatchObject({
    kind: 'green',
    green: repo.branch('main').seq,
    culprits: bads.map((seq, at) => ({ seq, author: worker(at + 1), action: { kind: 'quarantined', branch: `quarantine/${seq}` } })),
  }); // prettier-ignore
  expect(repo.snapshot().list().map(({ path }) => path)).toEqual(['a', 'd1', 'd2']); // prettier-ignore
  expect(repo.snapshot(undefined, `quarantine/${bads[1]}`).readText('c2')).toBe('broken\n');
  const [revert] = [...repo.log({ limit: 1 })];
  expect(revert?.message).toBe(`Revert seq ${bads[1]}: write c2`);
  expect(revert?.rationale).toContain(`fails from seq ${bads[1]} on (w-2, worker, m-1); it stands whole on branch quarantine/`); // prettier-ignore
  expect(await keep(repo, { policy: 'quarantine' })).toMatchObject({ kind: 'green', tried: [], culprits: [] });
  expect(readGreen(repo).culprits).toHaveLength(2);
  expect(repo.fsck().errors).toEqual([]);
});

test('what fails now and then blames nobody; what fails each time does', async () => {
  const repo = await tempRepo();
  await write(repo, 'a', 'fine\n');
  await keep(repo);
  await write(repo, 'b', 'fine\n');
  const flaky = await write(repo, 'c', 'fine\n');
  // Fails each first time that it is run on a tree.
  const mark = tempDir();
  const now = `f=${mark}/$MOUND_CHECK_SEQ; [ -e $f ] || { touch $f; exit 1; }; ! grep -rq broken .`;
  const shaky = ['/bin/sh', '-c', now];
  expect(await keep(repo, { command: shaky })).toMatchObject({ kind: 'flaky', green: flaky, culprits: [], tried: [{ verdict: 'flaky' }] }); // prettier-ignore
  expect(readGreen(repo)).toMatchObject({ passed: 1, failed: 0, flaky: 1, passRate: 1 });
  const bad = await write(repo, 'd', 'broken\n', worker(2));
  for (let n = 0; n < 4; n++) await write(repo, `e${n}`, 'fine\n');
  expect(await keep(repo, { command: shaky })).toMatchObject({ kind: 'red', culprits: [{ seq: bad }] });
});

test('a culprit that still stands is found once; who breaks it beside that one is found, too', async () => {
  const repo = await tempRepo();
  await write(repo, 'a', 'fine\n');
  await keep(repo);
  const first = await write(repo, 'b', 'broken\n', worker(1));
  const key = 'todo/mend';
  const records = { recordsOf: () => [{ key, expect: any, value: 'mend it' }] };
  expect(await keep(repo, records)).toMatchObject({ kind: 'red', culprits: [{ seq: first }] });
  expect(repo.snapshot().record(key)?.value.toString('utf8')).toBe('mend it');
  await write(repo, 'c', 'fine\n');
  expect(await keep(repo)).toMatchObject({ kind: 'red', culprits: [], candidates: [] });
  const second = await write(repo, 'd', 'broken\n', worker(2));
  expect(await keep(repo)).toMatchObject({ kind: 'red', culprits: [{ seq: second }] });
  for (const path of ['b', 'd']) await write(repo, path, 'fine\n');
  expect(await keep(repo)).toMatchObject({ kind: 'green', green: repo.branch('main').seq });
});

test('a revert that does not merge is kept as a conflict; nothing is lost', async () => {
  const repo = await tempRepo();
  const green = await write(repo, 'a', 'one\n');
  await keep(repo);
  const bad = await write(repo, 'a', 'broken\n', worker(1));
  await write(repo, 'a', 'broken more\n');
  const report = await keep(repo, { policy: 'revert' });
  expect(report).toMatchObject({ kind: 'red', green, culprits: [{ seq: bad, action: { kind: 'kept' } }] });
  expect(repo.conflicts()).toHaveLength(1);
});

test('what cannot be tried leaves candidates; without a known green one is looked for; time is bounded', async () => {
  const repo = await tempRepo();
  const seqs: number[] = [];
  for (let n = 0; n < 9; n++) seqs.push(await write(repo, 'n', n < 5 ? `${n}\n` : `broken ${n}\n`));
  const skip = 'grep -qx 4 n && exit 125; ! grep -rq broken .';
  const skipped = await keep(repo, { command: ['/bin/sh', '-c', skip] });
  expect(skipped).toMatchObject({ kind: 'red', green: seqs[3], candidates: [seqs[4], seqs[5]], culprits: [] });
  const late = await keep(repo, { command: ['/bin/sh', '-c', 'sleep 60'], seconds: 0.3, good: 1, secondsMax: 0.4 });
  expect(late).toMatchObject({ kind: 'red' });
  expect(late.candidates.length).toBeGreaterThan(1);
  await write(repo, 'x', 'x\n');
  const none = await keep(await tempRepo().then(async (other) => (await write(other, 'a', 'broken\n'), other)));
  expect(none).toMatchObject({ kind: 'unknown', green: undefined });
  await expect(keep(repo, { command: ['/nowhere/at-all'] })).rejects.toMatchObject({ code: 'invalid-argument' });
  expect(left()).toEqual([]);
});

test('the command tells and exits with 1 while it is red; interrupted, it leaves nothing running', async () => {
  const dir = tempDir();
  const repo = await tempRepo(dir);
  await write(repo, 'a', 'fine\n');
  const green = (...more: string[]): ReturnType<typeof mound> => mound(['green', '--check', command[2] ?? '', ...more], { cwd: dir });
  expect(await green()).toMatchObject({ code: 0, stdout: 'the newest landing, 1, passes; green is 1\n' });
  await write(repo, 'b', 'broken\n', worker(4));
  const red = await green('--policy', 'revert');
  expect(red.code).toBe(0);
  expect(red.stdout).toContain('by w-4, worker, m-1 broke it: write b; taken back\n');
  const shown = await mound(['green', '--json'], { cwd: dir });
  expect(JSON.parse(shown.stdout)).toMatchObject({ passed: 2, failed: 1, culprits: [{ author: { agent: 'w-4' } }] });
  await write(repo, 'b', 'broken\n');
  expect((await green('--json')).code).toBe(1);
  const mark = `sleep 5${process.pid}`;
  const { child, finished } = start(process.execPath, [new URL('../packages/vcs/bin/mound.js', import.meta.url).pathname, 'green', '--branch', 'main', '--check', `echo here; ${mark}`], { cwd: dir });
  await new Promise<void>((resolve) => child.stderr?.on('data', () => resolve()));
  child.kill('SIGINT');
  expect((await finished).code).toBe(130);
  const running = readdirSync('/proc').filter((pid) => /^\d+$/.test(pid) && isRunning(pid, mark));
  expect(running).toEqual([]);
}); // prettier-ignore

function isRunning(pid: string, mark: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').startsWith(mark);
  } catch {
    return false;
  }
}
