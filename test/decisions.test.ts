import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { any, hashOfDecision, renderDecision, ruleRecord, version, type Author, type Change, type Decision, type Intent, type Outcome, type Repo, type Rule } from '@mound/vcs'; // prettier-ignore
import { describe, expect, test } from 'vitest';
import { indexFaults } from './kit/indexes.ts';
import { seqOf } from './kit/land.ts';
import { mound, projectDir, run, type Finished } from './kit/process.ts';
import { agent, setup, tempDir, tempRepo } from './kit/temp.ts';

const decision = (id: string, more: Partial<Decision> = {}): Decision => ({
  id, title: `About ${id}`, topics: [id], owner: 'ada', status: 'active', supersedes: [], text: 'So.', ...more,
}); // prettier-ignore
const design = (one: Decision, expect_: Change['expect'] = any): Change => ({ kind: 'put', path: `design/${one.id}.md`, content: renderDecision(one), expect: expect_ }); // prettier-ignore
const write = (path: string, content: string, expect_: Change['expect'] = any): Change => ({ kind: 'put', path, content, expect: expect_ }); // prettier-ignore
const land = (repo: Repo, changes: readonly Change[], more: Partial<Intent> = {}): Promise<Outcome> =>
  repo.land({ author: agent('w'), message: 'm', changes, ...more });
const writeTree = (dir: string, files: Readonly<Record<string, string>>): void => {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(join(dir, path, '..'), { recursive: true });
    writeFileSync(join(dir, path), content);
  }
};
const jsonOf = ({ stdout }: Finished): Record<string, unknown> => JSON.parse(stdout) as Record<string, unknown>;

const tsc = (dir: string): Promise<Finished> =>
  run(process.execPath, [join(projectDir, 'node_modules/@typescript/native/bin/tsc'), '--noEmit', '--strict', '--types', '', '--lib', 'es5', '--module', 'nodenext', '--allowImportingTsExtensions', '--pretty', 'false', 'main.ts'], { cwd: dir }); // prettier-ignore

const hasRust = ((): boolean => {
  try {
    execFileSync('cargo', ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
})();

describe('compilers stop at what is not active any more', () => {
  const old = decision('ids-are-numbers');
  const next = decision('ids-are-texts', { supersedes: ['ids-are-numbers'] });

  test('tsc: a symbol that was superseded, and one that never was', async () => {
    const dir = tempDir();
    const main = `import { DECISION_IDS_ARE_NUMBERS } from './decisions.ts';\nexport const why: string = DECISION_IDS_ARE_NUMBERS;\n`;
    writeTree(dir, { 'design/a.md': renderDecision(old), 'main.ts': main });
    expect(await mound(['decisions', 'gen', 'decisions.ts'], { cwd: dir })).toMatchObject({ code: 0, stdout: 'decisions.ts: 1 symbols\n' }); // prettier-ignore
    expect(await tsc(dir)).toMatchObject({ code: 0, stdout: '' });
    writeTree(dir, { 'design/b.md': renderDecision(next) });
    expect(await mound(['decisions', 'gen'], { cwd: dir })).toMatchObject({ code: 0 });
    const superseded = await tsc(dir);
    expect(superseded.code).not.toBe(0);
    expect(superseded.stdout).toContain(`main.ts(1,10): error TS2724: '"./decisions.ts"' has no exported member named 'DECISION_IDS_ARE_NUMBERS'.`); // prettier-ignore
    writeTree(dir, { 'main.ts': main.replaceAll('NUMBERS', 'COLOURS') });
    expect((await tsc(dir)).stdout).toMatch(/no exported member (named )?'DECISION_IDS_ARE_COLOURS'/);
  });

  test.skipIf(!hasRust)('cargo (skipped where it is not installed): the same', async () => {
    const dir = tempDir();
    const main = 'mod decisions;\nuse decisions::DECISION_IDS_ARE_NUMBERS;\nfn main() {\n    println!("{}", DECISION_IDS_ARE_NUMBERS);\n}\n'; // prettier-ignore
    writeTree(dir, {
      'Cargo.toml': '[package]\nname = "cites"\nversion = "0.1.0"\nedition = "2021"\n',
      '.gitignore': 'target\n',
      'design/a.md': renderDecision(old),
      'src/main.rs': main,
    });
    const cargo = (): Promise<Finished> => run('cargo', ['check', '--offline', '--quiet', '--color', 'never'], { cwd: dir });
    expect((await mound(['decisions', 'gen', 'src/decisions.rs'], { cwd: dir })).code).toBe(0);
    expect(await cargo()).toMatchObject({ code: 0, stderr: '' });
    writeTree(dir, { 'design/b.md': renderDecision(next) });
    expect((await mound(['decisions', 'gen'], { cwd: dir })).code).toBe(0);
    const superseded = await cargo();
    expect(superseded.code).not.toBe(0);
    expect(superseded.stderr).toContain('error[E0432]: unresolved import `decisions::DECISION_IDS_ARE_NUMBERS`');
    writeTree(dir, { 'src/main.rs': main.replaceAll('NUMBERS', 'COLOURS') });
    expect((await cargo()).stderr).toContain('unresolved import `decisions::DECISION_IDS_ARE_COLOURS`');
  }); // prettier-ignore
});

describe('the commands', () => {
  const old = decision('A');
  const next = decision('B', { supersedes: ['A'] });
  const cites = `# @decision A\n# @decision B@${hashOfDecision(next)}\n# @decision B@12345678\nDECISION_C = 1\n`;

  test('check and list in a plain directory, a repository, at a seq, and in a workspace', async () => {
    const plain = tempDir();
    writeTree(plain, { 'design/A.md': renderDecision(old), 'design/B.md': renderDecision(next), 'src/x.py': cites, 'node_modules/y.py': cites, 'design/README.md': 'prose\n' }); // prettier-ignore
    const found = await mound(['decisions', 'check', '--json'], { cwd: plain });
    expect(found.code).toBe(1);
    const expected = {
      decisions: 2,
      missing: [{ path: 'src/x.py', line: 4, id: 'DECISION_C' }],
      superseded: [{ path: 'src/x.py', line: 1, id: 'A' }],
      outdated: [{ path: 'src/x.py', line: 3, id: 'B' }],
      faults: [],
      stale: [],
    };
    expect(jsonOf(found)).toMatchObject({ ...expected, references: 4 });
    const text = await mound(['decisions', 'check'], { cwd: plain });
    expect(text.stdout).toContain("src/x.py:1: superseded: 'A' is superseded by B; cite that\n");

    const dir = tempDir();
    const repo = await tempRepo(dir);
    const first = seqOf(await land(repo, [design(old), write('src/x.py', '# @decision A\n')]));
    await land(repo, [design(next), write('src/x.py', cites)]);
    expect(jsonOf(await mound(['decisions', 'check', '--json'], { cwd: dir }))).toMatchObject(expected);
    expect(await mound(['decisions', 'check', '--at', String(first)], { cwd: dir })).toMatchObject({
      code: 0,
      stdout: '1 references to 1 decisions are right\n',
    });
    const list = jsonOf(await mound(['decisions', 'list', '--json'], { cwd: dir }));
    expect(list).toMatchObject({
      ...expected,
      decisions: [
        { id: 'A', status: 'superseded', supersededBy: ['B'], path: 'design/A.md', symbol: 'DECISION_A' },
        { id: 'B', status: 'active', hash: hashOfDecision(next), topics: ['B'], owner: 'ada' },
      ],
    });
    const work = join(tempDir(), 'ws');
    await mound(['workspace', 'add', work], { cwd: dir });
    expect((await mound(['decisions', 'check'], { cwd: work })).code).toBe(1);
    writeTree(work, { 'src/x.py': '# @decision B\n' });
    expect((await mound(['decisions', 'check'], { cwd: work })).code).toBe(0);
    expect((await mound(['decisions', 'check', '--repo', dir], { cwd: work })).code).toBe(1);
  });

  test('a document that cannot be read is named with file and line, and nothing is generated', async () => {
    const dir = tempDir();
    writeTree(dir, { 'design/A.md': renderDecision(old).replace('active', 'done') });
    expect(await mound(['decisions', 'list'], { cwd: dir })).toMatchObject({
      code: 1,
      stdout: "design/A.md:6: the status 'done' is none of active, superseded, proposed\n",
    });
    const gen = await mound(['decisions', 'gen', 'x.ts'], { cwd: dir });
    expect(gen).toMatchObject({ code: 2, stderr: expect.stringContaining('design/A.md:6:') as string });
    expect(existsSync(join(dir, 'x.ts'))).toBe(false);
    writeTree(dir, { 'design/A.md': renderDecision(old) });
    expect((await mound(['decisions', 'gen', 'x.txt'], { cwd: dir })).code).toBe(2);
    expect((await mound(['decisions', 'gen'], { cwd: dir })).code).toBe(2);
  });
});

describe('the landing rule', () => {
  const rule: Rule = { kind: 'references', paths: ['*'] };
  const setRule = (repo: Repo, value: Rule): Promise<Outcome> =>
    repo.land({ author: setup, message: 'rule', records: [ruleRecord('references', value, any)] });
  const violated = (...paths: string[]): object => ({ kind: 'rejected', code: 'rule-violated', rule: 'references', paths }); // prettier-ignore
  const old = decision('A');
  const next = decision('B', { supersedes: ['A'] });

  test('what cites a missing or superseded decision is refused; what cites it already may stay', async () => {
    const repo = await tempRepo();
    await setRule(repo, rule);
    const refused = await land(repo, [write('a.ts', '\n// @decision A\n')]);
    expect(refused).toMatchObject(violated('a.ts'));
    expect(refused.kind === 'rejected' && [refused.message, refused.next].join('; ')).toBe(
      "rule references: a.ts:2: no decision is called 'A'; see 'mound decisions list'; cite an active decision ('mound decisions list'), or take the reference out",
    );
    // With the decision in the same intent.
    expect((await land(repo, [design(old), write('a.ts', '// @decision A\n')])).kind).toBe('landed');
    expect((await land(repo, [design(next)])).kind).toBe('landed');
    expect(await land(repo, [write('b.ts', 'DECISION_A;\n')])).toMatchObject(violated('b.ts'));
    expect((await land(repo, [write('a.ts', '// @decision A\nmore\n')])).kind).toBe('landed');
    expect((await land(repo, [{ kind: 'move', path: 'a.ts', to: 'c.ts', expect: any }])).kind).toBe('landed');
    expect((await land(repo, [write('b.ts', 'DECISION_B;\n')])).kind).toBe('landed');
    expect(await land(repo, [{ kind: 'delete', path: 'design/A.md', expect: any }])).toMatchObject(violated('design/B.md')); // prettier-ignore
    expect(repo.references({ decision: 'A' })).toMatchObject([{ path: 'c.ts', line: 1, standing: 'superseded' }]);
    expect(repo.fsck().errors).toEqual([]);
  });

  test('what counts is what a merge comes to, and the decisions at its landing', async () => {
    const repo = await tempRepo();
    await setRule(repo, rule);
    const base = seqOf(await land(repo, [design(old), write('f', 'a\nb\nc\nd\ne\n')]));
    await land(repo, [write('f', 'A\nb\nc\nd\ne\n', version(base)), design(next)]);
    // Right when it was written, superseded where it is merged.
    expect(await land(repo, [write('f', 'a\nb\nc\nd\n// @decision A\n', version(base))])).toMatchObject(violated('f'));
    const merged = await land(repo, [write('f', 'a\nb\nc\nd\n// @decision B\n', version(base))]);
    expect(merged.kind).toBe('merged');
    expect(repo.references({ path: 'f' })).toMatchObject([{ id: 'B', line: 5, standing: 'right' }]);
    // Both in one batch: the second sees what the first has decided.
    const [first, second] = await Promise.all([
      land(repo, [design(decision('C', { supersedes: ['B'] }))]),
      land(repo, [write('g', '// @decision B\n')]),
    ]);
    expect(first.kind).toBe('landed');
    expect(second).toMatchObject(violated('g'));
  });

  test('documents that cannot be read, or clash, are refused; on paths and for authors that the rule names', async () => {
    const repo = await tempRepo();
    await setRule(repo, { ...rule, paths: ['src'], to: { kinds: ['agent'] } });
    await land(repo, [design(old)]);
    expect(await land(repo, [write('design/x.md', 'what\n')])).toMatchObject(violated('design/x.md'));
    expect(await land(repo, [write('design/twin.md', renderDecision(old))])).toMatchObject(violated('design/twin.md'));
    expect((await land(repo, [write('docs/x', '@decision Z\n')])).kind).toBe('landed');
    expect(await land(repo, [write('src/x', '@decision Z\n')])).toMatchObject(violated('src/x'));
    const human: Author = { name: 'eve', kind: 'human' };
    expect((await land(repo, [write('src/x', '@decision Z\n')], { author: human })).kind).toBe('landed');
    const bad = { kind: 'references', paths: ['*'], bad: 'ignore' } as unknown as Rule;
    await expect(async () => setRule(repo, bad)).rejects.toThrow('"bad" is neither');
  });

  test('with flag it lands, and events tell; outdated references always land', async () => {
    const repo = await tempRepo();
    await setRule(repo, { ...rule, bad: 'flag' });
    await land(repo, [design(old)]);
    const { seq } = repo.snapshot();
    await land(repo, [design(next), write('a', '@decision A\n@decision B@00000000\n@decision Z\n')]);
    await land(repo, [{ kind: 'delete', path: 'design/A.md', expect: any }]);
    const told = [...repo.events({ seq, index: 1e9 })].filter(({ kind }) => kind !== 'intent.landed');
    expect(told).toMatchObject([
      { kind: 'decision.changed', path: 'design/B.md', decision: 'B', status: 'active', hash: hashOfDecision(next), supersedes: ['A'], topics: ['B'], owner: 'ada' },
      { kind: 'reference.flagged', path: 'a', line: 1, decision: 'A', standing: 'superseded' },
      { kind: 'reference.flagged', path: 'a', line: 2, decision: 'B', standing: 'outdated' },
      { kind: 'reference.flagged', path: 'a', line: 3, decision: 'Z', standing: 'missing' },
      { kind: 'decision.changed', path: 'design/A.md' },
    ]); // prettier-ignore
    expect(repo.checkDecisions().missing.map(({ id }) => id)).toEqual(['A', 'Z']);
  });

  test('the plain command and another process meet it', async () => {
    const dir = tempDir();
    const repo = await tempRepo(dir);
    const set = await mound(['rules', 'set', 'references'], { cwd: dir, input: JSON.stringify(rule) });
    expect(set.code).toBe(0);
    const put = await mound(['put', 'a.py', '-m', 'cite', '--json'], { cwd: dir, input: '# @decision A\n' });
    expect(put.code).toBe(4);
    expect(jsonOf(put)).toMatchObject({ outcome: 'rejected', code: 'rule-violated' });
    await mound(['put', 'design/A.md', '-m', 'decide'], { cwd: dir, input: renderDecision(old) });
    expect((await mound(['put', 'a.py', '-m', 'cite'], { cwd: dir, input: '# @decision A\n' })).code).toBe(0);
    expect(await land(repo, [write('b', '@decision Q\n')])).toMatchObject(violated('b'));
  });
});

test('the index follows files through moves, branches, imports and repair', async () => {
  const dir = tempDir();
  const repo = await tempRepo(dir);
  await land(repo, [design(decision('A')), write('x', '@decision A\n'), write('y', 'none\n')]);
  const early = repo.snapshot().seq;
  await repo.fork('side');
  await land(repo, [{ kind: 'move', path: 'x', to: 'z', expect: any }]);
  await land(repo, [write('y', 'DECISION_A\n')], { branch: 'side' });
  const paths = (options: object): string[] => repo.references({ decision: 'A', ...options }).map(({ path }) => path);
  expect(paths({})).toEqual(['z']);
  expect(paths({ at: early })).toEqual(['x']);
  expect(paths({ branch: 'side' })).toEqual(['x', 'y']);
  expect(repo.references({ path: 'y', branch: 'side' })).toMatchObject([{ id: 'A', symbol: 'DECISION_A' }]);
  expect(repo.fsck().errors).toEqual([]);
  const git = join(tempDir(), 'out.git');
  expect((await mound(['export', git, '--repo', dir])).code).toBe(0);
  const other = join(tempDir(), 'in');
  await mound(['init', other]);
  expect((await mound(['import', git, '--repo', other])).code).toBe(0);
  expect(jsonOf(await mound(['decisions', 'check', '--json', '--repo', other]))).toMatchObject({ references: 1 });
  expect(jsonOf(await mound(['decisions', 'check', '--json', '--repo', other, '--branch', 'side']))).toMatchObject({ references: 2 }); // prettier-ignore
  expect(await indexFaults(other)).toEqual([]);
  await repo.close();
  expect(await indexFaults(dir)).toEqual([]);
});
