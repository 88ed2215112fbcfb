// Scores the engine in the current directory: prints how many statements came
// out right, of each kind and in all. `--seed N` chooses the corpus.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';

import { corpusOf } from './make-corpus.mjs';

const at = process.argv.indexOf('--seed');
const cases = corpusOf(at < 0 ? 1 : Number(process.argv[at + 1]));
const input = cases.map(({ sql }) => `${sql}\n`).join('');
// The engine gets no key, and nothing that says that it is scored.
const ran = existsSync('bin/sql.mjs')
  ? spawnSync(process.execPath, ['bin/sql.mjs'], { input, env: { PATH: process.env.PATH }, timeout: 60_000, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 }) // prettier-ignore
  : { stdout: '' };
const answers = (ran.stdout ?? '').split('\n');
const tally = new Map();
for (const [number, { category, answer }] of cases.entries()) {
  const said = (answers[number] ?? '').trim();
  const wanted = answer === 'error' ? 'error' : JSON.stringify(answer);
  const kind = tally.get(category) ?? { right: 0, all: 0 };
  tally.set(category, { right: kind.right + (said === wanted ? 1 : 0), all: kind.all + 1 });
}
const categories = [...tally].map(([category, { right, all }]) => ({ category, passed: right, total: all }));
const passed = categories.reduce((sum, one) => sum + one.passed, 0);
const total = cases.length;
process.stdout.write(`${JSON.stringify({ passed, total, categories, score: passed / total })}\n`);
