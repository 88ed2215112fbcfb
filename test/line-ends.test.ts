import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { addWorkspace } from '@mound/vcs';
import { gitBlobId, importGit } from '@mound/vcs/git';
import { expect, test } from 'vitest';
import { seededRandom } from '@mound/vcs';
import { scale, seed } from './kit/seed.ts';
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
    const first = draw.files(3);
    stage(tree, join(base, 'raw'), first);
    git(tree, ['commit', '-qm', 'first']);
    git(tree, ['checkout-index', '-a']);

    const repo = await tempRepo(join(base, 'repo'));
    await importGit(repo, tree);
    const dir = join(base, 'w');
    const { directory } = await addWorkspace(repo, dir);
    const onDisk = (at: string, of: Iterable<string> = first.keys()): Record<string, string | undefined> =>
      Object.fromEntries([...of].map((path) => [path, bytesOf(at, path)]));
    const context = { round, attributes: [...first].filter(([path]) => path.endsWith('.gitattributes')) };
    expect({ ...context, files: onDisk(dir) }).toEqual({ ...context, files: onDisk(tree) });

    // Nobody touched anything, so nothing is changed, whatever a conversion would now make of it.
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
    stage(tree, join(base, 'late'), late);
    git(tree, ['checkout-index', '-f', '-z', '--stdin'], [...late.keys()].join('\0'));
    const changes = [...late].map(
      ([path, content]) => ({ kind: 'put', path, content, expect: { kind: 'any' } }) as const,
    );
    await repo.land({ author: agent('bob'), message: 'late', changes });
    const report = await directory.sync();
    expect({ ...after, report, files: onDisk(dir, late.keys()) }).toEqual({
      ...after,
      report,
      files: onDisk(tree, late.keys()),
    });
  }
}, 300_000);

const latin1 = (text: string): string => Buffer.from(text).toString('latin1');

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
