import { openRepo, seededRandom, steppingClock, type Outcome, type Repo, type RepoEvent } from '@mound/vcs';
import { indexFaults } from '../indexes.ts';
import { checkAnswer, checkCounter, checkEvents, checkOperations, checkSame, digestOf } from './checks.ts';
import { Follower } from './follower.ts';
import { drawCount, drawIntent, drawReplacement, drawResolution, type Operation } from './operation.ts';

const paths = ['a', 'b', 'c', 'src/d', 'src/e', 'src/f', 'g'];
const agentCount = 6;
const handleCount = 2;
const branchesMax = 3;
const act = { author: { name: 'owner', kind: 'human' }, reason: 'split' } as const;

interface Agent {
  branch: string;
  /** What it looks at; it looks anew only now and then. */
  seq: number;
}

/**
 * Several agents on one store in one process, and a scheduler that one seed
 * decides: who acts, on how old a view, through which of two handles, what is in
 * one batch, when a handle is closed and opened, which requests never arrive and
 * which answers get lost. What was lost is sent again under its operation id.
 */
export class World {
  readonly operations: Operation[] = [];
  private readonly dir: string;
  private readonly random: ReturnType<typeof seededRandom>;
  private readonly clock = steppingClock(1_700_000_000_000);
  private readonly handles: Repo[] = [];
  private readonly follower = new Follower();
  private readonly agents: Agent[] = Array.from({ length: agentCount }, () => ({ branch: 'main', seq: 0 }));
  private readonly branches = ['main'];
  private readonly frozen = new Set<string>();
  /** Operations whose agents do not know what became of them. */
  private unknown: Operation[] = [];
  private readonly snapshots = new Map<string, { branch: string; seq: number; digest: string }>();

  constructor(dir: string, seed: number) {
    this.dir = dir;
    this.random = seededRandom(seed);
  }

  /** Everything that happened, in order. */
  async run(waves: number): Promise<RepoEvent[]> {
    const ports = { clock: this.clock, random: this.random };
    for (let at = 0; at < handleCount; at++) this.handles.push(await openRepo(this.dir, { create: true, ...ports }));
    this.follower.start(this.mustGet(0));
    try {
      for (let wave = 0; wave < waves; wave++) await this.wave(wave);
      for (const operation of this.unknown.splice(0)) this.answered(operation, await operation.send(this.anyHandle()));
      return await this.checkEnd();
    } finally {
      await this.follower.pause();
      for (const repo of this.handles.splice(0)) await repo.close();
    }
  }

  private mustGet(at: number): Repo {
    const repo = this.handles[at];
    if (repo === undefined) throw new Error(`there is no handle ${at}`);
    return repo;
  }

  private readonly anyHandle = (): Repo => this.mustGet(this.random.below(this.handles.length));

  private pick<T>(values: readonly T[]): T {
    return values[this.random.below(values.length)] as T;
  }

  private async wave(wave: number): Promise<void> {
    const roll = this.random.below(14);
    if (roll === 0) await this.reopen();
    else if (roll === 1) await this.fork(wave);
    else if (roll === 2) await this.mergeBranch(wave);
    else if (roll === 3) await this.freezeOrThaw();
    else if (roll === 5) await this.remerge();
    else if (roll === 4) await this.anyHandle().tag(this.pick(['v1', 'v2']), this.random.below(this.newest() + 1));
    else {
      // Begun in one turn of the event loop: they meet in one batch a handle.
      const count = 1 + this.random.below(5);
      await Promise.all(Array.from({ length: count }, (_, at) => this.act(`w${wave}-${at}`)));
    }
    this.look();
  }

  private newest(): number {
    return this.mustGet(0).snapshot().seq;
  }

  private async act(id: string): Promise<void> {
    if (this.unknown.length > 0 && this.random.below(4) === 0) {
      const [operation] = this.unknown.splice(this.random.below(this.unknown.length), 1);
      if (operation !== undefined) return this.send(operation);
    }
    const operation = this.draw(id);
    if (operation === undefined) return;
    this.operations.push(operation);
    return this.send(operation);
  }

  private draw(id: string): Operation | undefined {
    const agent = this.pick(this.agents);
    const repo = this.anyHandle();
    if (this.random.below(3) > 0) agent.seq = this.newest();
    if (this.random.below(8) === 0) agent.branch = this.pick(this.branches);
    const roll = this.random.below(12);
    if (roll === 0) return drawCount(repo, agent, id);
    if (roll === 1) return this.drawOfConflict(repo, id);
    const operation = drawIntent(repo, this.random, paths, agent, id);
    return operation.edits.length > 0 ? operation : undefined;
  }

  private drawOfConflict(repo: Repo, id: string): Operation | undefined {
    const keptAs = (conflict: string): Operation | undefined =>
      this.operations.find(({ first }) => first?.kind === 'conflicted' && first.conflict === conflict);
    const isReplacement = this.random.below(3) === 0;
    const operation = isReplacement
      ? drawReplacement(repo, this.random, paths, id, keptAs)
      : drawResolution(repo, this.random, id, keptAs);
    // A branch that was merged back stays as it was merged.
    return operation && this.branches.includes(operation.branch) ? operation : undefined;
  }

  private async send(operation: Operation): Promise<void> {
    const fate = this.random.below(10);
    // The request is lost: nothing happens, and the agent cannot know that.
    if (fate === 0) return void this.unknown.push(operation);
    const outcome = await operation.send(this.anyHandle());
    this.answered(operation, outcome);
    // The answer is lost.
    if (fate === 1) this.unknown.push(operation);
  }

  private answered(operation: Operation, outcome: Outcome): void {
    checkAnswer(operation, outcome);
    if (outcome.kind !== 'rejected') operation.first = outcome;
  }

  private async reopen(at = this.random.below(this.handles.length)): Promise<void> {
    if (at === 0) await this.follower.pause();
    await this.mustGet(at).close();
    this.handles[at] = await openRepo(this.dir, { clock: this.clock, random: this.random });
    if (at === 0) this.follower.start(this.mustGet(0));
  }

  private async fork(wave: number): Promise<void> {
    if (this.branches.length > branchesMax) return;
    const name = `side-${wave}`;
    await this.anyHandle().fork(name, { from: this.pick(this.branches) });
    this.branches.push(name);
  }

  /** The branch is left alone from now on, so that sent again the merge is the same. */
  private async mergeBranch(wave: number): Promise<void> {
    // A conflict may be about to end by itself on it.
    for (let at = 0; at < this.handles.length; at++) await this.reopen(at);
    const [branch] = this.branches.splice(1 + this.random.below(this.branches.length - 1), 1);
    if (branch === undefined) return;
    for (const agent of this.agents) if (agent.branch === branch) agent.branch = 'main';
    this.unknown = this.unknown.filter((operation) => operation.branch !== branch || operation.first !== undefined);
    const into = this.mustGet(0).branch(branch).parent ?? 'main';
    if (!this.branches.includes(into)) return;
    const id = `w${wave}-merge`;
    const isOfBranch = ({ branch: on }: Operation): boolean => on === branch;
    const removed = this.operations.filter(isOfBranch).flatMap(({ edits }) => edits);
    const operation: Operation = {
      id,
      branch: into,
      // Nothing goes but what went on the branch; what it brings has its own landings there.
      edits: removed.map((edit) => ({ ...edit, added: [] })),
      isForced: this.operations.some((other) => isOfBranch(other) && other.isForced),
      agent: act.author.name,
      counts: false,
      send: (repo) => repo.merge(branch, { author: act.author, operationId: id }),
    };
    this.operations.push(operation);
    await this.send(operation);
  }

  /** Whoever lands what a conflict keeps lands it as it was asked. */
  private async remerge(): Promise<void> {
    const open = this.anyHandle()
      .conflicts()
      .filter(({ branch }) => this.branches.includes(branch));
    if (open.length === 0) return;
    const { id, isMergeable } = this.pick(open);
    const outcome = await this.anyHandle().remerge(id);
    const isKept = outcome.kind === 'conflicted' || outcome.kind === 'rejected';
    checkSame(!isKept, isMergeable && outcome.kind !== 'rejected', `${id} lands where it is said to merge`);
    if (outcome.kind === 'conflicted') checkSame(outcome.conflict, id, 'it stays the conflict that it is');
  }

  private async freezeOrThaw(): Promise<void> {
    const path = this.frozen.size > 1 ? this.pick([...this.frozen]) : this.pick(paths);
    // Both decide again what was parked.
    if (this.frozen.delete(path)) await Promise.all(this.handles.map((repo) => repo.thaw(path, act)));
    else {
      this.frozen.add(path);
      await this.anyHandle().freeze(path, act);
    }
  }

  /** Remembers a snapshot, and reads an old one again. */
  private look(): void {
    const seq = this.random.below(this.newest() + 1);
    const branch = this.pick(this.branches);
    const digest = digestOf(this.anyHandle(), branch, seq);
    const key = `${branch}@${seq}`;
    const known = this.snapshots.get(key);
    if (known !== undefined) checkSame(digest, known.digest, `snapshot ${key} never changes`);
    this.snapshots.set(key, { branch, seq, digest });
  }

  private async checkEnd(): Promise<RepoEvent[]> {
    for (const { branch, seq, digest } of this.snapshots.values()) {
      checkSame(digestOf(this.anyHandle(), branch, seq), digest, `snapshot ${branch}@${seq} never changes`);
    }
    const lists = this.handles.map((repo) => checkEvents(repo, this.random));
    const [events = [], ...others] = lists;
    for (const other of others) checkSame(other, events, 'both handles give the same events');
    await this.follower.caughtUp(events.length);
    checkSame(this.follower.seen, events, 'a follower saw every event');
    for (const repo of this.handles) {
      checkOperations(repo, this.operations, events);
      checkCounter(repo, this.operations);
      checkSame(repo.fsck().errors, [], 'fsck finds nothing');
    }
    checkSame(await indexFaults(this.dir), [], 'every index is what the log says');
    return events;
  }
}
