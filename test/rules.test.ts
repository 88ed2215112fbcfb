import { absent, any, openRepo, ruleRecord, version, type Author, type Change, type Intent, type Outcome, type Precondition, type Repo, type Rule } from '@mound/vcs'; // prettier-ignore
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { indexFaults } from './kit/indexes.ts';
import { put, seqOf } from './kit/land.ts';
import { seed, scale } from './kit/seed.ts';
import { agent, setup, tempDir, tempRepo } from './kit/temp.ts';

const write = (path: string, content: string, expect_: Precondition = any): Change => ({ kind: 'put', path, content, expect: expect_ }); // prettier-ignore
const land = (repo: Repo, changes: readonly Change[], more: Partial<Intent> = {}): Promise<Outcome> =>
  repo.land({ author: agent('w'), message: 'm', changes, ...more });
const setRule = async (repo: Repo, name: string, rule: Rule | null, expect_: Precondition = any): Promise<Outcome> =>
  repo.land({ author: setup, message: 'rule', records: [ruleRecord(name, rule, expect_)] });
const violated = (rule: string, ...paths: string[]): object => ({
  kind: 'rejected',
  code: 'rule-violated',
  rule,
  paths,
});

describe('scope', () => {
  const scope: Rule = { kind: 'scope', to: { tasks: ['t-1'] }, paths: ['src/a', 'docs/*.md'] };

  test('a task changes its paths only, whatever the change is; a stated breakage may', async () => {
    const repo = await tempRepo();
    await put(repo, 'src/b/f', 'x\n');
    await put(repo, 'src/a/g', 'x\n');
    await setRule(repo, 'scope/t-1', scope);
    const task = { task: 't-1' };
    expect((await land(repo, [write('src/a/deep/f', '1\n'), write('docs/x.md', '1\n')], task)).kind).toBe('landed');
    const refused = await land(repo, [write('src/a/f', '1\n'), write('src/ab', '1\n'), write('docs/y/x.md', '1\n')], task); // prettier-ignore
    expect(refused).toMatchObject(violated('scope/t-1', 'src/ab', 'docs/y/x.md'));
    expect(refused.kind === 'rejected' && [refused.message, refused.next].join('; ')).toBe(
      'rule scope/t-1: src/ab, docs/y/x.md is out of scope; change what is in scope only, or state in the breakage why this has to be broken',
    );
    for (const change of [
      { kind: 'delete', path: 'src/b/f', expect: any },
      { kind: 'chmod', path: 'src/b/f', mode: 'executable', expect: any },
    ] as const) {
      expect(await land(repo, [change], task)).toMatchObject(violated('scope/t-1', 'src/b/f'));
    }
    const move = { kind: 'move', path: 'src/a/g', to: 'src/b/g', expect: any } as const;
    expect(await land(repo, [move], task)).toMatchObject(violated('scope/t-1', 'src/b/g'));
    expect((await land(repo, [move], { ...task, breakage: 'g belongs to b' })).kind).toBe('landed');
    // Whoever has another task, or none.
    expect((await land(repo, [write('src/b/f', '2\n')], { task: 't-2' })).kind).toBe('landed');
    expect((await land(repo, [write('src/b/f', '3\n')])).kind).toBe('landed');
    // What is true already changes nothing.
    expect((await land(repo, [write('src/b/f', '3\n')], task)).kind).toBe('unchanged');
  });

  test('an intent out of scope is refused before it is merged, parked or kept', async () => {
    const repo = await tempRepo();
    const v1 = await put(repo, 'f', 'x\n');
    await put(repo, 'f', 'y\n', v1);
    await setRule(repo, 's', scope);
    const stale = [write('f', 'z\n', version(v1))];
    expect(await land(repo, stale, { task: 't-1' })).toMatchObject(violated('s', 'f'));
    await repo.freeze('f', { author: setup, reason: 'split' });
    expect(await land(repo, stale, { task: 't-1' })).toMatchObject(violated('s', 'f'));
    expect((await land(repo, stale, { task: 't-2' })).kind).toBe('parked');
    // One that was parked meets the rules of the day on which it is decided again.
    await setRule(repo, 's', { ...scope, to: { tasks: ['t-2'] } });
    const { parked } = await repo.thaw('f', { author: setup, reason: 'done' });
    expect(parked.map(({ outcome }) => outcome)).toMatchObject([{ kind: 'rejected', code: 'rule-violated' }]);
    expect(repo.fsck().errors).toEqual([]);
  });

  test.each([
    ['agents', { agents: ['w'] }],
    ['roles', { roles: ['worker'] }],
    ['kinds', { kinds: ['agent'] }],
    ['branches', { branches: ['main'] }],
    ['all of them', { agents: ['w'], roles: ['worker'], kinds: ['agent'], branches: ['main'] }],
  ] as const)('is about %s that it names', async (_name, to) => {
    const repo = await tempRepo();
    await repo.fork('side');
    await setRule(repo, 's', { kind: 'scope', to, paths: ['a'] });
    const worker: Author = { name: 'w', kind: 'agent', agent: 'w', role: 'worker' };
    expect(await land(repo, [write('b', '1\n')], { author: worker })).toMatchObject(violated('s', 'b'));
    const other = { author: { name: 'eve', kind: 'human' } as const, branch: 'side' };
    expect((await land(repo, [write('b', '1\n')], other)).kind).toBe('landed');
  });
});

describe('line budget', () => {
  const lines = (count: number): string => 'line\n'.repeat(count);

  test('a file may not grow beyond it; what was longer may only shrink', async () => {
    const repo = await tempRepo();
    await put(repo, 'guide/long.md', lines(9));
    await setRule(repo, 'guide', { kind: 'line-budget', paths: ['guide'], linesMax: 4 });
    expect((await land(repo, [write('guide/index.md', lines(4))])).kind).toBe('landed');
    const refused = await land(repo, [write('guide/index.md', `${lines(4)}and more`)]);
    expect(refused).toMatchObject(violated('guide', 'guide/index.md'));
    expect(refused.kind === 'rejected' && refused.message).toBe('rule guide: guide/index.md would have 5 lines, over its budget of 4'); // prettier-ignore
    expect(await land(repo, [write('guide/long.md', lines(9).replace('line', 'LINE'))])).toMatchObject(violated('guide', 'guide/long.md')); // prettier-ignore
    expect((await land(repo, [write('guide/long.md', lines(7))])).kind).toBe('landed');
    expect((await land(repo, [{ kind: 'delete', path: 'guide/long.md', expect: any }])).kind).toBe('landed');
    expect((await land(repo, [write('other.md', lines(99))])).kind).toBe('landed');
  });

  test('what counts is what lands, after a merge', async () => {
    const repo = await tempRepo();
    const v1 = await put(repo, 'g', 'a\nb\nc\nd\ne\n');
    await setRule(repo, 'g', { kind: 'line-budget', paths: ['g'], linesMax: 6 });
    const [first, second] = await Promise.all([
      land(repo, [write('g', 'new\na\nb\nc\nd\ne\n', version(v1))]),
      land(repo, [write('g', 'a\nb\nc\nd\ne\nnew\n', version(v1))]),
    ]);
    expect(first.kind).toBe('landed');
    expect(second).toMatchObject(violated('g', 'g'));
    expect(repo.snapshot().readText('g')).toBe('new\na\nb\nc\nd\ne\n');
  });
});

describe('fence', () => {
  test('a worker whose lease was taken over cannot land, nor can one that leaves it out', async () => {
    const repo = await tempRepo();
    const lease = await repo.land({ author: setup, message: 'm', records: [{ key: 'lease/t-1', expect: absent, value: 'w' }] }); // prettier-ignore
    await setRule(repo, 'leases', { kind: 'fence', record: 'lease/{task}' });
    const task = { task: 't-1' };
    const under = (expect_: Precondition, key = 'lease/t-1'): Partial<Intent> => ({ ...task, records: [{ key, expect: expect_, value: 'w' }] }); // prettier-ignore
    expect(await land(repo, [write('f', '1\n')], task)).toMatchObject(violated('leases'));
    expect(await land(repo, [write('f', '1\n')], under(any))).toMatchObject(violated('leases'));
    expect(await land(repo, [write('f', '1\n')], under(absent, 'lease/t-2'))).toMatchObject(violated('leases'));
    const first = await land(repo, [write('f', '1\n')], under(version(seqOf(lease))));
    expect(first.kind).toBe('landed');
    await repo.land({ author: setup, message: 'm', records: [{ key: 'lease/t-1', expect: any, value: 'v' }] });
    expect(await land(repo, [write('f', '2\n')], under(version(seqOf(first))))).toMatchObject({ code: 'record-stale' });
    // Records alone claim and give back; without a task there is nothing to be fenced.
    expect((await repo.land({ author: setup, message: 'm', ...under(any) })).kind).toBe('landed');
    expect((await land(repo, [write('f', '3\n')])).kind).toBe('landed');
    await setRule(repo, 'leases', { kind: 'fence', to: { agents: ['w'] }, record: 'lease/{task}' });
    const bare = await land(repo, [write('f', '4\n')]);
    expect(bare).toMatchObject({ ...violated('leases'), message: 'rule leases: the intent names no task' });
  });
});

describe('links', () => {
  test('no link of these files leads nowhere, from whichever end it would be broken', async () => {
    const repo = await tempRepo();
    await put(repo, 'src/a.ts', 'x\n');
    await setRule(repo, 'guide', { kind: 'links', paths: ['guide'] });
    const refused = await land(repo, [write('guide/index.md', '- [one](one.md)\n- [code](../src/a.ts)\n')]);
    expect(refused).toMatchObject(violated('guide', 'guide/index.md'));
    expect(refused.kind === 'rejected' && refused.message).toBe('rule guide: guide/index.md:1 links to one.md, which would not be there'); // prettier-ignore
    const both = [write('guide/index.md', '- [one](one.md)\n- [code](../src/a.ts) [all](../src)\n'), write('guide/one.md', '1\n')]; // prettier-ignore
    expect((await land(repo, both)).kind).toBe('landed');
    const gone: Change = { kind: 'delete', path: 'guide/one.md', expect: any };
    expect(await land(repo, [gone])).toMatchObject(violated('guide', 'guide/index.md'));
    expect(await land(repo, [{ kind: 'move', path: 'guide/one.md', to: 'guide/two.md', expect: any }])).toMatchObject(violated('guide', 'guide/index.md')); // prettier-ignore
    expect((await land(repo, [gone, write('guide/index.md', '- [all](../src)\n')])).kind).toBe('landed');
    expect((await land(repo, [write('docs/x.md', '[no](where.md)\n')])).kind).toBe('landed');
    // Code may go; whoever changes the guide next has to see to it.
    expect((await land(repo, [{ kind: 'delete', path: 'src/a.ts', expect: any }])).kind).toBe('landed');
    expect(await land(repo, [write('guide/index.md', '- [all](../src) more\n')])).toMatchObject(violated('guide', 'guide/index.md')); // prettier-ignore
  });
});

test('a rule may come with what needs it, is in force within its batch, and ends with its record', async () => {
  const dir = tempDir();
  const repo = await tempRepo(dir);
  const rule: Rule = { kind: 'scope', to: { tasks: ['t'] }, paths: ['a'] };
  const [claim, early, late] = await Promise.all([
    land(repo, [write('plan', 't\n')], { records: [ruleRecord('t', rule, absent)] }),
    land(repo, [write('b', '1\n')], { task: 't' }),
    setRule(repo, 't', null),
  ]);
  expect([claim.kind, late.kind]).toEqual(['landed', 'landed']);
  expect(early).toMatchObject(violated('t', 'b'));
  expect(repo.rules()).toEqual([]);
  expect((await land(repo, [write('b', '1\n')], { task: 't' })).kind).toBe('landed');
  expect(repo.fsck().errors).toEqual([]);
  await repo.close();
  expect(await indexFaults(dir)).toEqual([]);
});

test.each([
  ['a kind that there is not', '{"kind":"x"}'],
  ['no JSON', '{'],
  ['a misspelt field', '{"kind":"scope","paths":["a"],"too":{}}'],
  ['no paths', '{"kind":"scope","paths":[]}'],
  ['a budget that is no number', '{"kind":"line-budget","paths":["a"],"linesMax":"4"}'],
])('a rule with %s is refused by whoever writes it', async (_name, value) => {
  const repo = await tempRepo();
  const records = [{ key: 'mound/rules/x', expect: absent, value }];
  expect(await repo.land({ author: setup, message: 'm', records })).toMatchObject({ kind: 'rejected', code: 'invalid-intent' }); // prettier-ignore
  expect(repo.snapshot().seq).toBe(0);
});

test('another handle enforces what one has set, and what stood before it stands', async () => {
  const dir = tempDir();
  const [one, other] = [await tempRepo(dir), await openRepo(dir)];
  try {
    await put(other, 'b', '1\n');
    await setRule(one, 's', { kind: 'scope', paths: ['a'] });
    expect(await land(other, [write('b', '2\n')])).toMatchObject(violated('s', 'b'));
    await setRule(other, 's', null);
    expect((await land(one, [write('b', '2\n')])).kind).toBe('landed');
  } finally {
    await other.close();
  }
});

const path = fc.constantFrom('a', 'a/b', 'c', 'c/d');
const step = fc.oneof(
  fc.record({ kind: fc.constant('rule' as const), name: fc.constantFrom('r1', 'r2'), paths: fc.uniqueArray(path, { minLength: 1, maxLength: 2 }), task: fc.constantFrom('t1', 't2'), linesMax: fc.option(fc.nat(4), { nil: undefined }), isEnd: fc.boolean() }),
  fc.record({ kind: fc.constant('land' as const), path: fc.constantFrom('a/b', 'c/d', 'e'), task: fc.constantFrom('t1', 't2'), lines: fc.nat(5) }),
); // prettier-ignore

test('rules that come and go decide as a list of them does', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
      const repo = await openRepo(tempDir(), { create: true });
      const rules = new Map<string, Rule & { kind: 'scope' | 'line-budget' }>();
      const files = new Map<string, number>();
      try {
        for (const [at, taken] of steps.entries()) {
          if (taken.kind === 'rule') {
            const { name, paths, linesMax, task } = taken;
            const to = { tasks: [task] };
            const rule = linesMax === undefined ? ({ kind: 'scope', to, paths } as const) : ({ kind: 'line-budget', to, paths, linesMax } as const); // prettier-ignore
            if (taken.isEnd) rules.delete(name);
            else rules.set(name, rule);
            await setRule(repo, name, taken.isEnd ? null : rule);
            continue;
          }
          const before = files.get(taken.path) ?? 0;
          const isForbidden = [...rules.values()].some((rule) => {
            if (rule.to?.tasks?.includes(taken.task) !== true) return false;
            const isIn = rule.paths.some((name) => name === taken.path || taken.path.startsWith(`${name}/`));
            return rule.kind === 'scope' ? !isIn : isIn && taken.lines > rule.linesMax && taken.lines >= before;
          });
          const content = `${at}\n`.repeat(taken.lines);
          const outcome = await land(repo, [write(taken.path, content)], { task: taken.task });
          expect(outcome.kind === 'rejected' ? outcome.code : 'taken').toBe(isForbidden && outcome.kind !== 'unchanged' ? 'rule-violated' : 'taken'); // prettier-ignore
          if (!isForbidden) files.set(taken.path, taken.lines);
        }
        expect(new Map(repo.rules().map(({ name, rule }) => [name, rule]))).toEqual(rules);
      } finally {
        await repo.close();
      }
    }),
    { numRuns: 25 * scale, seed, endOnFailure: true },
  );
});
