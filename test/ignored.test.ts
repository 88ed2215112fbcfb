import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { addWorkspace, openWorkspace, seededRandom } from '@mound/vcs';
import { colocate, excludesOf } from '@mound/vcs/git';
import { expect, onTestFinished, test, vi } from 'vitest';
import { scale, seed } from './kit/seed.ts';
import { tempDir, tempRepo } from './kit/temp.ts';

const directories = ['', 'd/', 'd/e/', 'd/e/f/', 'logs/', 'build/', 'build/keep/'];
const names = ['a', 'b.o', 'c.log', 'keep', 'x y', 'end ', '#hash', '!bang', 'é', 'back\\slash', 'Z', '[x]'];
const patterns = [
  'a', '/a', 'a/', '*.o', '*.log', '!c.log', '!keep', 'keep', '/keep', 'd', 'd/', '/d/', '!d/', 'd/*', '!d/e', 'd/e/', 'e',
  '**/e', 'd/**', 'd/**/a', '**/f/**', '**', '*', '!*', '!*/', '/*', '!/d', 'x y', 'x\\ y', 'end ', 'end\\ ', 'end\\  ',
  '\\#hash', '#hash', '\\!bang', '!bang', '!!bang', 'é', 'back\\\\slash', 'back\\slash', '[a-z]', '[!a]', '[[:upper:]]', '\\[x\\]',
  '[x]', '?', '*.', 'build', 'build/', '!build/keep', '!build/keep/', 'build/*', '!build/keep/a', 'logs/**/*.log', '', '   ',
  'd//e', './a', 'a\t', '"a"', 'logs/*', '/logs/c.log', 'Build', 'z', '*/a', '*/*/b.o', 'd/e/f/', '\\', 'a\\', '!', '/',
]; // prettier-ignore

/** Lists of patterns, as a `.gitignore` or another list of git's holds them, now and then in the ways of other editors. */
class Lists {
  private readonly random;

  constructor(drawSeed: number) {
    this.random = seededRandom(drawSeed);
  }

  below(count: number): number {
    return this.random.below(count);
  }

  text(): string {
    const lines = Array.from({ length: 1 + this.below(5) }, () => patterns[this.below(patterns.length)] ?? '');
    const ending = this.below(6) === 0 ? '\r\n' : '\n';
    return `${this.below(8) === 0 ? '\uFEFF' : ''}${lines.join(ending)}${this.below(4) === 0 ? '' : ending}`;
  }
}

function write(dir: string, path: string, text: string): void {
  mkdirSync(dirname(join(dir, path)), { recursive: true });
  writeFileSync(join(dir, path), text);
}

test('what is new on disk is ignored where git ignores it, by whichever list', async () => {
  for (let round = 0; round < 12 * scale; round++) {
    const lists = new Lists(seed * 1000 + round);
    const base = tempDir();
    const home = join(base, 'home');
    mkdirSync(home);
    vi.stubEnv('HOME', home);
    vi.stubEnv('XDG_CONFIG_HOME', '');
    onTestFinished(() => void vi.unstubAllEnvs());
    const checkout = join(base, 'checkout');
    const git = (args: readonly string[]): string => {
      const identity = ['user.name=Ada', 'user.email=ada@example.invalid'].flatMap((pair) => ['-c', pair]);
      return execFileSync('git', [...identity, ...args], {
        cwd: checkout,
        encoding: 'utf8',
        stdio: ['pipe', 'pipe', 'pipe'],
      });
    };
    mkdirSync(checkout);
    git(['init', '-q', '-b', 'main']);

    // Some of what the lists name is tracked: that is never ignored, and its directories are looked into.
    const files = directories
      .flatMap((directory) => names.map((name) => directory + name))
      .filter((path) => !directories.includes(`${path}/`));
    const tracked = files.filter(() => lists.below(8) === 0);
    for (const path of tracked) write(checkout, path, 'tracked\n');
    write(checkout, 'README', 'tracked\n');
    git(['add', '-f', '.']);
    git(['commit', '-qm', 'first']);

    const shared = new Map<string, string>();
    for (const directory of directories) if (lists.below(2) === 0) shared.set(`${directory}.gitignore`, lists.text());
    if (lists.below(2) === 0) write(checkout, '.git/info/exclude', lists.text());
    // The user's list: at its default place, named by a setting, or neither.
    const users = lists.below(3);
    if (users === 0) write(home, '.config/git/ignore', lists.text());
    if (users === 1) {
      write(home, 'my ignores', lists.text());
      git(['config', 'core.excludesFile', '~/my ignores']);
    }

    const repo = await tempRepo(checkout);
    await colocate(repo, 'mound');
    const dir = join(base, 'w');
    await addWorkspace(repo, dir);
    for (const at of [checkout, dir]) {
      for (const path of files) write(at, path, 'new\n');
      for (const [path, text] of shared) write(at, path, text);
    }
    const byGit = git(['ls-files', '-z', '--others', '--modified', '--exclude-standard'])
      .split('\0')
      .filter((path) => path !== '' && !path.startsWith('.mound/'));
    const directory = await openWorkspace(repo, dir, { excludes: await excludesOf(repo) });
    const { changes, refused } = await directory.status();
    const found = [...changes, ...refused].map(({ path }) => path);
    const context = { round, tracked, shared: [...shared] };
    expect({ ...context, found: found.toSorted() }).toEqual({ ...context, found: byGit.toSorted() });
  }
}, 300_000);
