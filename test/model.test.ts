import { absent, any, openRepo, version, type Change, type Precondition, type Repo } from '@mound/vcs';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { scale, seed } from './kit/seed.ts';
import { setup, tempDir } from './kit/temp.ts';

/** What the store must hold: each branch's files after each seq, as plain maps. */
interface Version {
  readonly seq: number;
  readonly text: string | undefined;
}

class Model {
  seq = 0;
  /** Versions of each path on `main`, oldest first. */
  readonly versions = new Map<string, Version[]>();

  at(path: string, seq: number): Version {
    return this.versions.get(path)?.findLast((v) => v.seq <= seq) ?? { seq: 0, text: undefined };
  }

  holds(path: string, expected: Precondition): boolean {
    const head = this.at(path, this.seq);
    if (expected.kind === 'any') return true;
    if (expected.kind === 'absent') return head.text === undefined;
    return head.seq <= expected.seq || this.at(path, expected.seq).text === head.text;
  }

  write(changes: ReadonlyMap<string, string | undefined>): void {
    this.seq++;
    for (const [path, text] of changes) {
      this.versions.set(path, [...(this.versions.get(path) ?? []), { seq: this.seq, text }]);
    }
  }
}

const paths = ['a', 'b', 'dir/c', 'dir/d', 'e'];
const texts = ['', 'x\n', 'x\ny\n', 'longer text with several words\nand lines\n'.repeat(20)];

const path = fc.constantFrom(...paths);
const expected = fc.oneof(
  fc.constant<Precondition | 'head'>('head'),
  fc.constant<Precondition | 'head'>(absent),
  fc.constant<Precondition | 'head'>(any),
  fc.nat(12).map((seq): Precondition => version(seq)),
);
const write = fc.record({
  kind: fc.constant('write' as const),
  edits: fc.uniqueArray(fc.record({ path, text: fc.option(fc.constantFrom(...texts), { nil: undefined }), expected }), {
    minLength: 1,
    maxLength: 3,
    selector: (edit) => edit.path,
  }),
});
const step = fc.oneof(
  { weight: 8, arbitrary: write },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('reopen' as const) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('look' as const), back: fc.nat(20) }) },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

function look(repo: Repo, model: Model, seq: number): void {
  const snapshot = repo.snapshot(seq);
  const live = paths.filter((name) => model.at(name, seq).text !== undefined);
  expect(snapshot.list().map((head) => head.path as string)).toEqual(live.toSorted());
  for (const name of paths) {
    expect(snapshot.readText(name)).toBe(model.at(name, seq).text);
    if (live.includes(name)) expect(snapshot.head(name)?.version).toBe(model.at(name, seq).seq);
  }
}

async function take(repo: Repo, model: Model, { edits }: Step & { kind: 'write' }): Promise<void> {
  const changes = edits.map(({ path: name, text, expected: asked }): Change => {
    const isThere = model.at(name, model.seq).text !== undefined;
    const precondition = asked === 'head' ? (isThere ? version(model.seq) : absent) : asked;
    if (text === undefined) return { kind: 'delete', path: name, expect: precondition };
    return { kind: 'put', path: name, content: text, expect: precondition };
  });
  const outcome = await repo.land({ author: setup, message: 'm', onStale: 'reject', changes });
  const isToCome = changes.some(({ expect: e }) => e.kind === 'version' && e.seq > model.seq);
  const isWrong = changes.some(
    ({ kind, path: name, expect: e }) =>
      kind === 'put' && e.kind === 'version' && e.seq > 0 && model.at(name, e.seq).text === undefined,
  );
  if (isWrong && !isToCome) return expect(outcome).toMatchObject({ kind: 'rejected', code: 'no-such-path' });
  if (isToCome)
    return expect(outcome).toMatchObject({ kind: 'rejected', code: expect.stringMatching(/no-such-(version|path)/) });
  if (!changes.every((change) => model.holds(change.path, change.expect))) {
    return expect(outcome).toMatchObject({ kind: 'rejected', code: 'stale' });
  }
  const effective = new Map(
    edits.filter(({ path: name, text }) => model.at(name, model.seq).text !== text).map((e) => [e.path, e.text]),
  );
  if (effective.size === 0) return expect(outcome.kind).toBe('unchanged');
  model.write(effective);
  expect(outcome).toMatchObject({ kind: 'landed', seq: model.seq });
}

test('any sequence of intents leaves what a plain map would hold, at every seq, across restarts', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 40 }), async (steps) => {
      const dir = tempDir();
      let repo = await openRepo(dir, { create: true });
      try {
        const model = new Model();
        for (const taken of steps) {
          if (taken.kind === 'write') await take(repo, model, taken);
          else if (taken.kind === 'look') look(repo, model, Math.max(0, model.seq - taken.back));
          else {
            await repo.close();
            repo = await openRepo(dir);
          }
        }
        for (let seq = 0; seq <= model.seq; seq++) look(repo, model, seq);
        expect(repo.fsck()).toMatchObject({ ok: true, errors: [] });
      } finally {
        await repo.close();
      }
    }),
    { numRuns: 60 * scale, seed },
  );
});
