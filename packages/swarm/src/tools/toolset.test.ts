import { expect, test } from 'vitest';
import { MoundError } from '@mound/vcs';
import type { JsonValue } from '../core/json.ts';
import { toolsOfKind, type Role, type RoleKind, type ToolName } from '../core/role.ts';
import { shippedRoles } from '../roles/roles.ts';
import { mergerTools } from './merger-tools.ts';
import type { MergerOperations, PlannerOperations, WorkerOperations } from './operations.ts';
import { plannerTools } from './planner-tools.ts';
import type { ToolAnswer } from './tool.ts';
import { Toolset } from './toolset.ts';
import { workerTools } from './worker-tools.ts';

/** Effects that only take down what they were asked. */
class FakeOperations implements PlannerOperations, WorkerOperations, MergerOperations {
  readonly ran: [string, unknown][] = [];
  #note<T>(name: string, input: unknown, answer: T): T {
    this.ran.push([name, input]);
    return answer;
  }
  read(path: string): ReturnType<PlannerOperations['read']> {
    const text = 'one\ntwo\nthree\n';
    if (path === 'fault') throw new MoundError('no-such-seq', 'there is no seq 9', {});
    if (path === 'broken') throw new MoundError('disk-full', 'no space', {});
    return path === 'gone' ? undefined : { path, version: 3, mode: 'file', size: text.length, text };
  }
  list(): ReturnType<PlannerOperations['list']> {
    return [{ path: 'a', version: 3, size: 1 }];
  }
  delegate(input: Parameters<PlannerOperations['delegate']>[0]): ReturnType<PlannerOperations['delegate']> {
    return Promise.resolve(this.#note('delegate', input, { kind: 'delegated', base: 5 } as const));
  }
  wait(): ReturnType<PlannerOperations['wait']> {
    return Promise.resolve(this.#note('wait', {}, { kind: 'ended', reports: [], seq: 6, open: 0 } as const));
  }
  inspect(): ReturnType<PlannerOperations['inspect']> {
    return [];
  }
  noteRead(): void {}
  whereabouts(): undefined {
    return undefined;
  }
  search(input: Parameters<PlannerOperations['search']>[0]): ReturnType<PlannerOperations['search']> {
    return Promise.resolve(this.#note('search', input, { kind: 'refused', says: 'no' } as const));
  }
  decide(input: Parameters<PlannerOperations['decide']>[0]): ReturnType<PlannerOperations['decide']> {
    return Promise.resolve(this.#note('decide', input, { kind: 'decided', seq: 8 } as const));
  }
  ask(input: string): ReturnType<PlannerOperations['ask']> {
    return Promise.resolve(this.#note('ask', input, { kind: 'asked', id: 'q' } as const));
  }
  edit(input: Parameters<WorkerOperations['edit']>[0]): ReturnType<WorkerOperations['edit']> {
    return Promise.resolve(this.#note('edit', input, { kind: 'edited', paths: [] } as const));
  }
  write(input: Parameters<WorkerOperations['write']>[0]): ReturnType<WorkerOperations['write']> {
    return Promise.resolve(this.#note('write', input, { kind: 'edited', paths: [] } as const));
  }
  patch(input: string): ReturnType<WorkerOperations['patch']> {
    return Promise.resolve(this.#note('patch', input, { kind: 'edited', paths: [] } as const));
  }
  run(input: Parameters<WorkerOperations['run']>[0]): ReturnType<WorkerOperations['run']> {
    return Promise.resolve(this.#note('run', input, { kind: 'refused', says: 'no' } as const));
  }
  note(input: Parameters<WorkerOperations['note']>[0]): ReturnType<WorkerOperations['note']> {
    return Promise.resolve(this.#note('note', input, { kind: 'refused', says: 'no' } as const));
  }
  claim(input: string): ReturnType<WorkerOperations['claim']> {
    return Promise.resolve(this.#note('claim', input, undefined));
  }
  board(): ReturnType<WorkerOperations['board']> {
    return [];
  }
  commit(input: Parameters<WorkerOperations['commit']>[0]): ReturnType<WorkerOperations['commit']> {
    return Promise.resolve(this.#note('commit', input, { kind: 'refused', says: 'outside of your scope' } as const));
  }
  flag(path: string): Promise<number> {
    return Promise.resolve(this.#note('flag', path, 7));
  }
  readConflict(id: string): ReturnType<MergerOperations['readConflict']> {
    return this.#note('read_conflict', id, { kind: 'refused', says: 'not yours' } as const);
  }
  resolve(input: Parameters<MergerOperations['resolve']>[0]): ReturnType<MergerOperations['resolve']> {
    return Promise.resolve(this.#note('resolve', input, { kind: 'refused', says: 'no' } as const));
  }
  finish(input: Parameters<WorkerOperations['finish']>[0]): ReturnType<WorkerOperations['finish']> {
    return Promise.resolve(this.#note('finish', input, undefined));
  }
}

const roles = shippedRoles();

function setOf(kind: RoleKind, role: Role = roles[kind]): { operations: FakeOperations; toolset: Toolset } {
  const operations = new FakeOperations();
  // Every tool is offered: what the role does not hold has to be left out.
  const all = [...plannerTools(operations), ...workerTools(operations), ...mergerTools(operations)];
  return { operations, toolset: new Toolset(role, all) };
}

const call = (toolset: Toolset, name: string, input: JsonValue, fault?: string): Promise<ToolAnswer> =>
  toolset.call({ id: 'c', name, arguments: input, ...(fault && { fault }) }, '0.0');

const change = { changes: [{ path: 'a', content: 'x' }], message: 'm' };

test('a planner cannot edit: a commit, a resolution and a flag are answered and not run', async () => {
  const { operations, toolset } = setOf('planner');
  for (const [name, input] of [
    ['commit', change],
    ['resolve', { conflict: 'c1', results: [{ path: 'a', content: 'x' }] }],
    ['flag', { path: 'a', reason: 'r' }],
    ['edit', { path: 'a', version: 1, edits: [{ search: 'a', replace: 'b' }] }],
    ['write', { path: 'a', content: 'x' }],
    ['patch', { patch: 'x' }],
    ['run', { command: 'touch a' }],
    ['put', change],
  ] as const) {
    const answer = await call(toolset, name, input);
    expect(answer).toMatchObject({
      ok: false,
      says: expect.stringContaining('Use one of: read, list, search, delegate'),
    });
  }
  expect(operations.ran).toEqual([]);
  expect(toolset.specs().map(({ name }) => name)).toEqual([
    'read',
    'list',
    'search',
    'delegate',
    'wait',
    'decide',
    'ask',
    'inspect',
    'note',
    'finish',
  ]);
});

test('a worker cannot delegate and a merger can do neither', async () => {
  const worker = setOf('worker');
  const delegation = { tasks: [{ id: 't', title: 't' }] };
  expect((await call(worker.toolset, 'delegate', delegation)).ok).toBe(false);
  expect((await call(worker.toolset, 'resolve', { conflict: 'c1', results: [] })).ok).toBe(false);
  const merger = setOf('merger');
  expect((await call(merger.toolset, 'commit', change)).ok).toBe(false);
  expect((await call(merger.toolset, 'delegate', delegation)).ok).toBe(false);
  expect([...worker.operations.ran, ...merger.operations.ran]).toEqual([]);
});

test('the data of a role cannot give it what its kind may not have', () => {
  for (const kind of ['planner', 'worker', 'merger'] as const) {
    const strange = toolsOfKind[kind === 'worker' ? 'planner' : 'worker'].filter(
      (tool) => !toolsOfKind[kind].includes(tool),
    );
    for (const tool of strange) {
      const tools: ToolName[] = [...roles[kind].tools, tool];
      expect(() => setOf(kind, { ...roles[kind], tools })).toThrow(`cannot hold the tool '${tool}'`);
    }
  }
  expect(() => setOf('worker', { ...roles.worker, tools: ['read'] })).toThrow("needs the tool 'finish'");
});

test('a role that holds less is offered less', async () => {
  const { toolset } = setOf('worker', { ...roles.worker, tools: ['read', 'finish'] });
  expect(toolset.specs().map(({ name }) => name)).toEqual(['read', 'finish']);
  expect((await call(toolset, 'commit', change)).ok).toBe(false);
});

test('wrong arguments are answered with what is wrong, and nothing runs', async () => {
  const { operations, toolset } = setOf('worker');
  for (const [input, says] of [
    [{ changes: [] }, 'message'],
    [{ ...change, extra: 1 }, 'extra'],
    [{ ...change, changes: [{}] }, 'changes'],
    [{ ...change, changes: [{ path: 'a', content: 'x', expect: 'any' }] }, 'expect'],
    [[], 'arguments'],
  ] as [JsonValue, string][]) {
    const answer = await call(toolset, 'commit', input);
    expect(answer).toMatchObject({ ok: false, says: expect.stringContaining(says) });
    expect(answer.says).toContain('call it again');
  }
  expect(await call(toolset, 'commit', change, 'cut off')).toMatchObject({ ok: false });
  expect(operations.ran).toEqual([]);
  expect((await call(toolset, 'commit', change)).says).toBe('outside of your scope');
  expect(operations.ran).toMatchObject([['commit', { ...change, more: false }]]);
});

test('a fault of the call is told to the model; a fault of the store is not its business', async () => {
  const { toolset } = setOf('worker');
  expect((await call(toolset, 'read', { path: 'gone' })).says).toContain('Call list');
  expect((await call(toolset, 'read', { path: 'fault' })).says).toContain('no seq 9');
  await expect(call(toolset, 'read', { path: 'broken' })).rejects.toThrow('no space');
});

test('read gives lines; finish ends', async () => {
  const { toolset } = setOf('worker');
  expect((await call(toolset, 'read', { path: 'a', from: 2, lines: 1 })).more).toMatchObject({
    text: 'two\n',
    lines: 3,
  });
  expect(await call(toolset, 'finish', { status: 'done' })).toMatchObject({ ok: true, ends: 'finished' });
  expect((await call(toolset, 'finish', { status: 'failed' })).ok).toBe(false);
});

test('each tool has a JSON Schema that forbids unknown keys', () => {
  for (const kind of ['planner', 'worker', 'merger'] as const) {
    for (const { parameters } of setOf(kind).toolset.specs()) {
      expect(parameters).toMatchObject({ type: 'object', additionalProperties: false });
    }
  }
});
