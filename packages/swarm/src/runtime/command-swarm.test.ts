import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, statSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { absent, openRepo, type Repo } from '@mound/vcs';
import { rootTask, type RunId, type TaskId } from '../core/ids.ts';
import type { JsonValue } from '../core/json.ts';
import { CommandModel, type CommandModelOptions } from '../model/command/command-model.ts';
import { isSame, startTimeOf, type ProcessIdentity } from '../command/processes.ts';
import { until } from '../model/fault-server.test.kit.ts';
import { ScriptedModel } from '../model/scripted-model.ts';
import { ArtefactShelf } from './artefact-shelf.ts';
import { RepoDirectories } from './repo-directories.ts';
import { runSwarm, type SwarmResult } from './run-swarm.ts';
import { readRun } from './run-view.ts';
import { mergeBoth, planInBatches } from './swarm.test.kit.ts';

/** Commands as minds, in real directories, on a real store. */

let dir: string;
let repo: Repo;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'mound-command-swarm-'));
  repo = await openRepo(join(dir, 'repo'), { create: true });
  const files = {
    'list.txt': 'one\ntwo\nthree\nfour\nfive\n',
    'src/old.txt': 'old\n',
    'run.sh': 'echo\n',
    '.gitignore': 'build/\n*.log\n!keep.log\n',
  };
  const changes = Object.entries(files).map(([path, content]) => ({
    kind: 'put' as const,
    path,
    content,
    expect: absent,
  }));
  await repo.land({ author: { name: 'Ada', kind: 'human' }, message: 'start', changes });
});
afterEach(async () => {
  await repo.close();
  await rm(dir, { recursive: true, force: true });
});

const command = (script: string, more: Partial<CommandModelOptions> = {}): CommandModel =>
  new CommandModel({
    command: ['sh', '-c', script],
    name: 'sh',
    workspaces: new RepoDirectories(repo),
    dir,
    limits: { graceMs: 50 },
    ...more,
  });
const task = (id: string, scope: string[] = []): JsonValue => ({ id, title: id, scope, brief: `the task ${id}` });
const swarm = (worker: CommandModel, ...tasks: JsonValue[]): Promise<SwarmResult> =>
  runSwarm({
    repo,
    goal: 'g',
    runId: 'r1',
    agentsMax: 4,
    models: {
      planner: new ScriptedModel({ planner: planInBatches(tasks) }),
      worker,
      merger: new ScriptedModel({ merger: mergeBoth }),
    },
  });
const textsOf = (): Record<string, string> =>
  Object.fromEntries(
    repo
      .snapshot()
      .list()
      .map(({ path, mode }) => [path, `${mode} ${repo.snapshot().readText(path)}`]),
  );

test('what a command changes in its directory becomes one commit', async () => {
  const script = `
    cat > /dev/null
    echo new > 'src/new file.txt'; rm src/old.txt; chmod +x run.sh; ln -s list.txt link
    printf '\\000\\377' > bytes.bin; sed -i s/one/ONE/ list.txt; touch src/old.touched
    mkdir -p build/deep && echo x > build/deep/out; echo x > a.log; echo x > keep.log
    mkfifo pipe; mkdir -p .git && echo x > .git/config
    echo "did it"; echo '{"message":"By a command","costUsd":0.5}' > "$MOUND_STEP"`;
  const result = await swarm(command(script), task('t1'));
  expect(result).toMatchObject({ reason: 'finished', outcomes: { landed: 1 }, tasks: { ended: 1 } });
  const { 'bytes.bin': _, ...texts } = textsOf();
  expect(texts).toEqual({
    '.gitignore': expect.any(String),
    'keep.log': 'file x\n',
    link: 'symlink list.txt',
    'list.txt': 'file ONE\ntwo\nthree\nfour\nfive\n',
    'run.sh': 'executable echo\n',
    'src/new file.txt': 'file new\n',
    'src/old.touched': 'file ',
  });
  expect(repo.snapshot().read('bytes.bin')).toEqual(Buffer.from([0, 255]));
  const [commit] = [...repo.log({ limit: 1 })];
  expect(commit).toMatchObject({ message: 'By a command', author: { model: 'sh', kind: 'agent' } });
  expect(result.cost.byModel['sh']).toMatchObject({ nanoUsd: 500_000_000, requests: 1, unknownRequests: 0 });
  expect(await readdir(dir)).toEqual(['repo']);
});

test('two commands that change one file at a time are merged, or settled by a merger', async () => {
  const script = `case "$(cat)" in *"the task top"*) sed -i s/one/ONE/ list.txt;; *"the task end"*) sed -i s/five/FIVE/ list.txt;; *) :;; esac`;
  const result = await swarm(command(script), task('top'), task('end'), task('idle'));
  expect(result).toMatchObject({ reason: 'finished', tasks: { created: 3, ended: 3 } });
  expect(repo.snapshot().readText('list.txt')).toBe('ONE\ntwo\nthree\nfour\nFIVE\n');
  expect(result.cost.byModel['sh']?.unknownRequests).toBe(3);
});

test('a change outside of the scope is refused; the second run is told, and goes on with the files of the first', async () => {
  const script = `
    if grep -q "is outside of your scope (src)" "$MOUND_BRIEF"; then rm outside.txt; cat src/mine.txt > src/seen.txt
    else echo mine > src/mine.txt; echo out > outside.txt; fi`;
  const result = await swarm(command(script), task('t1', ['src']));
  expect(result).toMatchObject({ reason: 'finished', outcomes: { landed: 1 } });
  expect(Object.keys(textsOf())).toEqual([
    '.gitignore',
    'list.txt',
    'run.sh',
    'src/mine.txt',
    'src/old.txt',
    'src/seen.txt',
  ]);
});

test('a command that fails lands nothing, what it had done is kept, and the task is tried again', async () => {
  const result = await swarm(command('echo half > half.txt; echo "no such thing" >&2; exit 7'), task('t1'));
  expect(result).toMatchObject({
    reason: 'finished',
    outcomes: { landed: 0 },
    tasks: { created: 1, ended: 1, reopened: 3 },
  });
  expect(textsOf()['half.txt']).toBeUndefined();
  const kept = (await readdir(dir)).filter((name) => name.startsWith('mound-command-'));
  expect(kept).toHaveLength(3);
  expect(await readFile(join(dir, kept[0] ?? '', 'work/half.txt'), 'utf8')).toBe('half\n');
  const handoffs = repo
    .snapshot()
    .records('swarm/r1/handoff/')
    .map(({ value }) => value.toString());
  expect(handoffs.join()).toMatch(/command-failed: sh: exit code 7; what it had changed is kept in .*no such thing/);
});

test('a command can plan: it writes its steps', async () => {
  const plan = `
    case "$(cat)" in
    *"wait answered"*) echo '{"calls":[{"name":"finish","arguments":{"status":"done"}}]}' ;;
    *) echo '{"calls":[{"name":"delegate","arguments":{"tasks":[{"id":"a","title":"A"}]}},{"name":"wait"}]}' ;;
    esac > "$MOUND_STEP"`;
  const models = {
    planner: command(plan),
    worker: command('echo "$MOUND_ROLE $MOUND_BUDGET_USD $0" > by.txt', { budgetUsd: 2 }),
  };
  const result = await runSwarm({ repo, goal: 'g', agentsMax: 2, models });
  expect(result).toMatchObject({ reason: 'finished', outcomes: { landed: 1 } });
  expect(repo.snapshot().readText('by.txt')).toBe('worker 2 sh\n');
});

test.each([
  ['echo nonsense > "$MOUND_STEP"', /step file cannot be used: it is no JSON/],
  ['mkfifo "$MOUND_STEP"', /step file cannot be used: it is no file/],
  ['echo \'{"calls":[{"nme":"x"}]}\' > "$MOUND_STEP"', /calls\.0/],
  ['kill -9 $$', /the signal SIGKILL ended it/],
])('a step that cannot be used (%s) is a typed failure', async (script, says) => {
  const result = await runSwarm({
    repo,
    goal: 'g',
    agentsMax: 1,
    models: { planner: command(script), worker: command('true') },
  });
  expect(result).toMatchObject({ reason: 'planner-failed', detail: expect.stringMatching(says) });
});

const pidIn = async (file: string): Promise<ProcessIdentity> => {
  await until(() => existsSync(file) && statSync(file).size > 0);
  const pid = Number(await readFile(file, 'utf8'));
  return { pid, startTime: startTimeOf(pid) };
};

test.skipIf(process.platform !== 'linux')(
  'a run that is stopped ends when its commands are gone, and not before',
  async () => {
    const stop = new AbortController();
    const file = join(dir, 'pid');
    const running = runSwarm({
      repo,
      goal: 'g',
      agentsMax: 1,
      models: {
        planner: command(`trap "" TERM; echo $$ > ${file}; while :; do sleep 1; done`),
        worker: command('true'),
      },
      signal: stop.signal,
    });
    const identity = await pidIn(file);
    expect(isSame(identity)).toBe(true);
    stop.abort();
    expect(await running).toMatchObject({ reason: 'aborted' });
    expect(isSame(identity)).toBe(false);
    expect((await readdir(dir)).toSorted()).toEqual(['pid', 'repo']);
  },
);

test.skipIf(process.platform !== 'linux')(
  'what a killed swarm left running is ended by the next one, its directory kept',
  async () => {
    const other = join(dir, 'other');
    await (await openRepo(other, { create: true })).close();
    const file = join(dir, 'pid');
    const bin = join(import.meta.dirname, '../../bin/mound-swarm.js');
    const script = `echo work > work.txt; echo $$ > ${file}; while :; do sleep 1; done`;
    const swarmProcess = spawn(process.execPath, [bin, 'run', 'g', '--repo', other, '--command', script], {
      env: { ...process.env, TMPDIR: dir },
      stdio: 'ignore',
    });
    const identity = await pidIn(file);
    swarmProcess.kill('SIGKILL');
    await once(swarmProcess, 'exit');
    expect(isSame(identity)).toBe(true);
    expect(await swarm(command('echo x > x.txt'), task('t1'))).toMatchObject({ outcomes: { landed: 1 } });
    expect(isSame(identity)).toBe(false);
    const [kept = ''] = (await readdir(dir)).filter((name) => name.startsWith('mound-command-'));
    expect(await readFile(join(dir, kept, 'work/work.txt'), 'utf8')).toBe('work\n');
  },
);

test('money of a command is bounded: what it says, or does not say, is taken from it, and then it is not run again', async () => {
  const runs = join(dir, 'runs');
  // Out of scope: the runtime would run it once more.
  const script = `echo "$MOUND_BUDGET_USD" >> ${runs}; echo x > other.txt; echo '{"costUsd": 3}' > "$MOUND_STEP"`;
  await swarm(command(script, { budgetUsd: 2 }), task('t1', ['list.txt']));
  expect((await readFile(runs, 'utf8')).split('\n')).toEqual(['2', '']);
  const view = readRun(repo, 'r1' as RunId);
  expect(view?.agents.find(({ task: id }) => id === 't1')?.report?.handoff).toMatchObject({
    status: 'blocked',
    concerns: expect.arrayContaining([expect.stringContaining('2 US dollars are used up')]) as string[],
  });
});

test('a run with bounded money sets a command’s own bound aside before it starts, and takes it where nobody says what it cost', async () => {
  const only = (runId: string, usd: number): Promise<SwarmResult> =>
    runSwarm({
      repo,
      goal: 'g',
      runId,
      agentsMax: 1,
      models: { worker: command('echo x >> list.txt', { budgetUsd: 2 }) },
      tasks: [{ id: 't1' as TaskId, title: 't', scope: [], brief: '' }],
      budget: { nanoUsd: usd * 1e9 },
    });
  expect(await only('poor', 1)).toMatchObject({ reason: 'budget', outcomes: { landed: 0 } });
  const rich = await only('rich', 5);
  expect(rich).toMatchObject({ reason: 'finished', outcomes: { landed: 1 }, cost: { total: { unknownRequests: 1 } } });
  expect(readRun(repo, 'rich' as RunId)?.budgets.get(rootTask)?.spent.nanoUsd).toBe(2e9);
});

test('what builds leave in one command’s directory the next begins with, and builds only what differs', async () => {
  const shelf = new ArtefactShelf(['out', 'parts/*/made'], dir);
  // As make does: what is newer than what was made of it is made again.
  const script = `
    cat > /dev/null; id=$(grep -o '"id":"[a-z]*"' "$MOUND_BRIEF" | head -1 | cut -d'"' -f4)
    for file in list.txt src/old.txt; do
      if [ ! -e out/stamp ] || [ $file -nt out/stamp ]; then echo "$file" >> did-$id; fi
    done
    [ -e parts/a/made/x ] && echo parts >> did-$id
    mkdir -p out parts/a/made; echo x > parts/a/made/x; sleep 0.05; echo $id > out/stamp
    [ $id = bad ] && exit 1
    echo $id >> src/old.txt
  `;
  const worker = command(script, { workspaces: new RepoDirectories(repo, shelf) });
  const planner = new ScriptedModel({ planner: planInBatches([task('one')], [task('bad')], [task('two')]) });
  const models = { planner, worker };
  await runSwarm({ repo, goal: 'g', runId: 'r1', agentsMax: 1, models, limits: { taskAttemptsMax: 1 } });
  const did = (id: string): string | undefined => repo.snapshot().readText(`did-${id}`);
  expect(did('one')).toBe('list.txt\nsrc/old.txt\n');
  // What the first has changed was written anew for the second; what the bad one left is gone.
  expect(did('two')).toBe('src/old.txt\nparts\n');
  const paths = repo
    .snapshot()
    .list()
    .map(({ path }) => path);
  expect(paths.filter((path) => /^(out|parts)/.test(path))).toEqual([]);
  const shelves = async (): Promise<string[]> =>
    (await readdir(dir)).filter((name) => name.startsWith('mound-artefacts'));
  const [own = ''] = await shelves();
  expect(await readFile(join(dir, own, '2', 'out/stamp'), 'utf8')).toBe('two\n');
  expect(await readdir(join(dir, own))).toEqual(['2']);
  await shelf.close();
  expect(await shelves()).toEqual([]);
});
