import { absent, any, openRepo, signalsRecord, steppingClock, version, type Outcome, type Precondition, type Repo, type RepoEvent, type SignalPolicy } from '@mound/vcs'; // prettier-ignore
import { describe, expect, test } from 'vitest';
import { indexFaults } from './kit/indexes.ts';
import { put, seqOf } from './kit/land.ts';
import { agent, onCleanup, setup, tempDir, tempRepo } from './kit/temp.ts';

type Of<K extends RepoEvent['kind']> = RepoEvent & { readonly kind: K };

const eventsOf = <K extends RepoEvent['kind']>(repo: Repo, kind: K): Of<K>[] =>
  [...repo.events()].filter((event): event is Of<K> => event.kind === kind);
const write = async (repo: Repo, path: string, content: string, by = 'x', expect_: Precondition = any): Promise<number> =>
  seqOf(await repo.put(path, content, { author: agent(by), expect: expect_ })); // prettier-ignore
const tune = async (repo: Repo, policy: Partial<SignalPolicy> | null): Promise<number> =>
  seqOf(await repo.land({ author: setup, message: 'tune', records: [signalsRecord(policy, any)] }));

describe('oscillation', () => {
  test('a file that returns to what it was is told, with the version that it is again', async () => {
    const repo = await tempRepo();
    for (const content of ['a\n', 'b\n', 'a\n', 'c\n', 'b\n']) await write(repo, 'f', content);
    await repo.land({ author: agent('x'), message: 'm', changes: [{ kind: 'delete', path: 'f', expect: any }] });
    await write(repo, 'f', 'b\n');
    await write(repo, 'other', 'b\n');
    expect(eventsOf(repo, 'file.oscillated').map(({ seq, path, earlier }) => [seq, path, earlier])).toEqual([
      [3, 'f', 1],
      [5, 'f', 2],
      [7, 'f', 5],
    ]);
  });

  test('another mode is another state; the window is of versions, and is data of the repo', async () => {
    const repo = await tempRepo();
    await tune(repo, { oscillation: { versions: 2 } });
    for (const content of ['a\n', 'b\n', 'c\n', 'a\n', 'c\n']) await write(repo, 'f', content);
    await tune(repo, null);
    await write(repo, 'f', 'b\n');
    const told = (): number[] => eventsOf(repo, 'file.oscillated').map(({ seq }) => seq);
    expect(told()).toEqual([6, 8]);
    await tune(repo, { oscillation: null });
    await write(repo, 'f', 'c\n');
    // What was told once is told for ever, whatever the policy is by now.
    expect(told()).toEqual([6, 8]);
    const chmod = { kind: 'chmod', path: 'f', mode: 'executable', expect: any } as const;
    await tune(repo, null);
    await repo.land({ author: agent('x'), message: 'm', changes: [chmod] });
    expect(told()).toEqual([6, 8]);
  });
});

describe('pile-on', () => {
  const base = 'one\ntwo\nthree\nfour\nfive\n';

  test('an intent that asks for what another has landed since is told, landed or not', async () => {
    const dir = tempDir();
    const repo = await tempRepo(dir);
    const v1 = await put(repo, 'f', base);
    const first = await write(repo, 'f', base.replace('two', 'TWO'), 'x', version(v1));
    const same = { author: agent('y'), message: 'm', task: 't', operationId: 'op' };
    const change = { kind: 'put', path: 'f', content: base.replace('two', 'TWO'), expect: version(v1) } as const;
    const unchanged = await repo.land({ ...same, changes: [change] });
    expect(unchanged).toEqual({ kind: 'unchanged', seq: first });
    const by = { author: 'x', authorKind: 'agent', agent: 'x', seq: first };
    expect(eventsOf(repo, 'file.piled-on')).toMatchObject([{ seq: 3, agent: 'y', task: 't', path: 'f', version: first, by }]); // prettier-ignore
    // Sent again it is the same intent.
    expect(await repo.land({ ...same, changes: [change] })).toEqual(unchanged);
    // Beside something new it lands with it.
    const changes = [change, { kind: 'put', path: 'g', content: 'g\n', expect: absent } as const];
    const landed = seqOf(await repo.land({ author: agent('z'), message: 'm', changes }));
    // Merged to what stands there, since x did more than that.
    const both = base.replace('two', 'TWO').replace('five', 'FIVE');
    const second = await write(repo, 'f', both, 'x');
    const merged = [{ kind: 'put', path: 'f', content: base.replace('five', 'FIVE'), expect: version(v1) } as const, { kind: 'put', path: 'h', content: 'h\n', expect: absent } as const]; // prettier-ignore
    const outcome = await repo.land({ author: agent('w'), message: 'm', changes: merged });
    expect(outcome.kind).toBe('merged');
    const alone = await repo.land({ author: agent('v'), message: 'm', changes: merged.slice(0, 1) });
    expect(alone).toEqual({ kind: 'unchanged', seq: second });
    expect(eventsOf(repo, 'file.piled-on').map(({ seq, agent: who, version: at }) => [seq, who, at])).toEqual([
      [3, 'y', first],
      [landed, 'z', first],
      [seqOf(outcome), 'w', second],
      [seqOf(outcome) + 1, 'v', second],
    ]);
    expect(repo.fsck().errors).toEqual([]);
    await repo.close();
    expect(await indexFaults(dir)).toEqual([]);
  });

  test('saying again what one has landed or read is none, nor is it where nobody wants to know', async () => {
    const repo = await tempRepo();
    const v1 = await put(repo, 'f', base);
    const mine = await write(repo, 'f', 'x\n', 'x', version(v1));
    await write(repo, 'f', 'x\n', 'x', version(v1));
    await write(repo, 'f', 'x\n', 'y', version(mine));
    await write(repo, 'f', 'x\n', 'y');
    await tune(repo, { pileOn: false });
    await write(repo, 'f', 'x\n', 'y', version(v1));
    expect(eventsOf(repo, 'file.piled-on')).toEqual([]);
    expect(repo.stats().seq).toBe(3);
  });
});

describe('a megafile', () => {
  const lines = (count: number): string => 'some line of a text\n'.repeat(count);

  test('is flagged when it has grown over a bound, and again only after a while', async () => {
    const dir = tempDir();
    const repo = await openRepo(dir, { create: true, clock: steppingClock(1_700_000_000_000, 1000) });
    onCleanup(() => repo.close());
    await tune(repo, { megafile: { bytes: 60_000, lines: 2000 }, flagAgainMs: 60_000 });
    await write(repo, 'f', lines(2000));
    const second = await write(repo, 'f', lines(2001));
    await write(repo, 'f', lines(2002));
    await write(repo, 'g', lines(3001));
    await write(repo, 'small', 'x\n'.repeat(4000));
    await repo.put('binary', Buffer.alloc(90_000), { author: agent('x') });
    const flags = (): unknown[] => eventsOf(repo, 'file.flagged').map(({ seq, path, signal, reason, author }) => [seq, path, signal?.measure, signal?.value, reason, author]); // prettier-ignore
    expect(flags()).toEqual([
      [second + 1, 'f', 'lines', 2001, '2001 lines, over 2000', 'mound'],
      [second + 4, 'g', 'bytes', 60_020, '60020 bytes, over 60000', 'mound'],
    ]);
    for (let at = 0; at < 40; at++) await put(repo, `tick${at}`, 'x\n');
    const again = await write(repo, 'f', lines(2003));
    expect(flags().at(-1)).toEqual([again + 1, 'f', 'lines', 2003, '2003 lines, over 2000', 'mound']);
    // One that somebody has flagged is flagged.
    await repo.flag('h', { author: setup, reason: 'split it' });
    await write(repo, 'h', lines(2500));
    expect(flags()).toHaveLength(4);
    expect(repo.fsck().errors).toEqual([]);
  });

  test('is frozen where the policy says so: for its owner to split, at most for a while', async () => {
    const clock = { time: 1_700_000_000_000, now: () => clock.time };
    const repo = await openRepo(tempDir(), { create: true, clock });
    onCleanup(() => repo.close());
    const freeze = { ms: 3_600_000, owner: 'splitter' };
    await tune(repo, { megafile: { bytes: 60_000, lines: 2000 }, freeze, flagAgainMs: 2 * freeze.ms });
    const edit = (name: string, path: string): Promise<Outcome> => {
      const content = `${lines(2001)}${name}\n`;
      return repo.put(path, content, { author: agent(name), expect: any, operationId: `${name} ${path}` });
    };
    // An intent of the same batch meets the freeze, too.
    const met = await Promise.all([edit('a', 'g'), edit('b', 'g')]);
    expect(met.map(({ kind }) => kind)).toEqual(['landed', 'parked']);
    expect(eventsOf(repo, 'file.frozen')).toMatchObject([
      { path: 'g', author: 'mound', owner: 'splitter', until: clock.time + freeze.ms, reason: '2002 lines, over 2000' },
    ]);
    const flagged = await write(repo, 'f', lines(2001));
    expect((await edit('b', 'f')).kind).toBe('parked');
    const { outcome } = await repo.split('f', {
      author: agent('splitter'),
      modules: [{ path: 'f2', content: lines(1001) }],
      remains: lines(1000),
      expect: flagged,
      ranges: [{ start: 1001, count: 1001, path: 'f2', toStart: 1 }],
    });
    expect(outcome.kind).toBe('landed');
    expect(repo.freezes().map(({ path }) => path)).toEqual(['g']);
    clock.time += freeze.ms;
    await repo.unpark();
    expect(repo.freezes()).toEqual([]);
    expect(repo.outcome('b g')?.kind).toBe('landed');
    expect(repo.fsck().errors).toEqual([]);
    expect(() => signalsRecord({ freeze: { ms: 0 } }, any)).toThrow(/freeze.ms/);
  });

  test('has bounds of its own in every repo, the default ones else', async () => {
    const repo = await tempRepo();
    expect(repo.signals().megafile).toEqual({ bytes: 262_144, lines: 5000 });
    await write(repo, 'f', lines(5001));
    expect(eventsOf(repo, 'file.flagged')).toMatchObject([{ path: 'f', signal: { measure: 'lines', bound: 5000 } }]);
    await tune(repo, { megafile: null });
    await write(repo, 'g', lines(50_000));
    expect(eventsOf(repo, 'file.flagged')).toHaveLength(1);
  });
});

describe('contention', () => {
  const base = Array.from({ length: 40 }, (_, at) => `line ${at}\n`).join('');
  const edit = (at: number, by: string): string => base.replace(`line ${at}\n`, `${by} ${at}\n`);

  test.each([
    ['the intents of one author', 1, { intents: 6, authors: 9 }, 'contention', 6],
    ['a few intents of many', 9, { intents: 20, authors: 4 }, 'authors', 4],
  ])('of %s flags a file, merged or in conflict, from whatever process', async (_name, authors, bounds, measure, value) => {
    const dir = tempDir();
    const handles = [await tempRepo(dir), await tempRepo(dir)];
    const [one, other] = handles as [Repo, Repo];
    await tune(one, { contention: { windowMs: 3_600_000, ...bounds } });
    const v1 = await put(one, 'f', base);
    await write(other, 'f', edit(0, 'first'), 'first', version(v1));
    // Each second one wants the line that the first has changed.
    for (let at = 1; at < 8; at++) {
      const repo = handles[at % 2] as Repo;
      await write(repo, 'f', edit(at % 2 === 0 ? 0 : at, `a${at}`), `a${at % authors}`, version(v1));
    }
    const flagged = eventsOf(other, 'file.flagged');
    expect(flagged).toMatchObject([{ path: 'f', author: 'mound', signal: { measure, value, bound: value } }]);
    expect(eventsOf(one, 'file.flagged')).toEqual(flagged);
    expect(one.fsck().errors).toEqual([]);
    for (const repo of handles) await repo.close();
    expect(await indexFaults(dir)).toEqual([]);
  }); // prettier-ignore

  test('long ago does not count', async () => {
    const repo = await openRepo(tempDir(), { create: true, clock: steppingClock(1_700_000_000_000, 10_000) });
    onCleanup(() => repo.close());
    await tune(repo, { contention: { windowMs: 25_000, intents: 3, authors: 9 } });
    const v1 = await put(repo, 'f', base);
    await write(repo, 'f', edit(0, 'first'), 'first', version(v1));
    for (let at = 1; at < 9; at++) await write(repo, 'f', edit(at, 'a'), 'a', version(v1));
    expect(eventsOf(repo, 'file.flagged')).toEqual([]);
  });
});

test.each([
  [{ contention: { windowMs: 1, intents: 33, authors: 1 } }],
  [{ oscillation: { versions: -1 } }],
  [{ megafile: { bytes: 1 } }],
  [{ pileOn: 'no' }],
  [{ strange: 1 }],
])('a policy of %j is refused by whoever writes it', async (policy) => {
  const repo = await tempRepo();
  const records = [{ key: 'mound/signals', expect: absent, value: JSON.stringify(policy) }];
  expect(await repo.land({ author: setup, message: 'm', records })).toMatchObject({ kind: 'rejected', code: 'invalid-intent' }); // prettier-ignore
});
