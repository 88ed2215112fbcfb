import {
  absent,
  any,
  isMoundError,
  ruleRecord,
  signalsRecord,
  version,
  type Change,
  type ConflictView,
  type Outcome,
  type Repo,
  type seededRandom,
} from '@mound/vcs';
import { agent } from './temp.ts';

type Random = ReturnType<typeof seededRandom>;

const paths = ['a', 'b', 'src/c', 'src/d', 'src/deep/e', 'f', 'ä/ß'];
const recordKeys = ['task/1', 'task/2', 'lease/x'];
const branchMax = 4;
/** Beyond the store's bound for what stands inside an entry. */
const largeBytes = 40_000;

const plain = Array.from({ length: 24 }, (_, line) => `line ${line}\n`);

/**
 * Drives a repo through a random history that meets every kind of entry: edits
 * of stale versions, moves, records, freezes with parked intents, branches and
 * their merges, resolutions, tags, forced writes, repeated operation ids, large
 * contents. The same seed on an empty repo makes the same history.
 */
export class RandomHistory {
  readonly outcomes = new Map<Outcome['kind'], number>();
  private readonly repo: Repo;
  private readonly random: Random;
  private readonly branches = ['main'];
  private readonly frozen = new Set<string>();
  private count = 0;

  constructor(repo: Repo, random: Random) {
    this.repo = repo;
    this.random = random;
  }

  async run(steps: number): Promise<void> {
    await this.tune();
    for (let step = 0; step < steps; step++) await this.step();
  }

  private pick<T>(values: readonly T[]): T {
    return values[this.random.below(values.length)] as T;
  }

  private note(outcome: Outcome): void {
    this.outcomes.set(outcome.kind, (this.outcomes.get(outcome.kind) ?? 0) + 1);
  }

  /** Edits one or two lines of what stood at a seq, so that stale edits sometimes merge and sometimes do not. */
  private edited(path: string, branch: string, seq: number): string | Buffer {
    if (this.random.below(20) === 0) return Buffer.from(this.random.bytes(largeBytes));
    const lines = (this.repo.snapshot(seq, branch).readText(path) ?? plain.join('')).split(/(?<=\n)/);
    const cited = this.count % 7 === 0 ? ` @decision D-${this.count % 3}` : '';
    lines[this.random.below(lines.length)] = `edit ${this.count}${cited}\n`;
    return lines.join('');
  }

  private change(path: string, branch: string, seq: number): Change {
    const head = this.repo.snapshot(seq, branch).head(path);
    const forced = this.random.below(12) === 0;
    const expect = forced ? any : head ? version(head.version) : absent;
    const roll = this.random.below(12);
    if (head && roll === 0) return { kind: 'delete', path, expect };
    if (head && roll === 1) return { kind: 'chmod', path, mode: this.pick(['file', 'executable']), expect };
    const to = this.pick(paths);
    if (head && roll === 2 && to !== path) return { kind: 'move', path, to, expect };
    return { kind: 'put', path, content: this.edited(path, branch, seq), expect };
  }

  private async edit(): Promise<void> {
    const branch = this.pick(this.branches);
    const newest = this.repo.snapshot(undefined, branch).seq;
    const seq = Math.max(this.repo.branch(branch).forkSeq, newest - this.random.below(8));
    const first = this.pick(paths);
    const second = this.pick(paths);
    const changes = [this.change(first, branch, seq)];
    if (second !== first && this.random.below(4) === 0 && changes[0]?.kind !== 'move') {
      const also = this.change(second, branch, seq);
      if (also.kind !== 'move') changes.push(also);
    }
    const key = this.pick(recordKeys);
    const record = this.repo.snapshot().record(key);
    const expect = record ? version(record.version) : absent;
    const value = this.random.below(4) === 0 ? null : `${this.count}`;
    const intent = {
      branch,
      author: agent(`agent-${this.random.below(5)}`),
      message: `edit ${this.count}`,
      ...(this.count % 9 === 0 && { breakage: `why ${this.count}` }),
      changes: this.random.below(10) === 0 ? [] : changes,
      records: this.random.below(4) === 0 ? [{ key, expect, value }] : [],
      ...(this.random.below(2) === 0 && { operationId: `op-${this.count}` }),
    };
    if (intent.changes.length + intent.records.length === 0) return;
    this.note(await this.repo.land(intent));
    if (this.random.below(4) === 0 && 'operationId' in intent) this.note(await this.repo.land(intent));
  }

  private async resolve(): Promise<void> {
    const [conflict] = this.repo.conflicts();
    if (conflict === undefined) return;
    if (this.random.below(3) === 0) return this.note(await this.repo.remerge(conflict.id));
    if (this.random.below(3) === 0) return this.replace(conflict);
    const results = conflict.paths.map(({ path, incoming }) => ({ path, content: incoming.content ?? null }));
    this.note(
      await this.repo.resolve(conflict.id, {
        author: agent('merger'),
        results,
        otherwise: { fate: 'discarded', reason: 'incoming was asked for', because: { kind: 'decision', id: 'D-1' } },
        asOf: conflict.asOf,
      }),
    );
  }

  private async replace({ id, author, branch, asOf }: ConflictView): Promise<void> {
    const changes = [this.change(this.pick(paths), branch, Math.max(1, asOf - this.random.below(8)))];
    const operation = this.random.below(2) === 0 && { operationId: `again-${this.count}` };
    this.note(await this.repo.land({ branch, author, message: 'again', changes, replaces: id, ...operation }));
  }

  private async freezeOrThaw(): Promise<void> {
    const path = this.pick(paths);
    const act = { author: agent('owner'), reason: 'split' };
    if (this.frozen.delete(path))
      for (const { outcome } of (await this.repo.thaw(path, act)).parked) this.note(outcome);
    else {
      this.frozen.add(path);
      const roll = this.random.below(3);
      await this.repo.freeze(path, {
        ...act,
        ...(roll > 0 && { owner: 'splitter' }),
        ...(roll === 2 && { ms: 30_000 }),
      });
    }
  }

  /** Two modules and what remains, of the file as it stood a little earlier. */
  private async split(): Promise<void> {
    const path = this.pick(paths);
    const newest = this.repo.snapshot();
    const seq = Math.max(0, newest.seq - this.random.below(4));
    const text = this.repo.snapshot(seq).read(path);
    const head = newest.head(path);
    if (text === undefined || head === undefined || text.includes(0)) return;
    const lines = text.toString('utf8').split(/(?<=\n)/);
    const third = Math.floor(lines.length / 3);
    if (third === 0) return;
    const modules = [1, 2].map((part) => ({
      path: `split/${this.count}-${part}`,
      content: lines.slice(part * third, part === 2 ? undefined : 2 * third).join(''),
    }));
    const options = { author: agent('splitter'), modules, remains: lines.slice(0, third).join(''), expect: seq };
    try {
      const { outcome, parked } = await this.repo.split(path, { ...options, operationId: `split-${this.count}` });
      this.note(outcome);
      for (const each of parked) this.note(each.outcome);
    } catch (error) {
      if (!isMoundError(error, 'invalid-argument')) throw error;
    }
  }

  private async branch(): Promise<void> {
    if (this.branches.length < branchMax) {
      const name = `side-${this.count}`;
      const from = this.pick(this.branches);
      const forkSeq = this.repo.branch(from).forkSeq;
      const newest = this.repo.stats().seq;
      const at = forkSeq + this.random.below(newest - forkSeq + 1);
      await this.repo.fork(name, { from, ...(this.random.below(2) === 0 && { at }) });
      this.branches.push(name);
      return;
    }
    const name = this.branches.splice(1 + this.random.below(this.branches.length - 1), 1)[0] ?? '';
    this.note(await this.repo.merge(name, { author: agent('merger') }));
  }

  /** Such that a short history raises flags; and a rule that most intents keep. */
  private async tune(): Promise<void> {
    const contention = { windowMs: 3_600_000, intents: 3, authors: 3 };
    const rule = { kind: 'line-budget', paths: ['src/deep'], linesMax: 25 } as const;
    const records = [signalsRecord({ contention, flagAgainMs: 0 }, any), ruleRecord('deep', rule, any)];
    this.note(await this.repo.land({ author: agent('owner'), message: 'tune', records }));
  }

  private async step(): Promise<void> {
    this.count++;
    const roll = this.random.below(40);
    if (roll < 26) return this.edit();
    if (roll < 28) return this.split();
    if (roll < 31) return this.resolve();
    if (roll < 34) return this.freezeOrThaw();
    if (roll < 36) return this.branch();
    if (roll < 37) await this.repo.tag(this.pick(['v1', 'v2']), this.random.below(this.repo.stats().seq + 1));
    else if (roll < 38) await this.repo.flag(this.pick(paths), { author: agent('owner'), reason: 'large' });
    else this.note(await this.unchanged());
  }

  /** What is there already, said again: an outcome without an entry. */
  private async unchanged(): Promise<Outcome> {
    const path = this.pick(paths);
    const content = this.repo.snapshot().read(path);
    const author = agent('echo');
    const expect = this.repo.snapshot().head(path) ? any : absent;
    return this.repo.put(path, content ?? 'new\n', { author, expect, operationId: `echo-${this.count}` });
  }
}
