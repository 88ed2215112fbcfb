import type { DecomposerBrief, JsonValue, Script, WorkerBrief } from '@mound/swarm';
import { absent, signalsRecord, type Repo } from '@mound/vcs';
import { expect, test } from 'vitest';
import { call, compile, finish, gate, ofKind, repoWith, runScripts } from './kit/swarm/coordination.ts';
import { setup } from './kit/temp.ts';

const sections = ['a', 'b', 'c'];
const perSection = 20;
const workers = 30;
const anchors = sections.flatMap((section) => Array.from({ length: perSection }, (_, at) => `${section}${at}`));
const lineOf = (name: string): string => `export const ${name} = '${name}';`;
const hot = `${anchors.map(lineOf).join('\n')}\n`;
const use = `import { a0, b5, c9 } from './hot.ts';\nexport const all = [a0, b5, c9];\n`;

/** Each adds a line of its own behind a line of its own; the last two also change one line, each to something else. */
const edits = Array.from({ length: workers }, (_, at) => {
  const clashes = at >= workers - 2;
  const anchor = clashes ? 'b7' : (anchors[(at * 7) % anchors.length] ?? '');
  const own = `w${at}`;
  const first = clashes ? `export const b7 = 'by ${own}';` : lineOf(anchor);
  return { own, search: lineOf(anchor), replace: `${first}\n${lineOf(own)}` };
});

const textOf = (value: JsonValue | undefined): string => (typeof value === 'string' ? value : '');

interface Crowd {
  readonly size?: number;
  /** Who marks the file: a worker, or the store by itself; nobody waits for it where neither does. */
  readonly marks?: 'worker' | 'store' | 'nobody';
}

function crowd(repo: Repo, { size = workers, marks = 'worker' }: Crowd = {}): Record<string, Script> {
  const taken = gate();
  return {
    planner: ({ turn }) => {
      if (turn > 1) return { calls: [finish()] };
      const first = edits
        .slice(-size)
        .map(({ own, search, replace }) => ({ id: own, title: own, input: { search, replace } }));
      const late = [{ id: 'late', title: 'late', input: 'late' }];
      return { calls: [call('delegate', { tasks: turn === 0 ? first : late }), call('wait', {})] };
    },
    worker: async ({ brief, turn, results }) => {
      const { input, task } = brief as WorkerBrief;
      if (input === 'late') {
        if (turn === 0) return { calls: [call('read', { path: 'hot.ts' })] };
        // Who reads the old path is told where it went, and goes there.
        const went = textOf(results[0]?.value['went'] ?? results[0]?.value.says);
        const [module = 'hot.ts'] = /\S+\/b\.ts/.exec(went) ?? [];
        if (turn === 1) return { calls: [call('read', { path: module })] };
        const version = Number(results[0]?.value['version']);
        const path = textOf(results[0]?.value['path']);
        const edit = {
          path,
          version,
          edits: [{ search: lineOf('b1'), replace: `${lineOf('b1')}\n${lineOf('late')}` }],
        };
        return { calls: [call('edit', edit), call('commit', { message: 'late' }), finish()] };
      }
      if (turn === 0) return { calls: [call('read', { path: 'hot.ts' })] };
      if (marks === 'worker' && task.id === `w${workers - size}` && turn === 1)
        return { calls: [call('flag', { path: 'hot.ts', reason: 'everybody edits it' })] };
      // The file is frozen before most have come to land.
      if (turn === 1) {
        if (marks !== 'nobody' && Number(task.id.slice(1)) > workers - size + 2) await taken.opened;
        const change = input as { search: string; replace: string };
        const version = Number(results[0]?.value['version']);
        return {
          calls: [call('edit', { path: 'hot.ts', version, edits: [change] }), call('commit', { message: task.id })],
        };
      }
      if (marks === 'worker' && task.id === `w${workers - size}` && turn === 2) {
        const { version } = repo.snapshot(brief.base).head('hot.ts') ?? { version: 0 };
        const edit = { path: 'hot.ts', version, edits: [input as JsonValue] };
        return { calls: [call('edit', edit), call('commit', { message: task.id }), finish()] };
      }
      return { calls: [finish()] };
    },
    decomposer: async ({ brief, turn, results }) => {
      const { path } = brief as DecomposerBrief;
      if (turn === 0) return { calls: [call('read', { path })] };
      if (turn > 1) return { calls: [finish()] };
      const text = textOf(results[0]?.value['text']);
      taken.open();
      // Work goes on meanwhile, and is parked.
      const parked = (): number => [...repo.events()].filter(({ kind }) => kind === 'intent.parked').length;
      for (let tries = 0; parked() < 4 && tries < 400; tries++) await new Promise((resolve) => setTimeout(resolve, 5));
      const files = new Map(sections.map((section) => [section, [] as string[]]));
      let section = 'a';
      for (const line of text.split('\n').filter((one) => one !== '')) {
        section = /^export const ([abc])\d/.exec(line)?.[1] ?? section;
        files.get(section)?.push(line);
      }
      const modules = [...files].map(([name, lines]) => ({
        path: `mods/${name}.ts`,
        content: `${lines.join('\n')}\n`,
      }));
      const remains = sections.map((name) => `export * from './mods/${name}.ts';\n`).join('');
      return { calls: [call('split', { modules, remains }), finish()] };
    },
  };
}

/** How often each added line stands in the modules, and in what open conflicts keep. */
function whereAdded(repo: Repo, size = workers): Record<string, string[]> {
  const found: Record<string, string[]> = Object.fromEntries(edits.slice(-size).map(({ own }) => [own, []]));
  const snapshot = repo.snapshot();
  const texts: [string, string][] = snapshot.list('mods').map(({ path }) => [path, snapshot.readText(path) ?? '']);
  texts.push(['hot.ts', snapshot.readText('hot.ts') ?? '']);
  for (const { id, paths } of repo.conflicts()) {
    // What it was based on was others' already.
    for (const { base, incoming } of paths) {
      const before = new Set(base.content?.toString().split('\n'));
      const added =
        incoming.content
          ?.toString()
          .split('\n')
          .filter((line) => !before.has(line)) ?? [];
      texts.push([id, added.join('\n')]);
    }
  }
  for (const [where, text] of texts) {
    for (const { own } of edits) if (text.split('\n').includes(lineOf(own))) found[own]?.push(where);
  }
  return found;
}

test('a hot file is frozen, split and thawed under tens of workers, and no line of theirs is lost', async () => {
  const repo = await repoWith({ 'hot.ts': hot, 'use.ts': use });
  const { result, events } = await runScripts(repo, crowd(repo), { agentsMax: 8 });
  expect(result).toMatchObject({ reason: 'finished', events: { 'file.split': 1 }, tasks: { created: workers + 1 } });
  const kinds = [...repo.events()].map(({ kind }) => kind);
  expect(kinds.filter((kind) => kind === 'intent.parked').length).toBeGreaterThanOrEqual(4);
  expect(kinds.filter((kind) => kind === 'intent.unparked').length).toBe(
    kinds.filter((kind) => kind === 'intent.parked').length,
  );
  expect(ofKind(events, 'file.frozen')[0]?.reason).toBe('decomposer-1 splits it');
  expect(repo.freezes()).toEqual([]);
  // Each in exactly one module, or whole in an open conflict.
  const lost = Object.entries(whereAdded(repo)).filter(([, places]) => places.length !== 1);
  expect(lost).toEqual([]);
  expect(repo.conflicts().length).toBeGreaterThanOrEqual(1);
  // Tasks whose work was parked ended by what became of it, and none is left out.
  const reports = ofKind(events, 'task.finished').filter(({ report }) => report.outcome === 'parked');
  expect(reports.length).toBeGreaterThanOrEqual(4);
  expect(repo.snapshot().readText('mods/b.ts')).toContain(lineOf('late'));
  expect(await compile(repo)).toMatchObject({ code: 0 });
});

test('a decomposer that fails thaws the file, twice, and what was parked lands on the file as it is', async () => {
  const repo = await repoWith({ 'hot.ts': hot, 'use.ts': use });
  const scripts = crowd(repo, { size: 12 });
  const giveUp: Script = async (view, signal) => {
    const answer = await (scripts['decomposer'] as Exclude<Script, readonly unknown[]>)(view, signal);
    return view.turn === 0 ? answer : { calls: [finish('blocked')] };
  };
  const { result, events } = await runScripts(repo, { ...scripts, decomposer: giveUp }, { agentsMax: 8 });
  expect(result).toMatchObject({ reason: 'finished', events: { 'decomposition.failed': 2 } });
  expect(ofKind(events, 'file.split')).toEqual([]);
  expect(repo.freezes()).toEqual([]);
  const lost = Object.entries(whereAdded(repo, 12)).filter(([, places]) => places.length !== 1);
  expect(lost).toEqual([]);
});

test('the store itself marks a file that many contend for, and that is enough', async () => {
  const repo = await repoWith({ 'hot.ts': hot, 'use.ts': use });
  const contention = { windowMs: 600_000, intents: 2, authors: 32 };
  await repo.land({ author: setup, message: 'tune', records: [signalsRecord({ contention }, absent)] });
  const { result, events } = await runScripts(repo, crowd(repo, { marks: 'store', size: 12 }), { agentsMax: 8 });
  expect(result).toMatchObject({ reason: 'finished', events: { 'file.split': 1 } });
  expect(ofKind(events, 'file.flagged')[0]?.reason).not.toBe('everybody edits it');
  expect(Object.entries(whereAdded(repo, 12)).filter(([, places]) => places.length !== 1)).toEqual([]);
});

test('switched off, nothing is frozen or split', async () => {
  const repo = await repoWith({ 'hot.ts': hot, 'use.ts': use });
  const { result } = await runScripts(repo, crowd(repo, { marks: 'nobody', size: 12 }), {
    policy: { coordination: { megafiles: 'off' } },
    agentsMax: 8,
  });
  // The store notices by itself how many work there, and the run does nothing about it.
  expect(result.events['file.frozen']).toBeUndefined();
  expect(result.roles.decomposer.agents).toBe(0);
  expect(repo.snapshot().list('mods')).toEqual([]);
});
