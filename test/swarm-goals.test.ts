import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { absent, openRepo } from '@mound/vcs';
import { expect, test } from 'vitest';
import { projectDir, run } from './kit/process.ts';
import { setup, tempDir } from './kit/temp.ts';

const goals = join(projectDir, 'docs/examples/goals');
const filesBelow = (dir: string): string[] =>
  readdirSync(dir, { recursive: true, encoding: 'utf8' }).filter((name) => statSync(join(dir, name)).isFile());

test.each([
  ['coverage', (before: number, after: number) => before < 90 && after === 100],
  // A time: only that there is one.
  ['faster', (before: number, after: number) => before > 0 && after > 0],
  ['checked-data', (before: number, after: number) => before === 0 && after === 10],
])('the goal %s is reached offline, and scored by its own command', async (name, isBetter) => {
  const dir = tempDir();
  const repo = await openRepo(join(dir, 'repo'), { create: true });
  const project = join(goals, name, 'project');
  const changes = filesBelow(project).map((path) => ({
    kind: 'put' as const,
    path,
    content: readFileSync(join(project, path)),
    expect: absent,
  }));
  await repo.land({ author: setup, message: 'start', changes });
  await repo.close();
  const example = JSON.parse(readFileSync(join(goals, name, 'swarm.config.json'), 'utf8')) as object;
  const minds = {
    models: { script: { kind: 'scripted', module: join(projectDir, 'test/kit/swarm/goal-scripts.js') } },
    roles: { worker: 'script' },
  };
  writeFileSync(join(dir, 'config.json'), JSON.stringify({ ...example, ...minds }));
  const launcher = join(projectDir, 'packages/swarm/bin/mound-swarm.js');
  const args = ['--repo', join(dir, 'repo'), '--config', join(dir, 'config.json'), '--json'];
  const ended = await run(process.execPath, [launcher, 'run', '--goal-file', join(goals, name, 'goal.md'), ...args], {
    env: { ...process.env, MOUND_GOAL: name },
  });
  expect([ended.code, ended.stderr]).toEqual([0, '']);
  const result = JSON.parse(ended.stdout) as { score: number; scoreBefore: number };
  // The first try is refused by the check.
  expect(result).toMatchObject({ reason: 'finished', outcomes: { landed: 1 }, roles: { worker: { turns: 2 } } });
  expect([result.scoreBefore, result.score, isBetter(result.scoreBefore, result.score)]).toContain(true);
});
