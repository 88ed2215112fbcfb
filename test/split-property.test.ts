import { openRepo, version, type Repo } from '@mound/vcs';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { scale, seed } from './kit/seed.ts';
import { agent, setup, tempDir } from './kit/temp.ts';

const lineCount = 24;
const original = Array.from({ length: lineCount }, (_, at) => `line ${at}`);

/** Lines from `at` on that go, and how many come in their place. */
const hunk = fc.record({ at: fc.nat(lineCount), removed: fc.nat(3), added: fc.nat(2) });
const edit = fc.record({ hunks: fc.array(hunk, { minLength: 1, maxLength: 3 }), isEarly: fc.boolean() });
const split = fc.record({
  /** Module of each stretch of lines, in any order; 0 stays. */
  cuts: fc.uniqueArray(fc.integer({ min: 1, max: lineCount - 1 }), { minLength: 1, maxLength: 4 }),
  modules: fc.array(fc.nat(3), { minLength: 5, maxLength: 5 }),
  isTurned: fc.boolean(),
  hasHeader: fc.boolean(),
  isFrozen: fc.boolean(),
  isAgain: fc.boolean(),
});

interface Made {
  readonly text: string;
  readonly added: readonly string[];
  readonly removed: readonly string[];
}

function apply(hunks: readonly { at: number; removed: number; added: number }[], id: string): Made {
  const lines: (string | undefined)[] = [...original];
  const before = new Map<number, string[]>();
  for (const [index, { at, removed, added }] of hunks.entries()) {
    for (let line = at; line < Math.min(lineCount, at + removed); line++) lines[line] = undefined;
    const fresh = Array.from({ length: added }, (_, nth) => `${id} ${index} ${nth}`);
    before.set(at, [...(before.get(at) ?? []), ...fresh]);
  }
  const all = lines.flatMap((line, at) => [...(before.get(at) ?? []), ...(line === undefined ? [] : [line])]);
  all.push(...(before.get(lineCount) ?? []));
  return {
    text: all.map((line) => `${line}\n`).join(''),
    added: [...before.values()].flat(),
    removed: original.filter((_, at) => lines[at] === undefined),
  };
}

function partsOf({ cuts, modules, isTurned, hasHeader }: typeof split extends fc.Arbitrary<infer T> ? T : never) {
  const bounds = [0, ...cuts.toSorted((a, b) => a - b), lineCount];
  const parts = new Map<number, string[][]>();
  for (let at = 0; at + 1 < bounds.length; at++) {
    const to = modules[at] ?? 0;
    parts.set(to, [...(parts.get(to) ?? []), original.slice(bounds[at], bounds[at + 1])]);
  }
  const textOf = (to: number): string => {
    const stretches = parts.get(to) ?? [];
    const lines = (isTurned ? stretches.toReversed() : stretches).flat();
    return [...(hasHeader && to > 0 ? [`header of ${to}`] : []), ...lines].map((line) => `${line}\n`).join('');
  };
  const remains = parts.has(0) ? textOf(0) : null;
  const paths = [...parts.keys()].filter((to) => to > 0).map((to) => ({ path: `m/${to}`, content: textOf(to) }));
  return { remains, modules: paths };
}

const linesOf = (repo: Repo): string[] =>
  repo
    .snapshot()
    .list()
    .flatMap(({ path }) => (repo.snapshot().readText(path) ?? '').split('\n'));

/** What an open conflict of an operation shows of its incoming side. */
function shownOf(repo: Repo, operationId: string): { incoming: string[]; base: string[] } | undefined {
  const now = repo.outcome(operationId);
  if (now?.kind !== 'conflicted') return undefined;
  const { paths } = repo.conflict(now.conflict);
  const of = (side: 'incoming' | 'base'): string[] =>
    paths.flatMap((row) => (row[side].content?.toString('utf8') ?? '').split('\n'));
  return { incoming: of('incoming'), base: of('base') };
}

function check(repo: Repo, id: string, { added, removed }: Made): void {
  const standing = linesOf(repo);
  const shown = shownOf(repo, id);
  if (shown === undefined) {
    expect(['landed', 'merged', 'unchanged']).toContain(repo.outcome(id)?.kind);
    for (const line of added)
      expect(
        standing.filter((other) => other === line),
        `${line} stands once`,
      ).toEqual([line]);
    expect(
      removed.filter((line) => standing.includes(line)),
      `${id}: what it removed is gone`,
    ).toEqual([]);
    return;
  }
  // Nothing of an intent in conflict has landed, and all of it is to be seen.
  for (const line of added) {
    expect(standing).not.toContain(line);
    expect(
      shown.incoming.filter((other) => other === line),
      `${line} is shown once`,
    ).toEqual([line]);
  }
  for (const line of removed) {
    if (standing.includes(line)) expect(shown.base, `${line} is of a row`).toContain(line);
  }
}

test('after any split with any edits of the file as it was, each line is in one module or in an open conflict', async () => {
  let conflicted = 0;
  let merged = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(edit, { minLength: 1, maxLength: 4 }), split, async (edits, shape) => {
      const parts = partsOf(shape);
      fc.pre(parts.modules.length > 0);
      const repo = await openRepo(tempDir(), { create: true });
      try {
        await repo.put('big', original.map((line) => `${line}\n`).join(''), { author: setup });
        const expectation = { expect: version(repo.snapshot().seq) };
        if (shape.isFrozen) await repo.freeze('big', { author: setup, reason: 'large', owner: 'splitter' });
        const made = edits.map(({ hunks }, at) => apply(hunks, `op-${at}`));
        const land = async (at: number): Promise<void> => {
          const { text } = made[at] ?? { text: '' };
          await repo.put('big', text, { author: agent(`a${at}`), operationId: `op-${at}`, ...expectation });
        };
        for (const [at, { isEarly }] of edits.entries()) if (shape.isFrozen && isEarly) await land(at);
        const { outcome } = await repo.split('big', { author: agent('splitter'), ...parts });
        expect(outcome.kind).toBe('landed');
        const [first] = parts.modules;
        if (shape.isAgain && first !== undefined) {
          const lines = (repo.snapshot().readText(first.path) ?? '').split(/(?<=\n)/);
          const half = Math.ceil(lines.length / 2);
          const modules = [{ path: 'again', content: lines.slice(0, half).join('') }];
          const remains = half === lines.length ? null : lines.slice(half).join('');
          await repo.split(first.path, { author: agent('splitter'), modules, remains });
        }
        for (const [at, { isEarly }] of edits.entries()) if (!shape.isFrozen || !isEarly) await land(at);
        for (const [at, one] of made.entries()) check(repo, `op-${at}`, one);
        for (const [at] of made.entries()) {
          if (repo.outcome(`op-${at}`)?.kind === 'conflicted') conflicted++;
          else merged++;
        }
        // What nobody removed is there, once.
        const gone = new Set(made.flatMap(({ removed }) => removed));
        const standing = linesOf(repo);
        for (const line of original.filter((each) => !gone.has(each))) {
          expect(standing.filter((other) => other === line)).toEqual([line]);
        }
        expect(repo.stats().parkedOpen).toBe(0);
      } finally {
        await repo.close();
      }
    }),
    { numRuns: 25 * scale, seed, endOnFailure: true },
  );
  // Edits that all met the same would prove little.
  expect([conflicted > 0, merged > 0]).toEqual([true, true]);
});
