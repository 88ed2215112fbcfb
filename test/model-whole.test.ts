import {
  absent,
  any,
  openRepo,
  version,
  type Change,
  type Intent,
  type Outcome,
  type Precondition,
  type Repo,
} from '@mound/vcs';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Model, type Verdict } from './kit/model/model.ts';
import { scale, seed } from './kit/seed.ts';
import { agent, setup, tempDir } from './kit/temp.ts';

const paths = ['a', 'b', 'dir/c', 'dir/d'];
const keys = ['k/1', 'k/2'];
const path = fc.constantFrom(...paths);
const asked = fc.oneof(
  { weight: 6, arbitrary: fc.constant<Precondition | 'head'>('head') },
  { weight: 1, arbitrary: fc.constant<Precondition | 'head'>(absent) },
  { weight: 2, arbitrary: fc.constant<Precondition | 'head'>(any) },
  { weight: 2, arbitrary: fc.nat(40).map((seq): Precondition => version(seq)) },
);
const edit = fc.record({
  kind: fc.constantFrom('put', 'put', 'put', 'delete', 'chmod', 'move'),
  path,
  to: path,
  text: fc.constantFrom('', 'x\n', 'y\nz\n', 'long '.repeat(3000)),
  mode: fc.constantFrom(undefined, 'file' as const, 'executable' as const),
  asked,
  askedTo: asked,
});
const write = fc.record({
  kind: fc.constant('write' as const),
  branch: fc.nat(3),
  edits: fc.uniqueArray(edit, { maxLength: 3, selector: (one) => one.path }),
  records: fc.uniqueArray(fc.record({ key: fc.constantFrom(...keys), asked, isDelete: fc.boolean() }), {
    maxLength: 1,
    selector: (record) => record.key,
  }),
  hasId: fc.boolean(),
});
const kind = <K extends string>(name: K) => fc.constant(name);
const step = fc.oneof(
  { weight: 12, arbitrary: write },
  { weight: 2, arbitrary: fc.record({ kind: kind('repeat'), at: fc.nat(30), isOther: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ kind: kind('fork'), from: fc.nat(3), back: fc.nat(12) }) },
  { weight: 2, arbitrary: fc.record({ kind: kind('merge'), branch: fc.nat(3) }) },
  {
    weight: 3,
    arbitrary: fc.record({ kind: kind('freeze'), path, branch: fc.nat(3), isOwned: fc.boolean(), ends: fc.boolean() }),
  },
  { weight: 1, arbitrary: fc.record({ kind: kind('wait') }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: kind('split'),
      path,
      branch: fc.nat(3),
      isOwner: fc.boolean(),
      isWhole: fc.boolean(),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: kind('thaw'), path, branch: fc.nat(3) }) },
  { weight: 1, arbitrary: fc.record({ kind: kind('tag'), name: fc.constantFrom('v1', 'v2'), back: fc.nat(9) }) },
  { weight: 2, arbitrary: fc.record({ kind: kind('look'), branch: fc.nat(3), back: fc.nat(20) }) },
  { weight: 1, arbitrary: fc.record({ kind: kind('reopen') }) },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;
type Of<K extends Step['kind']> = Step & { readonly kind: K };

const act = { author: setup, reason: 'r' };
/** Longer than a test runs: timers wait in real time. */
const freezeMs = 1_000_000;

const kindAndCode = (outcome: Outcome): object =>
  outcome.kind === 'rejected' ? { kind: outcome.kind, code: outcome.code } : { kind: outcome.kind };

function same(found: unknown, expected: unknown): void {
  expect(found).toEqual(expected);
}

function matches(found: unknown, expected: object): void {
  expect(found).toMatchObject(expected);
}

async function rejects(call: Promise<unknown>, expected: object): Promise<void> {
  await expect(call).rejects.toMatchObject(expected);
}

/** Takes steps in the store and in the model, and compares what comes of them. */
class Twins {
  readonly model = new Model();
  repo: Repo;
  private readonly dir: string;
  private readonly clock: { time: number; now(): number };
  private readonly modules: string[] = [];
  /** Intents with an operation id and what they came to first. */
  private readonly sent: { readonly intent: Intent; readonly first: Outcome }[] = [];

  private constructor(dir: string, repo: Repo, clock: Twins['clock']) {
    this.dir = dir;
    this.repo = repo;
    this.clock = clock;
  }

  static async make(dir: string): Promise<Twins> {
    const clock = { time: 1_700_000_000_000, now: () => clock.time };
    return new Twins(dir, await openRepo(dir, { create: true, clock }), clock);
  }

  private branch(at: number): string {
    const names = [...this.model.branches.keys()];
    return names[at % names.length] ?? 'main';
  }

  async take(taken: Step): Promise<void> {
    switch (taken.kind) {
      case 'write':
        return this.write(taken);
      case 'repeat':
        return this.repeat(taken);
      case 'fork':
        return this.fork(taken);
      case 'merge':
        return this.merge(this.branch(taken.branch));
      case 'freeze':
        return this.freeze(taken);
      case 'split':
        return this.split(taken);
      case 'wait':
        this.clock.time += 2 * freezeMs;
        await this.repo.unpark();
        this.model.expire(this.clock.time);
        this.decideParked();
        return matches(this.repo.stats(), { seq: this.model.seq, parkedOpen: this.model.parked.length });
      case 'thaw':
        return this.thaw(taken.path, this.branch(taken.branch));
      case 'tag': {
        const at = Math.max(0, this.model.seq - taken.back);
        await this.repo.tag(taken.name, at);
        this.model.tags.set(taken.name, at);
        this.model.seq++;
        return;
      }
      case 'look':
        return this.look(this.branch(taken.branch), Math.max(0, this.model.seq - taken.back));
      case 'reopen':
        await this.repo.close();
        this.repo = await openRepo(this.dir, { clock: this.clock });
        // Whoever opens decides again what is parked.
        this.decideParked();
    }
  }

  private intentOf({ branch: at, edits, records, hasId }: Of<'write'>): Intent {
    const branch = this.branch(at);
    const { model } = this;
    const seen = (name: string, wanted: Precondition | 'head'): Precondition => {
      if (wanted !== 'head') return wanted;
      return model.at(branch, name, model.seq).value === undefined ? absent : version(model.seq);
    };
    const changes: Change[] = [];
    const touched = new Set<string>();
    for (const { kind: what, path: name, to, text, mode, asked: wanted, askedTo } of edits) {
      const isMove = what === 'move' && to !== name;
      if (touched.has(name) || (isMove && touched.has(to))) continue;
      touched.add(name);
      const expected = seen(name, wanted);
      if (isMove) {
        touched.add(to);
        changes.push({ kind: 'move', path: name, to, expect: expected, expectTo: seen(to, askedTo) });
      } else if (what === 'delete') changes.push({ kind: 'delete', path: name, expect: expected });
      else if (what === 'chmod') changes.push({ kind: 'chmod', path: name, mode: mode ?? 'file', expect: expected });
      else changes.push({ kind: 'put', path: name, content: text, expect: expected, ...(mode && { mode }) });
    }
    const writes = records.map(({ key, asked: wanted, isDelete }) => {
      const isThere = model.recordAt(key, model.seq).value !== undefined;
      const expected = wanted === 'head' ? (isThere ? version(model.seq) : absent) : wanted;
      return { key, expect: expected, value: isDelete ? null : `value ${model.seq}` };
    });
    const id = hasId ? { operationId: `op-${this.sent.length}` } : {};
    return { branch, author: agent('x'), message: 'm', onStale: 'reject', changes, records: writes, ...id };
  }

  private async write(taken: Of<'write'>): Promise<void> {
    const intent = this.intentOf(taken);
    if ((intent.changes?.length ?? 0) + (intent.records?.length ?? 0) === 0) return;
    const outcome = await this.repo.land(intent);
    this.compare(intent, outcome);
    if (intent.operationId !== undefined && outcome.kind !== 'rejected') this.sent.push({ intent, first: outcome });
  }

  /** The model decides, and must come to what the store came to. */
  private compare(intent: Intent, outcome: Outcome): void {
    const verdict = this.model.decide(intent);
    if (verdict.kind === 'rejected') return matches(outcome, verdict);
    same(outcome.kind, verdict.kind);
    if (verdict.kind === 'landed') this.model.land(intent, verdict.edits);
    if (verdict.kind === 'parked') {
      this.model.seq++;
      this.model.parked.push({ intent, paths: verdict.paths });
    }
    if (verdict.kind !== 'unchanged') matches(outcome, { seq: this.model.seq });
  }

  private async repeat({ at, isOther }: Of<'repeat'>): Promise<void> {
    const known = this.sent[at % Math.max(1, this.sent.length)];
    if (known === undefined) return;
    if (!isOther) return same(await this.repo.land(known.intent), known.first);
    const other = { ...known.intent, message: 'another' };
    await rejects(this.repo.land(other), { code: 'operation-mismatch' });
  }

  private async fork({ from, back }: Of<'fork'>): Promise<void> {
    if (this.model.branches.size > 3) return;
    const name = `side-${this.model.branches.size}`;
    const at = Math.max(0, this.model.seq - back);
    await this.repo.fork(name, { from: this.branch(from), at });
    this.model.fork(name, this.branch(from), at);
  }

  /** Where the model can say what comes of it: nothing is stale, nothing is frozen. */
  private async merge(name: string): Promise<void> {
    if (name === 'main') return;
    const intent = this.model.mergeOf(name);
    const { kind: comes } = this.model.decide(intent);
    if (comes === 'landed' || comes === 'rejected')
      this.compare(intent, await this.repo.merge(name, { author: setup }));
  }

  private async freeze({ path: name, branch: at, isOwned, ends }: Of<'freeze'>): Promise<void> {
    const branch = this.branch(at);
    const owner = isOwned ? 'x' : undefined;
    const hasEnd = ends || isOwned;
    await this.repo.freeze(name, { ...act, branch, ...(owner && { owner }), ...(hasEnd && { ms: freezeMs }) });
    this.model.seq++;
    this.model.frozen.set(`${branch} ${name}`, { owner, until: hasEnd ? this.clock.time + freezeMs : Infinity });
  }

  /** The last line goes to a module, or all lines do. */
  private async split({ path: name, branch: at, isOwner, isWhole }: Of<'split'>): Promise<void> {
    const { model } = this;
    const branch = this.branch(at);
    const file = model.at(branch, name, model.seq).value;
    if (file === undefined || file.text === '') return;
    const lines = file.text.split(/(?<=\n)/);
    const rest = isWhole ? [] : lines.slice(0, -1);
    const module = { path: `m/${model.seq}`, content: lines.slice(rest.length).join('') };
    const remains = rest.length === 0 ? null : rest.join('');
    const expected = version(model.seq);
    const intent: Intent = {
      branch,
      author: isOwner ? agent('x') : setup,
      message: 'm',
      onStale: 'reject',
      changes: [
        { kind: 'put', ...module, mode: file.mode as 'file', expect: absent },
        remains === null
          ? { kind: 'delete', path: name, expect: expected }
          : { kind: 'put', path: name, content: remains, expect: expected },
      ],
    };
    const verdict = model.decide(intent, name);
    const { outcome, parked } = await this.repo.split(name, {
      author: intent.author,
      branch,
      modules: [module],
      remains,
    });
    if (verdict.kind === 'parked') return matches(outcome, { kind: 'rejected', code: 'frozen' });
    same(verdict.kind, 'landed');
    if (verdict.kind === 'landed') model.land(intent, verdict.edits);
    matches(outcome, { kind: 'landed', seq: model.seq });
    model.split(branch, name);
    this.modules.push(module.path);
    matches(
      this.decideParked(),
      parked.map((each) => kindAndCode(each.outcome)),
    );
  }

  private async thaw(name: string, branch: string): Promise<void> {
    const { parked } = await this.repo.thaw(name, { ...act, branch });
    this.model.seq++;
    this.model.frozen.delete(`${branch} ${name}`);
    matches(
      this.decideParked(),
      parked.map(({ outcome }) => kindAndCode(outcome)),
    );
  }

  /** Verdicts on the parked intents that do not go on waiting. */
  private decideParked(): Verdict[] {
    const waiting = this.model.parked;
    this.model.parked = [];
    return waiting.flatMap((one) => {
      const { intent, paths: frozen } = one;
      // Until all that parked it is over, whatever else came to pass.
      const waits = frozen.some((name) => this.model.frozen.has(`${intent.branch ?? 'main'} ${name}`));
      const verdict = this.model.decide(intent);
      if (waits || verdict.kind === 'parked') {
        this.model.parked.push(one);
        return [];
      }
      // Whatever ends it takes a seq.
      if (verdict.kind === 'landed') this.model.land(intent, verdict.edits);
      else this.model.seq++;
      return [verdict];
    });
  }

  look(branch: string, seq: number): void {
    const snapshot = this.repo.snapshot(seq, branch);
    const found = snapshot.list().map((head) => [head.path, head.version, head.mode, snapshot.readText(head.path)]);
    const expected = [...paths, ...this.modules.toSorted()].flatMap((name) => {
      const { seq: at, value } = this.model.at(branch, name, seq);
      return value === undefined ? [] : [[name, at, value.mode, value.text]];
    });
    same(found, expected);
    for (const key of keys) {
      const { seq: at, value } = this.model.recordAt(key, seq);
      const record = snapshot.record(key);
      same(record && [record.version, record.value.toString('utf8')], value === undefined ? undefined : [at, value]);
    }
  }

  lookAtAll(): void {
    for (const branch of this.model.branches.keys()) {
      for (let seq = 0; seq <= this.model.seq; seq++) this.look(branch, seq);
      for (const name of paths) {
        const splits = this.repo.redirects(name, { branch }).map(({ seq }) => seq as number);
        same(splits, this.model.splitsOf(branch, name, this.model.seq));
      }
    }
    same(
      this.repo.tags(),
      [...this.model.tags].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([name, seq]) => ({ name, seq })),
    );
    matches(this.repo.stats(), { seq: this.model.seq, parkedOpen: this.model.parked.length });
  }
}

test('moves, modes, records, branches, freezes, splits, tags and repeats leave what plain maps would hold, at every seq', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 40, size: 'max' }), async (steps) => {
      const dir = tempDir();
      const twins = await Twins.make(dir);
      try {
        for (const taken of steps) await twins.take(taken);
        twins.lookAtAll();
        expect(twins.repo.fsck()).toMatchObject({ ok: true, errors: [] });
      } finally {
        await twins.repo.close();
      }
    }),
    { numRuns: 40 * scale, seed, endOnFailure: true },
  );
});
