import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const dirs: string[] = [];

/** A directory that {@link removeTemporaries} takes away. */
export function temporaryDir(): string {
  const dir = mkdtempSync(join(tmpdir(), 'mound-git-'));
  dirs.push(dir);
  return dir;
}

export function removeTemporaries(): void {
  for (const dir of dirs.splice(0)) rmSync(dir, { recursive: true, force: true });
}

/** The cases handed out beside the checkout; undefined where they are not there. */
export function casesDir(): string | undefined {
  const dir = resolve(import.meta.dirname, '../../../../../shared/cases');
  return existsSync(dir) ? dir : undefined;
}

export const readCase = (name: string): Buffer => readFileSync(join(casesDir() ?? '', name));
export const readJson = (name: string): unknown => JSON.parse(readCase(name).toString());

/** Who commits in fixtures, deaf to what is configured on the machine. */
export const identity = {
  GIT_AUTHOR_NAME: 'Ada',
  GIT_AUTHOR_EMAIL: 'ada@example.invalid',
  GIT_COMMITTER_NAME: 'Ada',
  GIT_COMMITTER_EMAIL: 'ada@example.invalid',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_NOSYSTEM: '1',
};

export const run = (
  command: string,
  args: readonly string[],
  options: { cwd?: string; input?: Uint8Array | string } = {},
): Buffer =>
  execFileSync(command, args, {
    ...options,
    env: { ...process.env, ...identity },
    stdio: ['pipe', 'pipe', 'pipe'],
    maxBuffer: 1 << 28,
  });

export const git = (dir: string, args: readonly string[], input?: Uint8Array | string): string =>
  run('git', args, { cwd: dir, ...(input !== undefined && { input }) })
    .toString('latin1')
    .trim();

/** A repository made by a shell script with `commit MESSAGE` and `tick`, at fixed times. */
export function scriptedRepo(script: string): string {
  const dir = join(temporaryDir(), 'repo');
  const prelude = `set -e
git init -q -b main "$0"; cd "$0"; n=0
tick(){ n=$((n+1)); export GIT_AUTHOR_DATE="$((1700000000+n)) +0130" GIT_COMMITTER_DATE="$((1700000000+n)) -0500"; }
commit(){ tick; git add -A; git commit -q --allow-empty --allow-empty-message -m "$1"; }
merge(){ tick; git merge -q --no-ff -s ours -m "$@" 2>/dev/null; }
`;
  run('sh', ['-c', prelude + script, dir]);
  return dir;
}

/** Heads and tags with their ids, as text. */
export const refsOf = (dir: string): string[] =>
  git(dir, ['for-each-ref', '--format=%(objectname) %(refname)', 'refs/heads', 'refs/tags'])
    .split('\n')
    .filter(Boolean);

/** What `git fsck --strict` says, without what is only unreachable. */
export function fsck(dir: string): string {
  const said = run('sh', ['-c', 'git fsck --strict --no-progress --no-dangling 2>&1 || true'], { cwd: dir }).toString();
  return said.replace(/^notice: .*\n/gm, '').trim();
}
