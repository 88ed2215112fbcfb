import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { absent, any, openRepo, version, type Author, type Outcome, type Repo } from '@mound/vcs';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Brief } from '../core/brief.ts';
import { ManualTime } from '../core/manual-time.test.kit.ts';
import type { Script, ScriptView } from '../model/scripted-model.ts';
import type { NoteRequest, Refusal } from '../tools/operations.ts';
import { FieldGuide, readUse } from './field-guide.ts';
import { defaultGuide } from './run-options.ts';
import { call, clash, finish, mergeBoth, planInBatches, put, swarm } from './swarm.test.kit.ts';

let dir: string;
let repo: Repo;
let time: ManualTime;
let guide: FieldGuide;
const author: Author = { name: 'w-1', kind: 'agent', agent: 'r1/w-1', role: 'worker' };
let calls = 0;

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'mound-guide-'));
  repo = await openRepo(dir, { create: true });
  time = new ManualTime();
  guide = new FieldGuide(repo, time, defaultGuide);
  await repo.put('src/a.ts', 'export const a = 1;\nexport const b = 2;\n', { author });
});

afterEach(async () => {
  await repo.close();
  await rm(dir, { recursive: true, force: true });
});

const noteOf = (symptom: string, more: Partial<NoteRequest> = {}): NoteRequest => ({ symptom, cause: 'a cause', remedy: 'do this', evidence: ['src/a.ts'], remove: [], ...more }); // prettier-ignore
const note = (symptom: string, more: Partial<NoteRequest> = {}): Promise<Outcome | Refusal> =>
  guide.note(noteOf(symptom, more), { author, base: repo.snapshot().seq, operationId: `n${calls++}` });
const textOf = (path: string): string => repo.snapshot().readText(`field-guide/${path}`) ?? '';

test('an entry stands in its own file and in the index, with the versions that it rests on', async () => {
  const { seq } = repo.snapshot();
  expect((await note('it hangs')).kind).toBe('landed');
  expect(textOf('it-hangs.md')).toBe(`---\nsymptom: it hangs\ncause: a cause\ndo: do this\nevidence: [src/a.ts@${seq}]\nby: w-1\n---\n`);
  expect(guide.shown()).toContain('\n- [it hangs](it-hangs.md): do this\n');
  // Said again, it is said anew; another of the same name stands beside it.
  await note('it hangs', { remedy: 'do that' });
  await note('It hangs!');
  expect(guide.shown()).toContain('- [it hangs](it-hangs.md): do that\n- [It hangs!](it-hangs-2.md): do this\n');
  expect(await note('x', { evidence: ['src/none.ts'] })).toMatchObject({ kind: 'refused' });
  expect(await note('x', { evidence: ['not a path'] })).toMatchObject({ kind: 'refused' });
  expect(await note('x', { evidence: ['src/a.ts@9999'] })).toMatchObject({ kind: 'refused' });
  expect(repo.fsck().errors).toEqual([]);
}); // prettier-ignore

test('many who note at one moment all land; the line budget is the store’s, and adding takes taking out', async () => {
  guide = new FieldGuide(repo, time, { ...defaultGuide, linesMax: 8 });
  const outcomes = await Promise.all([1, 2, 3, 4].map((n) => note(`entry ${n}`)));
  expect(outcomes.map(({ kind }) => kind)).toEqual(['landed', 'landed', 'landed', 'landed']);
  guide.read('field-guide/entry-1.md', textOf('entry-1.md'));
  await guide.flush(author);
  const full = await note('entry 5');
  expect(full).toMatchObject({ kind: 'refused' });
  const says = full.kind === 'refused' ? full.says : '';
  expect(says).toContain('field-guide/index.md would have 9 lines, over its budget of 8');
  expect(says).toContain('name in remove what helps nobody. Doubtful or read least: entry-2, entry-3, entry-4, entry-1.');
  expect(await note('entry 5', { remove: ['entry-9'] })).toMatchObject({ kind: 'refused' });
  expect((await note('entry 5', { remove: ['entry-2'] })).kind).toBe('landed');
  expect(repo.snapshot().head('field-guide/entry-2.md')).toBeUndefined();
  // Whoever edits by hand meets the same rules.
  const index = repo.snapshot().head('field-guide/index.md')?.version ?? 0;
  const long = await repo.put('field-guide/index.md', `${textOf('index.md')}more\n`, { author, expect: version(index) });
  expect(long).toMatchObject({ kind: 'rejected', code: 'rule-violated', rule: 'field-guide/lines' });
  const dead = await repo.put('field-guide/index.md', '- [no](no.md)\n', { author, expect: version(index) });
  expect(dead).toMatchObject({ kind: 'rejected', rule: 'field-guide/links' });
  const gone = await repo.land({ author, message: 'm', changes: [{ kind: 'delete', path: 'field-guide/entry-1.md', expect: any }] });
  expect(gone).toMatchObject({ kind: 'rejected', rule: 'field-guide/links' });
}); // prettier-ignore

test('an entry is doubtful once what it rests on has changed, and only then', async () => {
  await note('about a', { evidence: ['src/a.ts#a'] });
  await note('about all');
  const { version: seen = 0 } = repo.snapshot().head('src/a.ts') ?? {};
  await repo.put('src/a.ts', 'export const a = 1;\nexport const b = 3;\n', { author, expect: version(seen) });
  expect(guide.shown()).toContain('(about-a.md): do this\n');
  expect(guide.shown()).toContain('(about-all.md): do this (doubtful: src/a.ts has changed since)\n');
  await repo.land({ author, message: 'm', changes: [{ kind: 'delete', path: 'src/a.ts', expect: any }] });
  expect(guide.shown()).toContain('(about-a.md): do this (doubtful');
});

test('what is read counts, with its tokens; what nobody reads ages out', async () => {
  await note('read');
  await note('unread');
  await time.advance(defaultGuide.unusedMs);
  guide.shown();
  guide.read('field-guide/read.md', textOf('read.md'));
  await guide.flush(author);
  const use = readUse(repo.snapshot());
  expect(use).toMatchObject({ shown: 1, notes: { read: { uses: 1, usedAt: time.now() }, unread: { uses: 0 } } });
  expect(use.tokens).toBeGreaterThan(20);
  expect(use.notes['read']?.tokens).toBeGreaterThan(use.notes['unread']?.tokens ?? Infinity);
  await time.advance(1);
  expect(await guide.ageOut(author)).toEqual(['unread']);
  expect(await guide.ageOut(author)).toEqual([]);
  expect(repo.snapshot().list('field-guide').map(({ path }) => path)).toEqual(['field-guide/index.md', 'field-guide/read.md']);
  expect(textOf('index.md')).not.toContain('unread');
  expect(Object.keys(readUse(repo.snapshot()).notes)).toEqual(['read']);
}); // prettier-ignore

/** What a script says one turn later. */
function ask(
  script: Script,
  view: ScriptView,
): ReturnType<Extract<Script, (view: ScriptView, signal: AbortSignal) => unknown>> {
  if (typeof script !== 'function') throw new Error('no function');
  return script({ ...view, turn: view.turn - 1 }, new AbortController().signal);
}

test('in a run any role notes in mid-task, and who starts later is told and can read on', async () => {
  await repo.put('hot.txt', 'a\n0\nb\n', { author, expect: absent });
  const request = (symptom: string): object => ({ symptom, cause: 'c', do: 'd', evidence: ['src/a.ts'] });
  const noting = (symptom: string): ReturnType<typeof call> => call('note', request(symptom) as never);
  const guides: string[] = [];
  const seen = ({ guide: text }: Brief & { readonly guide?: string }): number => guides.push(text ?? '');
  const worker: Script = ({ brief, turn, results }) => {
    if (brief.role !== 'worker') throw new Error('no worker');
    const { id } = brief.task;
    if (id === 'reader') {
      if (turn === 0) {
        seen(brief);
        return { calls: [call('read', { path: 'field-guide/planner-saw.md' }), call('read', { path: 'field-guide/worker-saw.md' })] };
      }
      expect(results.map(({ value }) => value.ok)).toEqual([true, true]);
      return { calls: [finish('nothing-to-do')] };
    }
    if (turn === 0 && id === 'x') return { calls: [noting('worker saw')] };
    return { calls: [put(brief.input ?? []), finish()] };
  };
  const planner: Script = (view) => {
    if (view.turn === 0) return { calls: [noting('planner saw')] };
    return ask(planInBatches([clash('x'), clash('y')], [{ id: 'reader', title: 'reader' }]), view);
  };
  const merger: Script = (view) => {
    if (view.turn === 0) return { calls: [noting('merger saw')] };
    return ask(mergeBoth, view);
  };
  const result = await swarm(repo, { planner, worker, merger });
  expect(result.reason).toBe('finished');
  for (const who of ['planner', 'worker', 'merger']) expect(textOf('index.md')).toContain(`[${who} saw](${who}-saw.md)`);
  expect(guides[0]).toContain('worker saw');
  const use = readUse(repo.snapshot());
  expect(use.notes).toMatchObject({ 'planner-saw': { uses: 1 }, 'worker-saw': { uses: 1 }, 'merger-saw': { uses: 0 } });
  expect(use.shown).toBeGreaterThan(2);
  const [noted] = [...repo.log({ path: 'field-guide/planner-saw.md' })];
  expect(noted?.author).toMatchObject({ role: 'planner', agent: 'r1/planner-1' });
}); // prettier-ignore
