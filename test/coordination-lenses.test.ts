import { seededRandom } from '@mound/vcs';
import {
  corpusOf,
  scoreReviews,
  type Finding,
  type Lens,
  type Review,
  type ReviewerBrief,
  type Script,
  type SwarmOptions,
  type WorkerBrief,
} from '@mound/swarm';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { projectDir } from './kit/process.ts';
import { call, compile, finish, ofKind, repoWith, runScripts, write } from './kit/swarm/coordination.ts';

const lens = (name: string, sees: Lens['sees'], more: Partial<Lens> = {}): Lens => ({
  name,
  sees,
  model: 'reviewer',
  persona: `You are ${name}.`,
  appliesTo: ['src'],
  rate: 1,
  ...more,
});
const lenses = [lens('text', 'output'), lens('history', 'transcript'), lens('house', 'codebase')];

const good = 'export const twice = (n: number): number => n * 2;\n';
const bad = 'export const half = (n: number): number => String(n / 2);\n';
const mended = 'export const half = (n: number): number => n / 2;\n';

/** Two lands what is right and what does not compile; a fix task mends what it names. */
const work: { planner: Script; worker: Script } = {
  planner: ({ turn }) => {
    if (turn > 0) return { calls: [finish()] };
    const tasks = ['good', 'bad'].map((id) => ({ id, title: id, brief: `write ${id}` }));
    return { calls: [call('delegate', { tasks: [...tasks, { id: 'docs', title: 'docs' }] }), call('wait', {})] };
  },
  worker: ({ brief }) => {
    const { id, brief: words } = (brief as WorkerBrief).task;
    if (id.startsWith('fix-')) {
      if (words.includes('half')) return { calls: [write('src/bad.ts', mended), finish()] };
      return { calls: [finish('nothing-to-do')] };
    }
    if (id === 'docs') return { calls: [write('README.md', 'words\n'), finish()] };
    return { calls: [write(`src/${id}.ts`, id === 'good' ? good : bad), finish()] };
  },
};

const blocking = (path: string, claim: string): Finding => ({
  severity: 'blocking',
  path,
  from: 1,
  claim,
  evidence: `line 1 of ${path}`,
});

const seen: ReviewerBrief[] = [];
const tools = new Map<string, string[]>();
/** `text` finds what is there; `house` too; `history` finds fault with what is right. */
const reviewer: Script = ({ brief, request }) => {
  const mine = brief as ReviewerBrief;
  seen.push(mine);
  tools.set(
    mine.lens,
    request.tools.map(({ name }) => name),
  );
  expect(request.messages[0]?.content).toContain(`You are ${mine.lens}.`);
  const { diff } = mine.change;
  if (mine.lens === 'history') {
    return {
      calls: [
        call('verdict', {
          findings: diff.includes('twice') ? [blocking('src/good.ts', 'twice is wrong')] : [],
        } as never),
      ],
    };
  }
  return {
    calls: [
      call('verdict', {
        findings: diff.includes('String(') ? [blocking('src/bad.ts', 'half gives a text')] : [],
      } as never),
    ],
  };
};

const run = (more: Partial<SwarmOptions> = {}, onBlocking: 'task' | 'revert' = 'task'): ReturnType<typeof runOn> =>
  runOn({ policy: { review: { lenses, onBlocking } }, ...more });

async function runOn(
  more: Partial<SwarmOptions>,
): Promise<{ ran: Awaited<ReturnType<typeof runScripts>>; repo: Awaited<ReturnType<typeof repoWith>> }> {
  seen.length = 0;
  const repo = await repoWith({});
  return { ran: await runScripts(repo, { ...work, reviewer }, more), repo };
}

test('lenses look at what landed, each by what it may see; a blocking finding becomes a task, and what held is counted', async () => {
  const { ran, repo } = await run();
  const { result, events } = ran;
  // Two landings below src by three lenses; README is none of their business, and no fix is reviewed.
  expect(result).toMatchObject({
    reason: 'finished',
    events: { 'review.wanted': 6, 'review.ended': 6 },
    tasks: { created: 5 },
  });
  expect(tools.get('text')).toEqual(['note', 'verdict']);
  expect(tools.get('history')).toEqual(['note', 'verdict']);
  expect(tools.get('house')).toEqual(['read', 'list', 'search', 'note', 'verdict']);
  for (const { lens: name, transcript } of seen) {
    if (name === 'history') expect(transcript).toContain('commit');
    else expect(transcript).toBeUndefined();
  }
  // Two lenses found the same: one task mends it.
  const fixes = ofKind(events, 'review.ended').flatMap(({ tasks }) => tasks);
  expect(fixes).toHaveLength(2);
  expect(repo.snapshot().readText('src/bad.ts')).toBe(mended);
  expect(await compile(repo)).toMatchObject({ code: 0 });
  expect(result.review?.lenses).toMatchObject([
    { lens: 'history', calls: 2, findings: 1, confirmed: 0, refuted: 1, unique: 0 },
    { lens: 'house', calls: 2, findings: 1, confirmed: 1, refuted: 0, unique: 0 },
    { lens: 'text', calls: 2, findings: 1, confirmed: 1, refuted: 0, unique: 0 },
  ]);
  expect(result.review?.pairs).toMatchObject([
    { lenses: ['history', 'house'], landings: 2, correlation: -1 },
    { lenses: ['history', 'text'], landings: 2, correlation: -1 },
    { lenses: ['house', 'text'], landings: 2, correlation: 1 },
  ]);
  expect(result.review?.shareOfWork.tokens).toBeGreaterThan(0);
  // The verdicts stand in the repository.
  const records = repo.snapshot().records('swarm/r1/review/');
  expect(records).toHaveLength(6);
});

test('by policy a blocking finding takes the landing back, once, with its reason', async () => {
  const { ran, repo } = await run({}, 'revert');
  expect(ran.result).toMatchObject({ reason: 'finished', tasks: { created: 3 } });
  // Right or wrong: whoever chooses this trusts the lenses.
  expect(repo.snapshot().list('src')).toEqual([]);
  const reverts = [...repo.log({ path: 'src/bad.ts' })].filter(({ author }) => author.role === 'reviewer');
  expect(reverts).toHaveLength(1);
  expect(reverts[0]?.rationale).toContain('half gives a text (line 1 of src/bad.ts)');
  expect(ofKind(ran.events, 'review.ended').filter(({ reverted }) => reverted)).toHaveLength(2);
});

test('switched off, nobody looks, and what is wrong stays for the compiler to find', async () => {
  const { ran, repo } = await run({
    policy: { review: { lenses, onBlocking: 'task' }, coordination: { lenses: 'off' } },
  });
  expect(ran.result.review).toBeUndefined();
  expect(ran.result.roles.reviewer.agents).toBe(0);
  expect((await compile(repo)).output).toMatch(/bad\.ts.*TS2322/);
});

test('a verdict without evidence, or on a file that is not there, is refused', async () => {
  const said: string[] = [];
  const repo = await repoWith({});
  const stubborn: Script = ({ turn, results }) => {
    said.push(...results.map(({ value }) => value.says));
    const { evidence: _, ...bare } = blocking('src/good.ts', 'x');
    if (turn === 0) return { calls: [call('verdict', { findings: [bare] })] };
    if (turn === 1) return { calls: [call('verdict', { findings: [blocking('nowhere', 'x')] } as never)] };
    return { calls: [call('verdict', { findings: [] })] };
  };
  const policy = { review: { lenses: [lens('one', 'output')], onBlocking: 'task' as const } };
  const { result } = await runScripts(repo, { ...work, reviewer: stubborn }, { policy });
  expect(said.join('\n')).toMatch(/verdict was not run\. findings\.0\.evidence/);
  expect(said.join('\n')).toMatch(/no verdict: nowhere is no file/);
  expect(result.review?.lenses).toMatchObject([{ findings: 0 }]);
  const wrong = { review: { lenses: [lens('one', 'output', { model: 'nobody' })], onBlocking: 'task' as const } };
  await expect(runScripts(repo, work, { policy: wrong, runId: 'r2' })).rejects.toThrow(
    /lens 'one': there is no model 'nobody'/,
  );
});

test('lenses are scored on real changes with seeded defects, by a real run', async () => {
  const names = ['stem', 'topic', 'coordination', 'changed-lines', 'task', 'lens'];
  const diffs = names.map((name) => {
    const after = readFileSync(join(projectDir, 'packages/swarm/src/core', `${name}.ts`), 'utf8');
    return { path: `src/${name}.ts`, before: after.split('\n').slice(0, 12).join('\n'), after, message: name };
  });
  const cases = corpusOf(diffs, seededRandom(3));
  const repo = await repoWith(Object.fromEntries(cases.map(({ path, before }) => [path, before])));
  // A mind that knows what one kind of defect looks like, and nothing else.
  const watcher: Script = ({ brief }) => {
    const mine = brief as ReviewerBrief;
    const one = cases.find(({ path }) => mine.change.diff.includes(path));
    const knows = mine.lens === 'text' ? 'sign-turned' : 'condition-turned';
    const isIt = one?.defect !== undefined && (mine.lens === 'house' || one.defect.kind === knows);
    const findings = isIt && one ? [{ ...blocking(one.path, 'seeded'), from: one.defect?.line ?? 1 }] : [];
    return { calls: [call('verdict', { findings })] };
  };
  const reviews: Review[] = [];
  const { result } = await runScripts(
    repo,
    {
      planner: ({ turn }) => {
        if (turn > 0) return { calls: [finish()] };
        const tasks = cases.map(({ path, after }, at) => ({ id: `c${at}`, title: path, input: { path, after } }));
        return { calls: [call('delegate', { tasks }), call('wait', {})] };
      },
      worker: ({ brief }) => {
        const { input, task } = brief as WorkerBrief;
        if (task.id.startsWith('fix-')) return { calls: [finish('nothing-to-do')] };
        const { path, after } = input as { path: string; after: string };
        return { calls: [write(path, after), finish()] };
      },
      reviewer: watcher,
    },
    { policy: { review: { lenses, onBlocking: 'task' } } },
  );
  expect(result.reason).toBe('finished');
  for (const { value } of repo.snapshot().records('swarm/r1/review/')) {
    const { seq, lens: name, findings } = JSON.parse(value.toString()) as Review & { lens: string };
    reviews.push({ seq, lens: name, findings, cost: { nanoUsd: 0, tokens: 0 } });
  }
  const score = scoreReviews(cases, reviews, (seq) => {
    const changed = repo.commit(seq).changes.map(({ path }) => path as string);
    return cases.find(({ path }) => changed.includes(path));
  });
  expect(score.cases).toBe(6);
  expect(score.defects).toBeGreaterThanOrEqual(2);
  expect(score.found).toBe(score.defects);
  const house = score.lenses.find(({ lens: name }) => name === 'house');
  expect(house).toMatchObject({ defects: score.defects, found: score.defects, falseAlarms: 0 });
});
