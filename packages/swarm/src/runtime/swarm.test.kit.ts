/** A repository, scripts and a run, for the end-to-end tests. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { absent, openRepo, type Author, type Repo } from '@mound/vcs';
import type { WorkerBrief } from '../core/brief.ts';
import { allOn } from '../core/coordination.ts';
import type { RunId } from '../core/ids.ts';
import type { JsonValue } from '../core/json.ts';
import type { Time } from '../core/time.ts';
import { CostLedger } from '../cost/cost-ledger.ts';
import { PriceBook } from '../cost/prices.ts';
import { ScriptedModel, type Script, type ScriptView } from '../model/scripted-model.ts';
import { toolLimits } from '../command/run-command.ts';
import { shippedRoles } from '../roles/roles.ts';
import { BudgetBook } from './budget-book.ts';
import { CommandRoom, type CommandSettings } from './command-room.ts';
import { RunContext } from './run-context.ts';
import { RunKeys } from './run-keys.ts';
import { defaultGuide, defaultLimits, type SwarmOptions } from './run-options.ts';
import { runSwarm } from './run-swarm.ts';
import { Tally } from './tally.ts';
import { TaskBook } from './task-book.ts';

export const human: Author = { name: 'Ada', kind: 'human' };
export async function newRepo(files: Readonly<Record<string, string>> = {}): Promise<Repo> {
  const dir = await mkdtemp(join(tmpdir(), 'mound-swarm-'));
  onTestFinished(() => rm(dir, { recursive: true, force: true }));
  const repo = await openRepo(dir, { create: true });
  onTestFinished(() => repo.close());
  const changes = Object.entries(files).map(([path, content]) => ({
    kind: 'put' as const,
    path,
    content,
    expect: absent,
  }));
  if (changes.length > 0) await repo.land({ author: human, message: 'start', changes });
  return repo;
}

export const treeOf = (repo: Repo): Record<string, string | undefined> =>
  Object.fromEntries(
    repo
      .snapshot()
      .list()
      .map(({ path }) => [path, repo.snapshot().readText(path)]),
  );

export const call = (name: string, input: JsonValue): { name: string; arguments: JsonValue } => ({
  name,
  arguments: input,
});
export const finish = (status = 'done'): { name: string; arguments: JsonValue } => call('finish', { status });
export const put = (changes: JsonValue, more: object = {}): { name: string; arguments: JsonValue } =>
  call('commit', { changes, message: 'work', ...more });

/** Delegates each batch, waits, and finishes. */
export const planInBatches =
  (...batches: JsonValue[]): Script =>
  ({ turn }) =>
    turn < batches.length
      ? { calls: [call('delegate', { tasks: batches[turn] ?? [] }), call('wait', {})] }
      : { calls: [finish()] };

/** A worker whose task's input is the list of changes that it lands. */
export const workFromInput: Script = ({ brief }) => ({
  calls: [put((brief as WorkerBrief).input ?? []), finish()],
});

/** The text that a read of the turn before gave. */
export function readText({ results }: ScriptView): string {
  const text = results[0]?.value['text'];
  if (typeof text !== 'string') throw new Error('nothing was read');
  return text;
}

/** Keeps the differing lines of both sides, in order. */
export const mergeBoth: Script = ({ turn, brief, results, request }) => {
  if (brief.role !== 'merger') throw new Error('not a merger');
  // One after the other, and again where the file moved on.
  const own = [brief, ...(brief.also ?? [])].map(({ conflict }) => conflict);
  const done = request.messages.filter(({ role, content }) => role === 'tool' && content.includes('landed as seq'));
  const conflict = own[done.length];
  if (conflict === undefined) return { calls: [finish()] };
  if (turn % 2 === 0) return { calls: [call('read_conflict', { conflict })] };
  const paths = (results[0]?.value['paths'] ?? []) as unknown as {
    path: string;
    current: { text: string };
    hunks: { current: { from: number; lines: number; text: string }; incoming: { text: string } }[];
  }[];
  const [path] = paths;
  const hunk = path?.hunks[0];
  if (path === undefined || hunk === undefined) throw new Error('no hunk');
  const lines = path.current.text.split('\n');
  const both = [hunk.current.text, hunk.incoming.text].toSorted().join('').replace(/\n$/, '').split('\n');
  lines.splice(hunk.current.from - 1, hunk.current.lines, ...both);
  const content = lines.join('\n');
  const last = own.length === done.length + 1 ? [finish()] : [];
  return { calls: [call('resolve', { conflict, results: [{ path: path.path, content }] }), ...last] };
};

export function swarm(
  repo: Repo,
  scripts: Readonly<Record<string, Script>>,
  more: Partial<SwarmOptions> = {},
): ReturnType<typeof runSwarm> {
  const model = new ScriptedModel(scripts);
  const models = { planner: model, worker: model, ...(scripts['merger'] && { merger: model }) };
  return runSwarm({ repo, goal: 'test', runId: 'r1', models, agentsMax: 8, ...more });
}

export const task = (id: string, changes: JsonValue, scope: string[] = []): JsonValue => ({
  id,
  title: id,
  scope,
  input: changes,
});
export const clash = (id: string): JsonValue => task(id, [{ path: 'hot.txt', content: `a\n${id}\nb\n` }], ['hot.txt']);
export const numbered = (count: number): string => Array.from({ length: count }, (_, at) => `line ${at}\n`).join('');

/** Eight tasks from one base: two conflict, two merge, four touch files of their own. */
export const eight = (base: string): JsonValue => [
  ...['a', 'b', 'c', 'd'].map((name) => task(`own-${name}`, [{ path: `src/${name}.txt`, content: `${name}\n` }])),
  task('merge-top', [{ path: 'list.txt', content: base.replace('line 1\n', 'line one\n') }]),
  task('merge-end', [{ path: 'list.txt', content: base.replace('line 18\n', 'line eighteen\n') }]),
  task('clash-x', [{ path: 'hot.txt', content: 'start\nx\nend\n' }]),
  task('clash-y', [{ path: 'hot.txt', content: 'start\ny\nend\n' }]),
];
export const start = { 'list.txt': numbered(20), 'hot.txt': 'start\n0\nend\n' };
export const eightDone = {
  'hot.txt': 'start\nx\ny\nend\n',
  'list.txt': numbered(20).replace('line 1\n', 'line one\n').replace('line 18\n', 'line eighteen\n'),
  'src/a.txt': 'a\n',
  'src/b.txt': 'b\n',
  'src/c.txt': 'c\n',
  'src/d.txt': 'd\n',
};
export const eightScripts = { planner: planInBatches(eight(numbered(20))), worker: workFromInput, merger: mergeBoth };

/** Commands as tests run them: real ones, with little to print and not long. */
export const commandSettings = (directory: string): CommandSettings => ({
  directory,
  limits: { ...toolLimits, seconds: 20 },
  commandsMax: 2,
  sandbox: 'none',
  environment: { PATH: process.env['PATH'] ?? '' },
  caches: [],
  artefacts: [],
});

/** What all agents of the run `r1` share, without a run. */
export function contextOn(repo: Repo, time: Time, commandsDir: string): RunContext {
  const keys = new RunKeys('r1' as RunId);
  const prices = new PriceBook([], time);
  const mind = new ScriptedModel({});
  const budgets = new BudgetBook(repo, keys);
  return new RunContext({
    repo,
    keys,
    time,
    book: new TaskBook(repo, keys, time),
    budgets,
    draws: budgets,
    commands: new CommandRoom(repo, commandSettings(commandsDir)),
    tally: new Tally(),
    limits: defaultLimits,
    policy: {
      transcripts: undefined,
      guide: defaultGuide,
      checks: 'optional',
      approve: 'nothing',
      check: undefined,
      thrashing: undefined,
      coordination: allOn,
    },
    prices,
    costs: new CostLedger(prices),
    roles: shippedRoles(),
    models: { planner: mind, worker: mind, merger: mind },
    content: undefined,
    onAcknowledged: undefined,
  });
}
