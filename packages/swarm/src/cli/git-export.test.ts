import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { openRepo } from '@mound/vcs';
import { colocate, hideFromGit } from '@mound/vcs/git';
import { main } from './main.ts';

let dir: string;
let err: string[];
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'mound-cli-'));
  err = [];
  vi.spyOn(console, 'log').mockImplementation(() => undefined);
  vi.spyOn(console, 'error').mockImplementation((text: string) => void err.push(text));
});
afterEach(() => {
  vi.restoreAllMocks();
  rmSync(dir, { recursive: true, force: true });
});

const git = (...args: string[]): string =>
  execFileSync('git', ['-c', 'user.name=A', '-c', 'user.email=a@example.invalid', ...args], { cwd: dir })
    .toString()
    .trim();

/** A planner with one task, and a worker that writes a file. */
const mind = `case "$MOUND_ROLE $(cat)" in planner*"wait answered"*) echo '{"calls":[{"name":"finish","arguments":{"status":"done"}}]}' > "$MOUND_STEP";; planner*) echo '{"calls":[{"name":"delegate","arguments":{"tasks":[{"id":"a","title":"A","unchecked":"text"}]}},{"name":"wait"}]}' > "$MOUND_STEP";; *) echo hi > hi.txt;; esac`;

test('what a run landed in a git checkout goes out as commits with authors and trailers, on its branch', async () => {
  git('init', '-q', '-b', 'main');
  writeFileSync(join(dir, 'a'), 'a\n');
  git('add', '-A');
  git('commit', '-qm', 'one');
  const repo = await openRepo(dir, { create: true });
  await hideFromGit(dir);
  await colocate(repo, 'agents');
  await repo.close();
  expect(await main(['run', 'g', '--repo', dir, '--command', mind])).toBe(0);
  expect(err).toContain("mound-swarm: 1 commits went to git's branch 'agents'");
  expect(git('diff', '--name-only', 'main', 'agents')).toBe('hi.txt');
  expect(git('log', '-1', '--format=%an|%(trailers:key=Task,valueonly,separator=%x2C)', 'agents')).toMatch(/^.+\|.*a$/);
  expect(git('log', '-1', '--format=%B', 'agents')).toMatch(/\n\nTask: .*\nAgent: \S+\nRole: worker\n/);
  expect(git('status', '--porcelain')).toBe('');

  git('checkout', '-q', 'agents');
  err = [];
  const other = mind.replaceAll('hi.txt', 'ho.txt');
  expect(await main(['run', 'g', '--repo', dir, '--command', other])).toBe(0);
  expect(err).toContainEqual(expect.stringMatching(/^mound-swarm: git's branch 'agents' stays: .* brings it forward$/));
  expect(git('diff', '--name-only', 'agents', 'refs/mound/main')).toBe('ho.txt');
});
