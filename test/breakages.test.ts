import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { any, breakageOf, withBreakageComment, type Author, type Intent, type Outcome, type Repo } from '@mound/vcs';
import { expect, test } from 'vitest';
import { indexFaults } from './kit/indexes.ts';
import { mound, projectDir, run, type Finished } from './kit/process.ts';
import { agent, setup, tempDir, tempRepo } from './kit/temp.ts';

const write = (path: string, content: string) => ({ kind: 'put', path, content, expect: any }) as const;
const land = (repo: Repo, files: Readonly<Record<string, string>>, more: Partial<Intent> = {}): Promise<Outcome> =>
  repo.land({ author: setup, message: 'm', changes: Object.entries(files).map(([path, content]) => write(path, content)), ...more }); // prettier-ignore
const jsonOf = ({ stdout }: Finished): Record<string, unknown> => JSON.parse(stdout) as Record<string, unknown>;

const worker: Author = { ...agent('w-3'), role: 'worker', model: 'm-1' };
const core = 'export function parseCount(text: string): number {\n  return Number(text);\n}\n';
const broken = core.replace('text: string', 'text: string, radix: number').replace('Number(text)', 'parseInt(text, radix)'); // prettier-ignore
const tsconfig = '{"compilerOptions": {"strict": true, "noEmit": true, "types": [], "lib": ["es5"], "module": "nodenext", "allowImportingTsExtensions": true}, "include": ["src"]}'; // prettier-ignore
const user = (name: string): string => `import { parseCount } from './core.ts';\nexport const ${name}: number = parseCount('1');\n`; // prettier-ignore
const files = { 'src/core.ts': core, 'src/a.ts': user('a'), 'tsconfig.json': tsconfig };
const rationale = 'counts come in several bases; say which one you mean';
const tsc = (dir: string, ...flags: string[]): Promise<Finished> =>
  run(process.execPath, [join(projectDir, 'node_modules/@typescript/native/bin/tsc'), '-p', '.', ...flags], {
    cwd: dir,
  });

test('a breakage is listed with what it changed, told in the feed, and found again from every branch that has it', async () => {
  const dir = tempDir();
  const repo = await tempRepo(dir);
  await land(repo, files);
  await repo.fork('before');
  const { seq } = repo.snapshot();
  const stated = breakageOf(rationale, worker, 't-1');
  await land(repo, { 'src/core.ts': broken }, { author: worker, task: 't-1', breakage: rationale, message: 'bases' });
  await repo.fork('after');
  // Records break nothing, and neither does a blank.
  await repo.land({ author: worker, message: 'm', breakage: 'why', records: [{ key: 'k', expect: any, value: 'v' }] });
  await land(repo, { 'src/z.ts': '' }, { breakage: ' ' });
  const view = { ...stated, paths: ['src/core.ts'], message: 'bases', author: worker, task: 't-1', rationale };
  expect(repo.breakages()).toMatchObject([view]);
  expect(repo.breakages({ at: seq })).toEqual([]);
  expect(repo.breakages({ branch: 'before' })).toEqual([]);
  await land(repo, { 'src/b.ts': user('b') }, { branch: 'after', breakage: 'more', author: worker });
  expect(repo.breakages({ branch: 'after' }).map((one) => one.rationale)).toEqual(['more', rationale]);
  expect(repo.breakages({ branch: 'after', limit: 1 })).toHaveLength(1);
  const told = [...repo.events()].filter(({ kind }) => kind === 'breakage.stated');
  expect(told[0]).toMatchObject({ breakage: stated.id, rationale, paths: ['src/core.ts'], agent: 'w-3', task: 't-1' });
  expect(repo.fsck().errors).toEqual([]);
  await repo.close();
  expect(await indexFaults(dir)).toEqual([]);
});

test('the comment stands before the declaration that changes, once', () => {
  const stated = breakageOf(rationale, worker, 't-1');
  const comment = `// @breakage ${stated.id} by w-3, task t-1: ${rationale}\n`;
  expect(withBreakageComment('src/core.ts', core, broken, stated)).toBe(`${comment}${broken}`);
  expect(withBreakageComment('src/core.ts', core, `${comment}${broken}`, stated)).toBe(`${comment}${broken}`);
  const body = core.replace('Number(text)', 'Number(text.trim())');
  expect(withBreakageComment('src/core.ts', `x\n${core}`, `x\n${body}`, stated)).toBe(`x\n${comment}${body}`);
  expect(withBreakageComment('data.json', '{}', '[]', stated)).toBe('[]');
  expect(withBreakageComment('src/core.ts', core, core, stated)).toBe(core);
  expect(withBreakageComment('new.py', undefined, 'x = 1\n', stated)).toBe(`${comment.replace('//', '#')}x = 1\n`);
});

test('a workspace states one by the command; the next one’s failing build is explained to it', async () => {
  const dir = tempDir();
  const repo = await tempRepo(dir);
  await land(repo, files);
  await repo.close();
  const first = join(tempDir(), 'first');
  await mound(['workspace', 'add', first], { cwd: dir });
  writeFileSync(join(first, 'src/core.ts'), broken);
  const commit = ['commit', '-m', 'bases', '--task', 't-1', '--breakage', rationale, '--agent', 'w-3', '--json'];
  const landed = jsonOf(await mound(commit, { cwd: first }));
  expect(landed).toMatchObject({ outcome: 'landed' });
  expect(readFileSync(join(first, 'src/core.ts'), 'utf8')).toMatch(/^\/\/ @breakage [0-9a-f]{8} by w-3, task t-1: counts come/);
  const second = join(tempDir(), 'second');
  await mound(['workspace', 'add', second], { cwd: dir });
  mkdirSync(join(second, 'out'));
  const build = await tsc(second, '--pretty', 'false');
  expect(build.code).not.toBe(0);
  const found = await mound(['explain', '--json'], { cwd: second, input: build.stdout });
  expect(found.code).toBe(0);
  expect(jsonOf(found)).toMatchObject({
    diagnostics: 1,
    breakages: [
      {
        rationale,
        task: 't-1',
        author: { agent: 'w-3' },
        paths: ['src/core.ts'],
        symbols: ['parseCount'],
        matches: [{ path: 'src/a.ts', line: 2, code: 'TS2554', tool: 'tsc', by: ['symbol'] }],
      },
    ],
  });
  const text = await mound(['explain'], { cwd: second, input: (await tsc(second, '--pretty', 'true')).stdout });
  expect(text.stdout).toContain(`by w-3, task t-1: ${rationale}\n  changed src/core.ts; names parseCount\n  src/a.ts:2: TS2554 Expected 2 arguments, but got 1. (by symbol, range, file)`); // prettier-ignore
  // Before it landed, it explains nothing.
  const early = await mound(['explain', '--at', '1'], { cwd: second, input: build.stdout });
  expect(early).toMatchObject({ code: 0, stdout: 'no breakage explains these 1 errors\n' });
  const other = await mound(['explain', '--json'], { cwd: dir, input: 'src/x.ts(1,1): error TS1005: \';\' expected.\n' });
  expect(jsonOf(other)).toEqual({ diagnostics: 1, breakages: [] });
  expect(await mound(['explain'], { cwd: dir, input: 'fine\n' })).toMatchObject({
    code: 0,
    stdout: 'nothing in it is an error of a compiler that is known\n',
  });
}); // prettier-ignore

test('put states one, too, and the rule of scope lets it pass', async () => {
  const dir = tempDir();
  const repo = await tempRepo(dir);
  await land(repo, { 'lib.rs': 'pub fn a() {}\n' });
  const rule = '{"kind": "scope", "to": {"agents": ["w-3"]}, "paths": ["src"]}';
  await mound(['rules', 'set', 'scope'], { cwd: dir, input: rule });
  const put = ['put', 'lib.rs', '--expect', 'any', '-m', 'b', '--agent', 'w-3'];
  expect((await mound(put, { cwd: dir, input: 'pub fn b() {}\n' })).code).toBe(4);
  expect((await mound([...put, '--breakage', 'a was no name'], { cwd: dir, input: 'pub fn b() {}\n' })).code).toBe(0);
  expect(repo.snapshot().readText('lib.rs')).toMatch(/^\/\/ @breakage [0-9a-f]{8} by w-3: a was no name\npub fn b/);
  const output = 'error[E0425]: cannot find function `a` in module `lib`\n --> src/main.rs:3:8\n';
  expect(repo.explain(output).breakages).toMatchObject([{ symbols: ['a'], paths: ['lib.rs'], weight: 4 }]);
});
