import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { jsonOf, mound, type Finished } from './command.test.kit.ts';
import { git, removeTemporaries, run, scriptedRepo, temporaryDir } from './git-fixtures.test.kit.ts';

afterAll(removeTemporaries);

/** An imported repository whose main has gone on here and in git. */
async function diverged(): Promise<{ source: string; on: (...args: string[]) => Promise<Finished> }> {
  const source = scriptedRepo('echo a > a; commit 1; git branch dev');
  const dir = join(temporaryDir(), 'mound');
  const on = (...args: string[]): Promise<Finished> => mound(['--repo', dir, ...args], 'native\n');
  await mound(['init', dir]);
  expect(await on('import', source)).toMatchObject({ code: 0, stderr: '' });
  expect((await on('put', 'nat.txt', '-m', 'm')).code).toBe(0);
  run('sh', ['-c', 'echo b > b; git add -A; git commit -qm 2'], { cwd: source });
  return { source, on };
}

test('an export that leaves a ref alone says which, why and what to do, and is no success', async () => {
  const { source, on } = await diverged();
  const before = await on('export', source);
  expect(before).toMatchObject({ code: 1, stdout: 'exported 0 commits\n' });
  expect(before.stderr).toMatch(
    /^mound: refs\/heads\/main was not exported: git has it at what was never imported; import that first[^\n]*\n$/,
  );

  const imported = await on('import', source);
  const said =
    /^mound: 1 branch \(main\) went another way here than in git; git's is kept beside, under git\/heads\/[^\n]*\n$/;
  expect(imported).toMatchObject({ code: 0 });
  expect(imported.stderr).toMatch(said);
  expect((await on('import', source, '--json')).stderr).toMatch(said);

  const after = await on('export', source, '--json');
  expect(after.code).toBe(1);
  expect(jsonOf(after)).toMatchObject({ commits: 0, head: null, skipped: ['git/heads/main', 'refs/heads/main'] });
  const lines = after.stderr.trimEnd().split('\n');
  expect(lines).toHaveLength(2);
  expect(lines[1]).toBe(
    "mound: refs/heads/main was not exported: git has commits there that branch 'main' does not; " +
      "export to another ref ('--branch main --ref refs/heads/mound/main'), merge the two in git, and import that",
  );

  const named = await on('export', source, '--branch', 'main', '--ref', 'refs/heads/mound/main');
  expect(named).toMatchObject({ code: 0, stderr: '' });
  expect(git(source, ['show', 'mound/main:nat.txt'])).toBe('native');
  // Into a fresh repository main goes out; git's main, which stands for the same ref, does not.
  const fresh = await on('export', join(temporaryDir(), 'fresh.git'));
  expect(fresh.stdout).toMatch(/^exported 2 commits; head [0-9a-f]{40}\n$/);
  expect(fresh.stderr).toMatch(/^mound: git\/heads\/main was not exported: another branch stands for [^\n]+\n$/);
});

test('an export under a checked-out branch is one line and exit code 1', async () => {
  const { source, on } = await diverged();
  git(source, ['reset', '-q', '--hard', 'HEAD~1']);
  const refused = await on('export', source);
  expect(refused).toMatchObject({ code: 1, stdout: '' });
  expect(refused.stderr).toMatch(/^mound: branch 'main' is checked out in '[^\n]+\n$/);
});

test('refs and paths of an odd name are told by each import, in one line each', async () => {
  const source = scriptedRepo('echo a > a; commit 1; git update-ref "$(printf "refs/heads/l\\344tin")" HEAD');
  const blob = git(source, ['rev-parse', 'HEAD:a']);
  const names = ['git~1', 'git~2', 'git~3:\n\u001b[31m', 'git~4'];
  const raw = Buffer.concat(names.flatMap((name) => [Buffer.from(`100644 ${name}\0`), Buffer.from(blob, 'hex')]));
  const tree = git(source, ['hash-object', '-t', 'tree', '-w', '--stdin', '--literally'], raw);
  git(source, ['update-ref', 'refs/heads/main', git(source, ['commit-tree', '-p', 'HEAD', '-m', 'x', tree])]);
  const dir = join(temporaryDir(), 'mound');
  await mound(['init', dir]);
  for (const commits of [2, 0]) {
    const { code, stdout, stderr } = await mound(['--repo', dir, 'import', source]);
    expect([code, stdout.split(';')[0]]).toEqual([0, `imported ${commits} commits`]);
    const lines = stderr.trimEnd().split('\n');
    expect(lines).toHaveLength(2);
    expect(lines[0]).toMatch(/^mound: 1 ref \(refs\/heads\/lätin\) not imported: /);
    expect(lines[1]).toContain('mound: 4 paths (git~1, git~2, git~3:\\n\\u001b[31m, …) kept under a name');
  }
});

test('objects that git fsck takes for an error are told by each import', async () => {
  const source = scriptedRepo('echo a > a; commit 1');
  const raw = `tree ${git(source, ['rev-parse', 'HEAD^{tree}'])}\nauthor A <a@b> 1 +0000\n\nno committer\n`;
  const odd = git(source, ['hash-object', '-t', 'commit', '-w', '--stdin', '--literally'], raw);
  git(source, ['update-ref', 'refs/heads/main', odd]);
  const tag = git(source, ['mktag', '--no-strict'], `object ${odd}\ntype commit\ntag t\ntagger A <a@b> 1 +0000\n\nm\n`);
  git(source, ['update-ref', 'refs/tags/t', tag]);
  const bad = `object ${odd}\ntype commit\ntag u\ntagger A <a@b> 1 0000\n\nm\n`;
  git(source, [
    'update-ref',
    'refs/tags/u',
    git(source, ['hash-object', '-t', 'tag', '-w', '--stdin', '--literally'], bad),
  ]);
  const dir = join(temporaryDir(), 'mound');
  await mound(['init', dir]);
  for (const commits of [1, 0]) {
    const { code, stdout, stderr } = await mound(['--repo', dir, 'import', source]);
    expect([code, stdout.split(';')[0]]).toEqual([0, `imported ${commits} commit${commits === 1 ? '' : 's'}`]);
    expect(stderr).toMatch(
      /^mound: 2 objects \((commit|tag) \w{40}: \w+, (commit|tag) [^\n]+\) that git fsck [^\n]+\n$/,
    );
    expect(stderr).toContain(`commit ${odd}: missingCommitter`);
    expect(stderr).toContain('badTimezone');
  }
});

test('the help of export says what goes out by default', async () => {
  const { stdout } = await mound(['export', '--help']);
  const text = stdout.replace(/\s+/g, ' ');
  expect(text).toContain('--branch <name> only this branch (default: every branch with a landing, and every tag)');
  expect(text).toContain('--ref <name>');
});
