import { join } from 'node:path';
import { expect, test } from 'vitest';
import { version, type Author, type Outcome, type Repo } from '@mound/vcs';
import type { AgentId } from '../core/ids.ts';
import { systemTime } from '../core/time.ts';
import { authorsOfSides, RepoMerger } from './repo-merger.ts';
import { contextOn, newRepo } from './swarm.test.kit.ts';

const author = (name: string): Author => ({ name, kind: 'agent', agent: `r1/${name}` });

/** Lands a line of an author's in the middle of a file as it was at the start. */
async function side(repo: Repo, name: string, base: number): Promise<Outcome> {
  const change = { kind: 'put' as const, path: 'hot', content: `a\n${name}\nb\n`, expect: version(base) };
  return repo.land({ author: author(name), message: `by ${name}`, rationale: `why ${name}`, changes: [change] });
}

async function twoConflicts(): Promise<{ repo: Repo; ids: string[] }> {
  const repo = await newRepo({ hot: 'a\n0\nb\n' });
  const base = repo.snapshot().seq;
  const outcomes: Outcome[] = [];
  for (const name of ['first', 'worker-2', 'worker-3']) outcomes.push(await side(repo, name, base));
  return { repo, ids: outcomes.flatMap((outcome) => (outcome.kind === 'conflicted' ? [outcome.conflict] : [])) };
}
const content = 'a\nfirst\nworker-2\nworker-3\nb\n';
const request = (conflict: string): Parameters<RepoMerger['resolve']>[0] => ({
  conflict,
  results: [{ path: 'hot', content }],
});

test.each(['first', 'worker-3'])('%s wrote a side and may not resolve, whatever started it', async (name) => {
  const { repo, ids } = await twoConflicts();
  const context = contextOn(repo, systemTime, join(repo.dir, 'work'));
  const [, id = ''] = ids;
  const merger = new RepoMerger(context, name as AgentId, [id], 1);
  expect(await merger.resolve(request(id), '0.0')).toMatchObject({
    kind: 'refused',
    says: expect.stringContaining('you wrote a side of this conflict'),
  });
  expect(merger.open).toEqual([id]);
  expect(repo.snapshot().readText('hot')).toBe('a\nfirst\nb\n');
});

test('one merger settles the conflicts of a file in one go, though its own landing is a side of the second', async () => {
  const { repo, ids } = await twoConflicts();
  const context = contextOn(repo, systemTime, join(repo.dir, 'work'));
  const merger = new RepoMerger(context, 'merger-1' as AgentId, ids, 1);
  const [one = '', two = ''] = ids;
  const details = merger.readConflict(one);
  expect(details).toMatchObject({
    rationale: 'why worker-2',
    met: [{ author: 'first', message: 'by first', rationale: 'why first' }],
  });
  expect(await merger.resolve(request(one), '0.0')).toMatchObject({ kind: 'landed' });
  expect(await merger.finish({ status: 'done' } as never)).toMatchObject({ says: expect.stringContaining(two) });
  // Its landing makes it an author for everybody else who asks.
  expect(authorsOfSides(repo, repo.conflict(two))).toContain('r1/merger-1');
  expect(await merger.resolve(request(two), '1.0')).toMatchObject({ kind: 'landed' });
  expect(await merger.finish({ status: 'done' } as never)).toBeUndefined();
  expect(repo.snapshot().readText('hot')).toBe(content);
  const { survival } = context.parts.tally.merges.report();
  expect(survival).toEqual({ current: { lines: 4, survived: 4 }, incoming: { lines: 2, survived: 2 } });
  // A conflict that was not given to it is none of its business.
  expect(await merger.resolve(request('c999'), '2.0')).toMatchObject({ kind: 'refused' });
});
