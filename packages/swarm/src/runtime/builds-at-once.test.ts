import { spawnSync } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { privateCaches, type CacheChoice } from '../command/tool-caches.ts';
import type { Script } from '../model/scripted-model.ts';
import { call, commandSettings, finish, newRepo, planInBatches, swarm, task } from './swarm.test.kit.ts';

/** Agents that build at the same time, with tools that hold the locks of the real ones and fail where those would wait. */

const hasFlock = spawnSync('flock', ['--version'], { stdio: 'ignore' }).status === 0;

interface Place {
  readonly dir: string;
  readonly home: string;
  readonly environment: Readonly<Record<string, string>>;
}

/** Each tool runs the next while it holds its locks; the last one ends when `count` of them have met, or one had to wait. */
async function newPlace(count: number): Promise<Place> {
  const dir = await mkdtemp(join(tmpdir(), 'mound-builds-'));
  onTestFinished(() => rm(dir, { recursive: true, force: true, maxRetries: 3 }));
  const [home, bin, met] = [join(dir, 'home'), join(dir, 'bin'), join(dir, 'met')];
  const tools: Readonly<Record<string, readonly string[]>> = {
    cargo: ['${CARGO_HOME:-$HOME/.cargo}/.package-cache', '${CARGO_TARGET_DIR:-target}/.cargo-lock'],
    npx: ['${npm_config_cache:-$HOME/.npm}/_npx/1f/concurrency.lock'],
    'golangci-lint': ['${TMPDIR:-/tmp}/golangci-lint.lock'],
  };
  await mkdir(bin);
  await mkdir(met);
  // A line for each; nobody has to look again and again.
  const gate = join(dir, 'gate');
  spawnSync('mkfifo', [gate]);
  const open = `printf '${'\\n'.repeat(count)}' >&7`;
  const install = async (tool: string, lines: readonly string[]): Promise<void> => {
    await writeFile(join(bin, tool), `#!/bin/sh\n${lines.join('\n')}\n`);
    await chmod(join(bin, tool), 0o755);
  };
  for (const [tool, locks] of Object.entries(tools)) {
    await install(tool, [
      ...locks.flatMap((lock, at) => [
        `lock="${lock}"; [ -d "\${lock%/*}" ] || mkdir -p "\${lock%/*}"; exec ${at + 8}> "$lock"`,
        `flock -n ${at + 8} || { echo "waits for $lock"; touch ${dir}/failed; exec 7<> ${gate}; ${open}; exit 75; }`,
      ]),
      // Of a dependency that is there without a network.
      ...(tool === 'cargo' ? ['cat "${CARGO_HOME:-$HOME/.cargo}/registry/src/index/dep-1.0/lib.rs" || exit 1'] : []),
      '"$@"',
    ]);
  }
  // Who has the gate open before it looks loses no line of it.
  await install('meet', [
    `exec 7<> ${gate}; : > ${met}/$$; set -- ${met}/*`,
    `[ $# -ge ${count} ] && ${open}; [ -e ${dir}/failed ] || read line <&7`,
  ]);
  const dependency = join(home, '.cargo/registry/src/index/dep-1.0');
  await mkdir(dependency, { recursive: true });
  await writeFile(join(dependency, 'lib.rs'), 'dependency\n');
  await mkdir(join(home, '.npm/_npx/1f'), { recursive: true });
  const PATH = `${bin}${delimiter}${process.env['PATH'] ?? ''}`;
  // The target directory that the user has made common to all trees.
  return { dir, home, environment: { PATH, HOME: home, TMPDIR: dir, CARGO_TARGET_DIR: join(dir, 'target') } };
}

/** What the commands of `count` workers said, one each. */
async function build({ dir, environment }: Place, choice: CacheChoice, count: number): Promise<string[]> {
  const said: string[] = [];
  const worker: Script = ({ turn, results }) => {
    if (turn === 0) return { calls: [call('run', { command: 'cargo npx golangci-lint meet' })] };
    said.push(JSON.stringify(results[0]?.value));
    return { calls: [finish('nothing-to-do')] };
  };
  const tasks = Array.from({ length: count }, (_, at) => task(`t${at}`, []));
  const directory = join(dir, 'agents');
  const caches = privateCaches(choice, environment, environment);
  const commands = { ...commandSettings(directory), directory, commandsMax: count, environment, caches };
  const scripts = { planner: planInBatches(tasks), worker };
  const result = await swarm(await newRepo({ 'a.txt': 'a\n' }), scripts, { agentsMax: count, commands });
  expect(result.reason).toBe('finished');
  return said;
}

test.skipIf(!hasFlock)(
  '32 workers build at once and none waits on a lock of a tool',
  async () => {
    const place = await newPlace(32);
    const said = await build(place, { share: [], own: {} }, 32);
    expect(said).toHaveLength(32);
    for (const one of said) expect(one).toMatch(/"code":0,.*dependency/);
    expect(await readFile(join(place.home, '.cargo/registry/src/index/dep-1.0/lib.rs'), 'utf8')).toBe('dependency\n');
    expect(await readdir(join(place.home, '.cargo'))).toEqual(['registry']);
    expect(await readdir(place.dir)).not.toContain('target');
  },
  60_000,
);

test.skipIf(!hasFlock)(
  'a cache that is to be shared is',
  async () => {
    const said = await build(await newPlace(2), { share: ['npm'], own: {} }, 2);
    expect(
      said.filter((one) => /"code":75,.*waits for .*home\/\.npm\/_npx\/1f\/concurrency\.lock/.test(one)),
    ).toHaveLength(1);
  },
  60_000,
);
