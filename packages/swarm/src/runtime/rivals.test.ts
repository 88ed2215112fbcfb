import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { absent, type Repo } from '@mound/vcs';
import { unlimited } from '../core/amount.ts';
import { agentIdOf, rootTask, type RunId, type TaskId } from '../core/ids.ts';
import { systemTime } from '../core/time.ts';
import type { BudgetNode } from '../state/budget.ts';
import { BudgetBook } from './budget-book.ts';
import { RunKeys } from './run-keys.ts';
import { human, newRepo } from './swarm.test.kit.ts';
import { TaskBook } from './task-book.ts';

/** Processes that work against one another on one run's records. They run the build. */

const kit = fileURLToPath(new URL('../../dist/runtime/rival.test.kit.js', import.meta.url));
const keys = new RunKeys('r1' as RunId);

interface Rival {
  readonly child: ChildProcessWithoutNullStreams;
  readonly said: Record<string, unknown>[];
  readonly ended: Promise<unknown>;
}

function rival(mode: string, repo: Repo, name: string, count: number, onLine?: (rival: Rival) => void): Rival {
  const child = spawn(process.execPath, [kit, mode, repo.dir, name, String(count)]);
  const said: Record<string, unknown>[] = [];
  const self: Rival = { child, said, ended: once(child, 'close') };
  onTestFinished(async () => void child.kill('SIGKILL'));
  child.stderr.pipe(process.stderr);
  createInterface({ input: child.stdout }).on('line', (line) => {
    said.push(JSON.parse(line) as Record<string, unknown>);
    onLine?.(self);
  });
  return self;
}

const nodesOf = (repo: Repo): Map<string, BudgetNode> => {
  const prefix = keys.budget('');
  const records = repo.snapshot().records(prefix);
  return new Map(
    records.map(({ key, value }) => [key.slice(prefix.length), JSON.parse(value.toString()) as BudgetNode]),
  );
};

test('1,000 reservations at once by four processes, one of them killed, never go over the cap, and nothing is lost of it', async () => {
  const repo = await newRepo({ a: 'a' });
  const cap = 2000;
  const opening = new BudgetBook(repo, keys).opening({ ...unlimited, tokens: cap });
  await repo.land({ author: human, message: 'open', records: [opening] });
  const rivals = ['p1', 'p2', 'p3', 'doomed'].map((name) =>
    rival('reserve', repo, name, 250, ({ child, said }) => {
      if (name === 'doomed' && said.length === 60) child.kill('SIGKILL');
    }),
  );
  await Promise.all(rivals.map(({ ended }) => ended));

  const nodes = nodesOf(repo);
  const root = nodes.get(rootTask);
  if (root === undefined) throw new Error('the tree has no root');
  const below = [...nodes].filter(([id]) => id !== rootTask);
  const sum = (of: (node: BudgetNode) => number): number => below.reduce((total, [, node]) => total + of(node), 0);
  const capOf = ({ cap: { tokens } }: BudgetNode): number => Number(tokens);
  // Exactly: what is reserved is what open nodes may spend, what is spent is what settled ones did.
  expect(root.reserved.tokens).toBe(sum((node) => (node.state === 'open' ? capOf(node) : 0)));
  expect(root.spent.tokens).toBe(sum((node) => (node.state === 'settled' ? node.spent.tokens : 0)));
  expect(root.reserved.tokens + root.spent.tokens).toBeLessThanOrEqual(cap);
  // Whoever was told so has it; who was refused has nothing; and of 1,000 many were.
  let refused = 0;
  for (const { said } of rivals) {
    for (const { id, kind, settled } of said) {
      const node = nodes.get(typeof id === 'string' ? id : '');
      if (kind === 'landed') expect(node).toBeDefined();
      else if (kind === 'short') {
        refused += 1;
        expect(node).toBeUndefined();
      } else if (settled !== undefined) expect(node).toMatchObject({ state: 'settled', spent: { tokens: settled } });
    }
  }
  expect(refused).toBeGreaterThan(50);
  const told = rivals.slice(0, 3).map(({ said }) => said.filter(({ kind }) => kind !== undefined).length);
  expect(told).toEqual([250, 250, 250]);
});

test.skipIf(process.platform === 'win32')(
  'an owner that is stopped, taken over and goes on lands nothing, however often',
  async () => {
    const repo = await newRepo({ a: 'a' });
    const count = 12;
    const book = new TaskBook(repo, keys, systemTime);
    const tasks = Array.from({ length: count }, (_, at) => `t${at}` as TaskId);
    const common = { parent: rootTask, role: 'worker', title: 't', scope: [], brief: '', base: 0 };
    await repo.land({
      author: human,
      message: 'tasks',
      records: book.creation(tasks.map((id) => ({ ...common, id }))),
    });
    const owner = rival('own', repo, 'owner', count);
    const said = async (length: number): Promise<void> => {
      while (owner.said.length < length) await new Promise((resolve) => setTimeout(resolve, 5));
    };
    const author = { name: 'heir', kind: 'agent', agent: 'heir' } as const;
    for (const [at, task] of tasks.entries()) {
      await said(2 * at + 1);
      expect(owner.said[2 * at]).toEqual({ task, kind: 'claimed' });
      // Every third is left in peace: it lands.
      const isTaken = at % 3 !== 2;
      if (isTaken) {
        owner.child.kill('SIGSTOP');
        const early = await book.claim({
          task,
          agent: agentIdOf('worker', 2),
          author,
          leaseMs: 1000,
          attempts: 0,
          takeOver: false,
        });
        const claimed =
          early.kind === 'claimed'
            ? early
            : await new Promise((resolve) => setTimeout(resolve, 60)).then(() =>
                book.claim({
                  task,
                  agent: agentIdOf('worker', 2),
                  author,
                  leaseMs: 1000,
                  attempts: 0,
                  takeOver: false,
                }),
              );
        if (claimed.kind !== 'claimed') throw new Error(`${task} was not taken over`);
        expect(claimed.claim.generation).toBe(2);
        // Half of the heirs have landed when the owner wakes, half land after it.
        if (at % 2 === 0) await heirLands(task, claimed.claim);
        owner.child.kill('SIGCONT');
        owner.child.stdin.write('go\n');
        await said(2 * at + 2);
        expect(owner.said[2 * at + 1]).toEqual({ task, outcome: 'rejected', code: 'record-stale' });
        if (at % 2 === 1) await heirLands(task, claimed.claim);
      } else {
        owner.child.stdin.write('go\n');
        await said(2 * at + 2);
        expect(owner.said[2 * at + 1]).toEqual({ task, outcome: 'landed' });
      }
      expect(repo.snapshot().readText(task)).toBe(isTaken ? 'by heir\n' : 'by owner\n');
    }
    owner.child.stdin.end();
    await owner.ended;

    async function heirLands(task: TaskId, claim: Parameters<TaskBook['progress']>[0]): Promise<void> {
      const outcome = await repo.land({
        author,
        message: `heir ${task}`,
        changes: [{ kind: 'put', path: task, content: 'by heir\n', expect: absent }],
        records: [book.progress(claim, 'done', `heir/${task}`)],
      });
      expect(outcome.kind).toBe('landed');
    }
  },
);
