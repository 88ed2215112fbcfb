import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { ScriptedModel, serveModel, type Script } from '@mound/swarm';
import { afterEach, beforeEach, expect, test } from 'vitest';

import type { ResultFile } from '../harness/result-file.ts';
import { noProgress } from '../suites/suite.ts';
import type { CellResult } from './cell-result.ts';
import { experimentSuite } from './experiment.ts';

let dir: string;
beforeEach(() => void (dir = mkdtempSync(join(tmpdir(), 'mound-live-'))));
afterEach(() => rmSync(dir, { recursive: true, force: true }));

/** Reports what it used, as a provider does. */
const mind: Script = ({ brief, turn }) => {
  const call = (name: string, input: object) => ({ name, arguments: input as never });
  const usage = { inputTokens: 1000 * (turn + 1), outputTokens: 100, cachedTokens: 0, estimated: false };
  if (brief.role === 'worker') {
    const path = `${brief.task.id}.js`;
    const content = `export const ${brief.task.id} = 1;\n`;
    return { usage, calls: [call('write', { path, content }), call('finish', { status: 'done' })] };
  }
  const tasks = ['a', 'b', 'c'].map((id) => ({ id, title: id, unchecked: 'text' }));
  if (turn === 0) return { usage, calls: [call('delegate', { tasks }), call('wait', {})] };
  return { usage, calls: [call('finish', { status: 'done' })] };
};

async function run(file: string, values: object): Promise<ResultFile> {
  const signal = new AbortController().signal;
  const given = { file, sandbox: false, ...values };
  const outcome = await experimentSuite.run({ size: 'default', values: given, dir: undefined, signal, progress: noProgress }); // prettier-ignore
  if (outcome.kind !== 'result') throw new Error('no result');
  expect(outcome.exitCode).toBe(0);
  return outcome.result;
}

const cellIn = (out: string, cell: string): CellResult =>
  JSON.parse(readFileSync(join(out, 'cells', cell, 'cell.json'), 'utf8')) as CellResult;

test('planners with workers at an endpoint: the ledger’s costs by role, a price that is missing is unknown; their cassettes give the same again', async () => {
  const server = await serveModel(new ScriptedModel({ large: mind, small: mind }));
  const model = (name: string) => ({ kind: 'endpoint', endpoint: 'far', model: name });
  writeFileSync(join(dir, 'goal.md'), 'Write a, b and c.\n');
  const file = join(dir, 'experiment.json');
  writeFileSync(file, JSON.stringify({
    format: 1,
    name: 'matrix',
    goal: 'goal.md',
    endpoints: { far: { baseURL: server.url } },
    models: { large: model('large'), small: model('small') },
    prices: [{ model: 'large', input: 10, output: 50 }],
    matrix: ['large', 'small'],
    swarm: { commands: { mode: 'off' }, coordination: { 'fresh-reads': 'off' } },
    score: { command: 'echo "{\\"passed\\": $(ls *.js | wc -l), \\"total\\": 3}"' },
    thresholds: [1],
    arms: ['all-on'],
  })); // prettier-ignore
  const out = join(dir, 'out');
  let live: ResultFile;
  try {
    live = await run(file, { out });
  } finally {
    await server.close();
  }
  const [byRole, costs, scores] = live.tables ?? [];
  // A planner: 1,000 and 2,000 tokens in, 100 out each; three workers: 1,000 in and 100 out each.
  expect(byRole?.rows.slice(0, 2)).toEqual([
    ['all-on', 'large+large', '$0.0400', '$0.0450', '-', '-', '$0.0850', '47.1 %', '50.8 %'],
    ['all-on', 'large+small', '$0.0400', 'unknown', '-', '-', '$0.0400 and 3 unknown', 'unknown', '50.8 %'],
  ]);
  expect(costs?.rows).toEqual([
    ['large', '$0.0850', '$0.0400 and 3 unknown'],
    ['small', '$0.0450 and 2 unknown', 'unknown'],
  ]);
  expect(scores?.rows[1]).toEqual(['small', '100 %', '100 %']);
  const figure = (metric: string, role?: string): number | undefined =>
    live.samples.find((one) => one.metric === metric && one.workload['role'] === role)?.median;
  expect([figure('contextTokensP50', 'planner'), figure('contextTokensP99', 'planner')]).toEqual([1000, 2000]);
  expect(figure('wallSeconds')).toBeGreaterThan(0);
  expect(readdirSync(join(out, 'cells', 'all-on.large+small.1')).toSorted()).toEqual(['cassette.jsonl', 'cell.json', 'clock.json', 'config.json', 'points.jsonl', 'repo']); // prettier-ignore

  const again = await run(file, { out: join(dir, 'again'), replay: out });
  expect(again.tables).toEqual(live.tables);
  expect(again.samples.some(({ metric }) => metric === 'wallSeconds' || metric === 'minutesToShare')).toBe(false);
  for (const cell of ['all-on.large+large.1', 'all-on.small+small.1'])
    expect(cellIn(join(dir, 'again'), cell).treeHash).toBe(cellIn(out, cell).treeHash);
});
