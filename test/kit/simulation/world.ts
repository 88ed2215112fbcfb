import { openRepo, seededRandom, steppingClock, type Outcome, type Repo, type RepoEvent } from '@mound/vcs';
import { indexFaults } from '../indexes.ts';
import { checkAnswer, checkCounter, checkEvents, checkOperations, checkSame, digestOf } from './checks.ts';
import { Follower } from './follower.ts';
import { drawDeletion, drawMoveBehind } from './mishap.ts';
import { drawSplit, splitter } from './split.ts';
import { drawCount, drawIntent, drawReplacement, drawResolution, type Operation } from './operation.ts';

const paths = ['a', 'b', 'c', 'src/d', 'src/e', 'src/f', 'g'];
const agentCount = 6;
const handleCount = 2;
const branchesMax = 3;
const act = { author: { name: 'owner', kind: 'agent' }, reason: 'split' } as const;
/** Of the newest splits: those that agents go on editing. */
const modulesMax = 4;
/** Longer than a test runs: timers wait in real time, and only the seed may decide. */
const freezeMs = 1_000_000_000;

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
  private readonly ticks = steppingClock(1_700_000_000_000);
  /** Milliseconds that went by beside. */
  private passedMs = 0;
  private readonly clock = { now: (): number => this.ticks.now() + this.passedMs };
  private readonly handles: Repo[] = [];
  private readonly follower = new Follower();
  private readonly agents: Agent[] = Array.from({ length: agentCount }, () => ({ branch: 'main', seq: 0 }));
  private readonly branches = ['main'];
  private modules: readonly string[] = [];
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
    const roll = this.random.below(17);
    if (roll === 0) await this.reopen();
    else if (roll === 1) await this.fork(wave);
    else if (roll === 2) await this.mergeBranch(wave);
    else if (roll === 3) await this.freezeOrThaw();
    else if (roll === 5) await this.remerge();
    else if (roll === 6) await this.letFreezesEnd();
    else if (roll === 7) await this.moveBehind(`w${wave}`);
    else if (roll === 8) await this.trip(wave);
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

  /** Somebody moves a file to another one's place and does not know what became of the two. */
  private async moveBehind(id: string): Promise<void> {
    const place = { branch: this.pick(this.branches), seq: this.newest() };
    for (const operation of drawMoveBehind(this.anyHandle(), this.random, this.paths, place, id)) {
      this.operations.push(operation);
      await this.send(operation);
    }
  }

  /** A short-lived branch that takes files away. */
  private async trip(wave: number): Promise<void> {
    const name = `trip-${wave}`;
    const from = this.pick(this.branches);
    await this.anyHandle().fork(name, { from });
    const deletion = drawDeletion(this.anyHandle(), this.random, { branch: name, seq: this.newest() }, `w${wave}`);
    if (deletion !== undefined) {
      this.operations.push(deletion);
      await this.send(deletion);
    }
    await this.mergeBack(name, `w${wave}-back`);
  }

  private draw(id: string): Operation | undefined {
    const agent = this.pick(this.agents);
    const repo = this.anyHandle();
    if (this.random.below(2) === 0) agent.seq = this.newest();
    if (this.random.below(4) === 0) agent.branch = this.pick(this.branches);
    const roll = this.random.below(13);
    if (roll === 0) return drawCount(repo, agent, id);
    if (roll === 1) return this.drawOfConflict(repo, id);
    if (roll === 2) return drawSplit(repo, this.random, this.paths, agent, id);
    const operation = drawIntent(repo, this.random, this.paths, agent, id);
    return operation.edits.length > 0 ? operation : undefined;
  }

  private get paths(): readonly string[] {
    return [...paths, ...this.modules];
  }

  private drawOfConflict(repo: Repo, id: string): Operation | undefined {
    const keptAs = (conflict: string): Operation | undefined =>
      this.operations.find(({ first }) => first?.kind === 'conflicted' && first.conflict === conflict);
    const isReplacement = this.random.below(3) === 0;
    const operation = isReplacement
      ? drawReplacement(repo, this.random, this.paths, id, keptAs)
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
    if (outcome.kind === 'rejected') return;
    operation.first = outcome;
    const made = operation.agent === splitter ? operation.edits.slice(1).map(({ path }) => path) : [];
    this.modules = [...new Set([...made, ...this.modules])].slice(0, modulesMax);
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
    await this.mergeBack(branch, `w${wave}-merge`);
  }

  private async mergeBack(branch: string, id: string): Promise<void> {
    this.unknown = this.unknown.filter((operation) => operation.branch !== branch || operation.first !== undefined);
    const { parent: into = 'main', forkSeq } = this.mustGet(0).branch(branch);
    if (!this.branches.includes(into)) return;
    const isOfBranch = ({ branch: on }: Operation): boolean => on === branch;
    const now = this.mustGet(0).snapshot(undefined, branch);
    const atFork = this.mustGet(0).snapshot(forkSeq, into).list();
    const removed = this.operations.filter(isOfBranch).flatMap(({ edits }) => edits);
    const operation: Operation = {
      id,
      branch: into,
      // Nothing goes but what went on the branch; what it brings has its own landings there.
      edits: removed.map((edit) => ({ ...edit, added: [] })),
      isForced: this.operations.some((other) => isOfBranch(other) && other.isForced),
      drops: atFork.map(({ path }) => path).filter((path) => now.head(path) === undefined),
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
    const frozen = this.anyHandle().freezes();
    if (frozen.length > 1) return this.thaw(this.pick(frozen).path);
    const path = this.pick(this.paths);
    if (frozen.some((freeze) => freeze.path === path)) return this.thaw(path);
    const owned = this.random.below(3) === 0 ? { owner: splitter, ms: freezeMs } : {};
    const bounds = this.random.below(3) === 0 ? { ms: freezeMs } : owned;
    await this.anyHandle().freeze(path, { ...act, ...bounds });
  }

  /** All handles at once: each decides again what was parked. */
  private async thaw(path: string): Promise<void> {
    await Promise.all(this.handles.map((repo) => repo.thaw(path, act)));
  }

  /** Time goes by; whoever comes by then ends what is over. */
  private async letFreezesEnd(): Promise<void> {
    this.passedMs += freezeMs;
    await Promise.all(this.handles.map((repo) => repo.unpark()));
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
    for (const { path } of this.anyHandle().freezes()) await this.thaw(path);
    checkSame(this.anyHandle().stats().parkedOpen, 0, 'nothing waits where nothing is frozen');
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
