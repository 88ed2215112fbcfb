/** A process that reserves, or owns tasks, beside others: `node rival.test.kit.js MODE DIR NAME COUNT`. */
import { createInterface } from 'node:readline';
import { absent, openRepo, type Author, type Repo } from '@mound/vcs';
import { unlimited } from '../core/amount.ts';
import { agentIdOf, rootTask, type RunId, type TaskId } from '../core/ids.ts';
import { systemTime } from '../core/time.ts';
import { BudgetBook } from './budget-book.ts';
import { RunKeys } from './run-keys.ts';
import { TaskBook } from './task-book.ts';

const [mode = '', dir = '', name = '', count = '0'] = process.argv.slice(2);
const keys = new RunKeys('r1' as RunId);
const author: Author = { name, kind: 'agent', agent: name };
const say = (line: object): void => void process.stdout.write(`${JSON.stringify(line)}\n`);

/** Everything at once: one reservation waits for no other. Those that are granted settle what they spent, every second. */
async function reserve(repo: Repo): Promise<void> {
  const book = new BudgetBook(repo, keys);
  await Promise.all(
    Array.from({ length: Number(count) }, async (_, at) => {
      const id = `${name}-${at}` as TaskId;
      const tokens = 1 + (at % 7);
      const step = { records: [], author, message: `reserve ${id}`, operationId: undefined };
      const answer = await book.reserve(rootTask, [[id, { ...unlimited, tokens }]], step);
      say({ id, tokens, kind: answer.kind });
      if (answer.kind !== 'landed' || at % 2 === 0) return;
      const spent = { tokens: Math.floor(tokens / 2), nanoUsd: 0, ms: 0 };
      const settling = { ...step, message: `settle ${id}` };
      await book.settle({ draws: [id], spent, ended: { id, above: rootTask } }, settling);
      say({ id, settled: spent.tokens });
    }),
  );
}

/** Claims each task, and lands for it when it is told to, however late that is. */
async function own(repo: Repo): Promise<void> {
  const book = new TaskBook(repo, keys, systemTime);
  const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
  for (let at = 0; at < Number(count); at++) {
    const task = `t${at}` as TaskId;
    const agent = agentIdOf('worker', 1);
    const answer = await book.claim({ task, agent, author, leaseMs: 30, attempts: 0, takeOver: false });
    say({ task, kind: answer.kind });
    await lines.next();
    if (answer.kind !== 'claimed') continue;
    const operationId = `r1/${task}/${answer.claim.generation}/${name}`;
    const outcome = await repo.land({
      author,
      message: `late ${task}`,
      operationId,
      changes: [{ kind: 'put', path: task, content: `by ${name}\n`, expect: absent }],
      records: [book.progress(answer.claim, 'done', operationId)],
    });
    say({ task, outcome: outcome.kind, code: outcome.kind === 'rejected' ? outcome.code : undefined });
  }
}

const repo = await openRepo(dir);
await (mode === 'reserve' ? reserve(repo) : own(repo));
await repo.close();
