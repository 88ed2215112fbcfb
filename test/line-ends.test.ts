import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { addWorkspace, openRepo, openWorkspace, type LineEndSettings } from '@mound/vcs';
import { gitBlobId, importGit } from '@mound/vcs/git';
import { expect, test } from 'vitest';
import { seededRandom } from '@mound/vcs';
import { scale, seed } from './kit/seed.ts';
import { mound } from './kit/process.ts';
import { agent, tempDir, tempRepo } from './kit/temp.ts';

/** The oracle: git itself, without any configuration but its own defaults. */
function git(dir: string, args: readonly string[], input = ''): Buffer {
  const identity = ['user.name=Ada', 'user.email=ada@example.invalid'].flatMap((pair) => ['-c', pair]);
  const env = { PATH: process.env['PATH'], HOME: '/nowhere', GIT_CONFIG_NOSYSTEM: '1', GIT_ATTR_NOSYSTEM: '1' };
  return execFileSync('git', [...identity, ...args], { cwd: dir, env, input, stdio: ['pipe', 'pipe', 'pipe'] });
}

const directories = ['', 'd/', 'd/e/', 'f/', 'f/g/h/'];
const names = ['a', 'b.txt', 'c.bat', 'd.bin', 'e.TXT', 'f f.txt', 'é.txt', 'Makefile'];
const patterns = [
  '*',
  '*',
  '*.txt',
  '*.bat',
  '*.bin',
  'a',
  '/a',
  'd/**',
  'e/*',
  '**/b.txt',
  'g/',
  '"f f.txt"',
  'Make*',
];
const states = [
  'text', '-text', '!text', 'text=auto', 'text=auto', 'text=input', 'text=odd', 'eol=crlf', 'eol=crlf', 'eol=lf',
  'eol=odd', '-eol', '!eol', 'crlf', '-crlf', '!crlf', 'crlf=input', 'crlf=auto', 'binary', '-binary', '!binary', 'diff',
  'dos', '-dos', '!dos', 'filter=odd', 'merge=union',
]; // prettier-ignore
const pieces = [
  'one', 'two words', '\n', '\n', '\n', '\r\n', '\r\n', '\r', '\0', '\x1a', '\x01', '\x7f', 'é', '\t', '\x1b[0m', ' '.repeat(40),
]; // prettier-ignore

class Draw {
  private readonly random;

  constructor(drawSeed: number) {
    this.random = seededRandom(drawSeed);
  }

  below(count: number): number {
    return this.random.below(count);
  }

  one<T>(items: readonly T[]): T {
    return items[this.random.below(items.length)] as T;
  }

  some<T>(items: readonly T[], most: number): T[] {
    return Array.from({ length: 1 + this.random.below(most) }, () => this.one(items));
  }

  content(): string {
    // Often of one kind of line only, since conversions turn on the one line that differs.
    const kinds = this.one([
      pieces,
      ['x', '\n'],
      ['x', '\r\n'],
      ['x', '\n', '\r\n'],
      ['word '.repeat(30), '\n', '\x01'],
    ]);
    return this.below(12) === 0 ? '' : this.some(kinds, 12).join('');
  }

  attributes(isRoot: boolean): string {
    const macro =
      isRoot && this.below(2) === 0 ? `[attr]dos ${this.one(['text eol=crlf', '-text', 'text=auto'])}\n` : '';
    const lines = Array.from(
      { length: 1 + this.below(5) },
      () => `${this.one(patterns)} ${this.some(states, 3).join(' ')}`,
    );
    return `${macro}${lines.join(this.one(['\n', '\n', '\r\n']))}\n`;
  }

  /** What git's settings say beside the tree, and the same for git. */
  settings(tree: string): LineEndSettings {
    const autocrlf = this.one([false, false, true, 'input'] as const);
    const eol = this.one([undefined, undefined, 'lf', 'crlf'] as const);
    const [attributesBeneath, attributesAbove] = [0, 1].map(() =>
      this.below(3) === 0 ? Buffer.from(this.attributes(true)) : undefined,
    );
    git(tree, ['config', 'core.autocrlf', String(autocrlf)]);
    if (eol !== undefined) git(tree, ['config', 'core.eol', eol]);
    if (attributesAbove !== undefined) writeFileSync(join(tree, '.git/info/attributes'), attributesAbove);
    if (attributesBeneath !== undefined) {
      writeFileSync(join(tree, '.git/users'), attributesBeneath);
      git(tree, ['config', 'core.attributesFile', join(tree, '.git/users')]);
    }
    return { autocrlf, eol, attributesBeneath, attributesAbove };
  }

  /** Contents of some paths, attribute files among them. */
  files(share: number): Map<string, string> {
    const files = new Map<string, string>();
    for (const directory of directories) {
      if (this.below(4) < share) files.set(`${directory}.gitattributes`, this.attributes(directory === ''));
      for (const name of names) if (this.below(4) < share) files.set(directory + name, this.content());
    }
    return files;
  }
}

function write(dir: string, files: ReadonlyMap<string, string>): void {
  for (const [path, content] of files) {
    mkdirSync(dirname(join(dir, path)), { recursive: true });
    writeFileSync(join(dir, path), content);
  }
}

/** Puts exactly these bytes into git's index, whatever the attributes say. */
function stage(tree: string, raw: string, files: ReadonlyMap<string, string>): void {
  write(raw, files);
  const paths = [...files.keys()];
  const listed = paths.map((path) => `${join(raw, path)}\n`).join('');
  const ids = git(tree, ['hash-object', '-w', '--no-filters', '--stdin-paths'], listed).toString().split('\n');
  const entries = paths.map((path, at) => `100644 ${ids[at] ?? ''}\t${path}\0`);
  git(tree, ['update-index', '-z', '--add', '--index-info'], entries.join(''));
}

/**
 * Lets time pass for files: one that was written just now is read again, as in git, and counts as edited where the
 * attributes do not convert any more what they have converted.
 */
async function letTimePass(dir: string, paths: Iterable<string>): Promise<void> {
  for (const path of paths) utimesSync(join(dir, path), 1_000_000_000, 1_000_000_000);
  const probe = join(dir, '.mound/probe');
  const clock = (): number => {
    writeFileSync(probe, '');
    return statSync(probe).ctimeMs;
  };
  for (const began = clock(); clock() === began;) await new Promise((wake) => setTimeout(wake, 1));
  rmSync(probe);
}

/** Blob ids by path, of git's index. */
function indexOf(dir: string): Record<string, string> {
  const listing = git(dir, ['ls-files', '-sz']).toString('utf8').split('\0').filter(Boolean);
  return Object.fromEntries(
    listing.map((line) => {
      const tab = line.indexOf('\t');
      return [line.slice(tab + 1), line.split(' ')[1] ?? ''];
    }),
  );
}

const bytesOf = (dir: string, path: string): string | undefined =>
  existsSync(join(dir, path)) ? readFileSync(join(dir, path)).toString('latin1') : undefined;

test('files on disk, and what is committed of them, have the line ends that git gives them', async () => {
  for (let round = 0; round < 6 * scale; round++) {
    const draw = new Draw(seed * 1000 + round);
    const base = tempDir();
    const tree = join(base, 'tree');
    git(base, ['init', '-q', '-b', 'main', tree]);
    const settings = round % 2 === 0 ? undefined : draw.settings(tree);
    const first = draw.files(3);
    stage(tree, join(base, 'raw'), first);
    git(tree, ['commit', '-qm', 'first']);
    git(tree, ['checkout-index', '-a']);

    const repo = await tempRepo(join(base, 'repo'));
    await importGit(repo, tree);
    const dir = join(base, 'w');
    // Every other round with git's own defaults.
    const lineEnds = settings ?? {};
    await addWorkspace(repo, dir, { lineEnds });
    // The workspace keeps what it was added with.
    const directory = await openWorkspace(repo, dir);
    const onDisk = (at: string, of: Iterable<string> = first.keys()): Record<string, string | undefined> =>
      Object.fromEntries([...of].map((path) => [path, bytesOf(at, path)]));
    const context = { round, settings, attributes: [...first].filter(([path]) => path.endsWith('.gitattributes')) };
    expect({ ...context, files: onDisk(dir) }).toEqual({ ...context, files: onDisk(tree) });

    // Nobody touched anything, so nothing is changed, whatever a conversion would now make of it.
    await letTimePass(dir, first.keys());
    rmSync(join(dir, '.mound/index'));
    expect([round, (await directory.status()).changes]).toEqual([round, []]);

    const edits = new Map([...draw.files(2)].filter(([path, text]) => bytesOf(dir, path) !== latin1(text)));
    for (const at of [dir, tree]) write(at, edits);
    git(tree, ['add', '--', ...edits.keys()]);
    await directory.commit({ author: agent('ada'), message: 'edits' });
    const committed = repo
      .snapshot()
      .list()
      .map(({ path }) => [path, gitBlobId(repo.snapshot().read(path) ?? Buffer.alloc(0))]);
    const after = { ...context, edits: [...edits].filter(([path]) => path.endsWith('.gitattributes')) };
    expect({ ...after, blobs: Object.fromEntries(committed) as unknown }).toEqual({ ...after, blobs: indexOf(tree) });

    // What others land comes to disk the same way, also over files that a conversion would change by now.
    const late = draw.files(1);
    const before = indexOf(tree);
    stage(tree, join(base, 'late'), late);
    git(tree, ['checkout-index', '-f', '-z', '--stdin'], [...late.keys()].join('\0'));
    const changes = [...late].map(
      ([path, content]) => ({ kind: 'put', path, content, expect: { kind: 'any' } }) as const,
    );
    await repo.land({ author: agent('bob'), message: 'late', changes });
    const report = await directory.sync();
    // What is committed already does not come: a file that differs from it by its line ends alone stays, as in a checkout.
    const now = indexOf(tree);
    const came = [...late.keys()].filter((path) => now[path] !== before[path]);
    expect({ ...after, report, files: onDisk(dir, came) }).toEqual({
      ...after,
      report,
      files: onDisk(tree, came),
    });
  }
}, 300_000);

const latin1 = (text: string): string => Buffer.from(text).toString('latin1');

test.each([
  ['core.autocrlf=true'],
  ['core.autocrlf=input', 'core.eol=crlf'],
  ['core.eol=crlf', 'core.attributesFile=~/users'],
  ['core.autocrlf=yes', 'core.attributesFile='],
  [],
])('in a git checkout its settings count, and its attributes (%s %s)', async (...settings) => {
  const base = tempDir();
  const tree = join(base, 'tree');
  git(base, ['init', '-q', '-b', 'main', tree]);
  const files = { 'a.txt': 'a\n', 'b.auto': 'b\n', 'c.own': 'c\n', 'd.user': 'd\n', e: 'e\r\n', f: 'f\n' };
  stage(tree, tree, new Map(Object.entries({ ...files, '.gitattributes': '*.txt text\n*.auto text=auto\n' })));
  git(tree, ['commit', '-qm', 'first']);
  for (const setting of settings) git(tree, ['config', ...setting.split('=', 2)]);
  mkdirSync(join(base, '.config/git'), { recursive: true });
  writeFileSync(join(base, '.config/git/attributes'), '*.user text eol=crlf\n');
  writeFileSync(join(base, 'users'), '*.own text\n*.user -text\n');
  writeFileSync(join(tree, '.git/info/attributes'), 'f text\n');
  const env = { PATH: process.env['PATH'], HOME: base, GIT_CONFIG_NOSYSTEM: '1', GIT_ATTR_NOSYSTEM: '1' };
  const clean = { cwd: tree, env };
  expect((await mound(['init'], clean)).code).toBe(0);
  expect((await mound(['workspace', 'add', join(base, 'w')], clean)).code).toBe(0);
  execFileSync('git', ['checkout-index', '-a', `--prefix=${base}/g/`], clean);
  const paths = Object.keys(files);
  const bytes = (dir: string): (string | undefined)[] => paths.map((path) => bytesOf(join(base, dir), path));
  expect(bytes('w')).toEqual(bytes('g'));
  for (const dir of ['w', 'tree']) writeFileSync(join(base, dir, 'new'), 'n\r\n');
  const { stdout } = await mound(['commit', '-m', 'new', '--json'], { ...clean, cwd: join(base, 'w') });
  expect(JSON.parse(stdout)).toMatchObject({ outcome: 'landed' });
  execFileSync('git', ['add', 'new'], { ...clean, stdio: 'ignore' });
  const repo = await openRepo(tree);
  const committed = gitBlobId(repo.snapshot().read('new') ?? Buffer.alloc(0));
  await repo.close();
  expect(committed).toBe(indexOf(tree)['new']);
});

test('what git would run a program for, or write in another encoding, is left as it is', async () => {
  const base = tempDir();
  const repo = await tempRepo(join(base, 'repo'));
  const ran = join(base, 'ran');
  const attributes = '*.id ident\n*.lfs filter=lfs -text\n*.u16 working-tree-encoding=UTF-16\n';
  const texts = { 'a.id': '$Id$\n', 'b.lfs': 'version 1\r\n', 'c.u16': 'é\n', '.gitattributes': attributes };
  const changes = Object.entries(texts).map(([path, content]) => ({ kind: 'put', path, content, expect: { kind: 'absent' } }) as const); // prettier-ignore
  await repo.land({ author: agent('ada'), message: 'first', changes });
  const dir = join(base, 'w');
  const { directory } = await addWorkspace(repo, dir);
  writeFileSync(join(base, '.gitconfig'), `[filter "lfs"]\n\tclean = touch ${ran}\n\tsmudge = touch ${ran}\n`);
  for (const [path, text] of Object.entries(texts)) expect(readFileSync(join(dir, path), 'utf8')).toBe(text);
  const edited = { 'a.id': '$Id: 12 $\n', 'b.lfs': 'version 2\r\n', 'c.u16': 'ü\n' };
  for (const [path, text] of Object.entries(edited)) writeFileSync(join(dir, path), text);
  expect((await directory.commit({ author: agent('ada'), message: 'edits' })).kind).toBe('landed');
  for (const [path, text] of Object.entries(edited)) expect(repo.snapshot().readText(path)).toBe(text);
  expect(existsSync(ran)).toBe(false);
});
