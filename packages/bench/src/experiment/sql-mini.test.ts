import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { detectSandbox } from '@mound/swarm';
import sqlite from 'node-sqlite3-wasm';
import { afterEach, beforeEach, expect, test } from 'vitest';

import { noProgress } from '../suites/suite.ts';
import type { CellResult } from './cell-result.ts';
import { experimentSuite } from './experiment.ts';

const home = fileURLToPath(new URL('../../experiments/sql-mini', import.meta.url));
const cell = 'swarm.one-mind.1';
const cassette = join(home, 'recorded', cell, 'cassette.jsonl');
/** Where none works the engine is scored without. */
const sandbox = detectSandbox(tmpdir(), ['bubblewrap', 'unshare']) !== 'none';
/** Of the tree that the recorded run made. */
const recordedTree = '883cca836ab297e768d12de2202e09d0b30820e4341e67e3ef74b6baba35da92';

let dir: string;
beforeEach(() => void (dir = mkdtempSync(join(tmpdir(), 'mound-sql-mini-'))));
afterEach(() => rmSync(dir, { recursive: true, force: true }));

async function replayed(recorded: string): Promise<CellResult> {
  const values = { file: join(home, 'experiment.json'), replay: recorded, out: join(dir, 'out'), sandbox };
  const signal = new AbortController().signal;
  const outcome = await experimentSuite.run({ size: 'default', values, dir: undefined, signal, progress: noProgress });
  if (outcome.kind !== 'result') throw new Error('no result');
  expect(outcome.next).toBe(
    `kept in ${values.out}; as a page: mound bench report ${join(values.out, 'result.json')} --out page.html`,
  );
  const told = outcome.result.tables?.find(({ title }) => title === 'The longest files');
  expect(told?.rows[0]).toEqual([cell, 'src/parser.js', expect.stringMatching(/^\d+$/)]);
  const own = outcome.result.samples.filter(({ workload }) => workload['workload'] === 'experiment');
  expect(own.every(({ workload }) => workload['minds'] === 'recorded')).toBe(true);
  return JSON.parse(readFileSync(join(dir, 'out', 'cells', cell, 'cell.json'), 'utf8')) as CellResult;
}

test('the recorded run gives the same tree and score again, offline, and says what it spent', async () => {
  const result = await replayed(join(home, 'recorded'));
  expect(result).toMatchObject({ reason: 'finished', treeHash: recordedTree, tasks: 5, commits: 7 });
  expect(result.curve?.points.at(-1)).toMatchObject({ state: 'scored', score: 1, passed: 348, total: 348 });
  expect(result.curve?.reached.map(({ share, at }) => [share, at !== undefined])).toEqual([[0.5, true], [0.9, true], [1, true]]); // prettier-ignore
  expect(result.violations).toEqual([]);
  // Nobody has said what a request cost: unknown, and not nothing.
  expect(result.spend).toMatchObject({ planner: { requests: 6, unknownRequests: 6 }, worker: { requests: 15 } });
  expect(result.spend['planner']).not.toHaveProperty('usd');
});

test('another answer gives another tree and its own score', async () => {
  const lines = readFileSync(cassette, 'utf8').trimEnd().split('\n');
  const changed = lines.map((line) => {
    if (!line.includes('"turn"') || !line.includes('Compute values')) return line;
    const answer = JSON.parse(line) as { turn: { calls: { name: string; arguments: { changes?: object[] } }[] } };
    // It no longer mends the pattern of LIKE.
    answer.turn.calls = answer.turn.calls.filter(({ name }) => name !== 'edit');
    return JSON.stringify(answer);
  });
  expect(changed).not.toEqual(lines);
  mkdirSync(join(dir, 'changed', cell), { recursive: true });
  writeFileSync(join(dir, 'changed', cell, 'cassette.jsonl'), `${changed.join('\n')}\n`);
  const result = await replayed(join(dir, 'changed'));
  expect(result.treeHash).not.toBe(recordedTree);
  expect(result.curve?.points.at(-1)?.score).toBe(1);
});

test('the cassette names no machine', () => {
  expect(readFileSync(cassette, 'utf8')).not.toMatch(/\/(?:home|root|tmp|work|Users)\//);
});

test('SQLite answers the corpus as the corpus wants it', async () => {
  const module = (await import(join(home, 'make-corpus.mjs'))) as { corpusOf(seed: number): { sql: string; answer: unknown; category: string }[] }; // prettier-ignore
  for (const seed of [1, 2]) {
    const base = new sqlite.Database(':memory:');
    try {
      const wrong = module.corpusOf(seed).filter(({ sql, answer }) => {
        let said: unknown;
        try {
          said = base.all(sql).map((row) => Object.values(row as object));
        } catch {
          said = 'error';
        }
        return JSON.stringify(said) !== JSON.stringify(answer);
      });
      expect(wrong).toEqual([]);
    } finally {
      base.close();
    }
  }
});
