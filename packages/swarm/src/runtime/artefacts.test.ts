import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { any, type Repo } from '@mound/vcs';
import type { AgentId, RunId, TaskId } from '../core/ids.ts';
import { until } from '../model/fault-server.test.kit.ts';
import { CommandRoom, type RanCommand } from './command-room.ts';
import { Draft } from './draft.ts';
import { RunKeys } from './run-keys.ts';
import { commandSettings, human, newRepo } from './swarm.test.kit.ts';

/** Where each build of a file is said: `make` builds what is newer than its artefact. */
const files = {
  Makefile: 'all: out/a out/b\nout/%: %.txt\n\t@mkdir -p out\n\t@echo built $<\n\t@cat $< > $@\n',
  'a.txt': 'a\n',
  'b.txt': 'b\n',
};

async function newRoom(repo: Repo, artefacts: readonly string[]): Promise<CommandRoom> {
  const directory = await mkdtemp(join(tmpdir(), 'mound-artefacts-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  return new CommandRoom(repo, { ...commandSettings(directory), artefacts });
}

async function run(repo: Repo, room: CommandRoom, agent: string, command: string): Promise<string> {
  const seq = repo.snapshot().seq;
  const draft = new Draft(repo, new RunKeys('r1' as RunId), 't' as TaskId, human);
  const signal = new AbortController().signal;
  const ran = await room.run(agent as AgentId, { command, timeoutMs: undefined, keep: [], seq, draft, signal });
  return (ran as RanCommand).end.stdout;
}

test('a new directory begins with what the newest good build left, and builds only what differs', async () => {
  const repo = await newRepo(files);
  const room = await newRoom(repo, ['out', 'packages/*/dist']);
  expect(await run(repo, room, 'w1', 'make')).toBe('built a.txt\nbuilt b.txt\n');
  await run(repo, room, 'w1', 'mkdir -p packages/x/dist; echo x > packages/x/dist/x; echo own > kept.log');
  // A file that is another one by now is built, one that is the same is not.
  const change = { kind: 'put', path: 'b.txt', content: 'other\n', expect: any } as const;
  await repo.land({ author: human, message: 'b', changes: [change] });
  expect(await run(repo, room, 'w2', 'make; cat out/*; ls packages/x/dist; ls kept.log')).toMatch(
    /^built b\.txt\na\nother\nx\nls: .*kept\.log/,
  );
  // A copy: what one builds is not in the other's directory.
  await run(repo, room, 'w2', 'echo mine > out/a');
  expect(await run(repo, room, 'w1', 'cat out/a')).toBe('a\n');
});

test('not of a directory whose command failed, was killed, or is at work; and nothing where nothing is named', async () => {
  const repo = await newRepo(files);
  const room = await newRoom(repo, ['out']);
  await run(repo, room, 'w1', 'make; false');
  expect(await run(repo, room, 'w2', 'make')).toContain('built a.txt');
  await run(repo, room, 'w2', 'echo half > out/a; kill -9 $$');
  expect(await run(repo, room, 'w3', 'make')).toContain('built a.txt');
  const flag = join(await mkdtemp(join(tmpdir(), 'mound-flag-')), 'flag');
  onTestFinished(() => rm(dirname(flag), { recursive: true, force: true }));
  const busy = run(repo, room, 'w3', `: > ${flag}; until [ -e ${flag}.go ]; do sleep 0.05; done`);
  await until(() => existsSync(flag));
  expect(await run(repo, room, 'w4', 'make; false')).toContain('built a.txt');
  await writeFile(`${flag}.go`, '');
  await busy;
  expect(await run(repo, room, 'w5', 'make')).not.toContain('built');
  const cold = await newRoom(repo, []);
  await run(repo, cold, 'w1', 'make');
  expect(await run(repo, cold, 'w2', 'make')).toContain('built a.txt');
});
