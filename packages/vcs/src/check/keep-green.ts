import { isMoundError } from '../core/errors.ts';
import type { Author, RecordWrite } from '../core/intent.ts';
import { systemClock, type Clock } from '../core/ports.ts';
import type { FileState } from '../merge/index.ts';
import type { Repo } from '../repo/api.ts';
import {
  checkRecord,
  culpritRecord,
  greenTag,
  readGreen,
  type CulpritAction,
  type CulpritView,
  type HeadVerdict,
} from './check-records.ts';
import { firstBad } from './first-bad.ts';
import type { CheckEnd, CheckRunner, CheckVerdict } from './run-check.ts';
import { trySnapshot, withoutCommits } from './try-snapshot.ts';

/** `tell`: of the culprit only. `revert`: take it back. `quarantine`: the same, and keep it whole on a branch of its own. */
export type GreenPolicy = 'tell' | 'revert' | 'quarantine';

export interface GreenOptions {
  /** Default `main`. */
  readonly branch?: string;
  /** Program and arguments; exit code 0: good, 125: cannot be tried, 1 to 127: bad. */
  readonly command: readonly string[];
  /** Default `tell`. */
  readonly policy?: GreenPolicy;
  /** A seq at which it passes, where none is known yet. */
  readonly good?: number;
  /** It has to fail so often in a row before it counts as failed, so that one which fails now and then blames nobody. Default 2. */
  readonly runs?: number;
  /** Of one run of the command. Default 600. */
  readonly seconds?: number;
  /** Of the whole search; what is not found by then is told. Default 3,600. */
  readonly secondsMax?: number;
  /** Culprits that are looked for in one go. Default 3. */
  readonly culpritsMax?: number;
  /** Who writes what comes of it. Default: `mound green`. */
  readonly author?: Author;
  /** Where the directories of the tries are made. Default: the system's place for temporary files. */
  readonly directory?: string;
  /** Runs the command, in a directory with the snapshot's files. Default: with what this process may do. */
  readonly runner?: CheckRunner;
  /** Lands with the record of a culprit, in the same intent. */
  readonly recordsOf?: (culprit: CulpritView) => readonly RecordWrite[];
  /** Told of each culprit, once it stands in the records. */
  readonly onCulprit?: (culprit: CulpritView) => void;
  readonly signal?: AbortSignal;
  readonly clock?: Clock;
  readonly onOutput?: (piece: Buffer) => void;
  readonly onTried?: (seq: number, end: CheckEnd) => void;
  /** Told of each check of the branch's head. */
  readonly onChecked?: (seq: number, verdict: HeadVerdict, ms: number) => void;
}

export interface GreenReport {
  /** `flaky`: it failed and then passed, on the same files. `unknown`: it fails, and no seq is known at which it passes. */
  readonly kind: 'green' | 'flaky' | 'red' | 'unknown' | 'skipped';
  /** Newest seq at which it is known to pass. */
  readonly green: number | undefined;
  /** Landing that was checked last. */
  readonly head: number;
  /** Found now; those that stand in the records from before are not found again. */
  readonly culprits: readonly CulpritView[];
  /** Where a culprit was not found: those that it may be among. */
  readonly candidates: readonly number[];
  readonly tried: readonly { readonly seq: number; readonly verdict: HeadVerdict }[];
}

const keeper: Author = { name: 'mound green', kind: 'system' };

/**
 * Keeps the tag `green` (of other branches `green/BRANCH`) at the newest landing at which a check passes, each tried
 * in a new directory; where the newest fails, finds the landing that broke it and acts by policy. It can be killed at
 * any point and run again. Errors: those of `runCheck`; `no-such-branch`.
 */
export function keepGreen(repo: Repo, options: GreenOptions): Promise<GreenReport> {
  return new Keeper(repo, options).run();
}

class Keeper {
  readonly #repo: Repo;
  readonly #clock: Clock;
  readonly #options: GreenOptions;
  readonly #branch: string;
  readonly #command: string;
  readonly #tried: { seq: number; verdict: HeadVerdict }[] = [];
  readonly #culprits: CulpritView[] = [];
  readonly #endsAt: number;

  constructor(repo: Repo, options: GreenOptions) {
    this.#repo = repo;
    this.#clock = options.clock ?? systemClock;
    this.#options = options;
    this.#branch = options.branch ?? 'main';
    this.#command = options.command.join(' ');
    this.#endsAt = this.#clock.now() + (options.secondsMax ?? 3600) * 1000;
  }

  get #isOver(): boolean {
    return this.#clock.now() >= this.#endsAt;
  }

  get #author(): Author {
    return this.#options.author ?? keeper;
  }

  async run(): Promise<GreenReport> {
    const { culpritsMax = 3, onChecked } = this.#options;
    let green = this.#known();
    for (;;) {
      const { seq: head } = this.#repo.branch(this.#branch);
      if (head === 0 || head === green) return this.#report('green', green, head);
      const end = await this.#try(head);
      await this.#write([checkRecord(this.#branch, this.#view(head, end))], 'check');
      onChecked?.(head, verdictOf(end), end.ms);
      if (end.verdict === 'passed') {
        await this.#tag(head);
        return this.#report(end.isFlaky ? 'flaky' : 'green', head, head);
      }
      if (end.verdict === 'skipped') return this.#report('skipped', green, head);
      if (green === undefined) {
        green = await this.#passedBefore(head);
        if (green === undefined) return this.#report('unknown', undefined, head);
        await this.#tag(green);
      }
      if (this.#culprits.length >= culpritsMax) return this.#report('red', green, head);
      const known = this.#knownCulprits(green);
      if (await this.#explain(known, head)) return this.#report('red', green, head);
      const found = await this.#culprit(green, head, known);
      if (found.good > green && this.#culprits.length === 0) await this.#tag((green = found.good));
      if (found.candidates.length !== 1) return this.#report('red', green, head, found.candidates);
      const culprit = await this.#act(found.candidates[0] ?? 0, found.good, found.output ?? end.output);
      this.#culprits.push(culprit);
      this.#options.onCulprit?.(culprit);
      const isGone = culprit.action.kind === 'reverted' || culprit.action.kind === 'quarantined';
      if (!isGone) return this.#report('red', green, head);
    }
  }

  #report(
    kind: GreenReport['kind'],
    green: number | undefined,
    head: number,
    candidates: readonly number[] = [],
  ): GreenReport {
    return { kind, green, head, candidates, culprits: this.#culprits, tried: this.#tried };
  }

  #known(): number | undefined {
    const tagged = this.#repo.tags().find(({ name }) => name === greenTag(this.#branch))?.seq;
    const { good } = this.#options;
    return tagged === undefined || (good !== undefined && good > tagged) ? good : tagged;
  }

  /** Landings that are known to have broken it since it passed, those of this search first. */
  #knownCulprits(green: number): ReadonlySet<number> {
    const recorded = readGreen(this.#repo, this.#branch).culprits.map(({ seq }) => seq);
    return new Set([...this.#culprits.map(({ seq }) => seq), ...recorded].filter((seq) => seq > green));
  }

  /** Whether a failing head is the work of those that are known from before, and of nobody else as far as can be told. */
  async #explain(known: ReadonlySet<number>, head: number): Promise<boolean> {
    const { culprits } = readGreen(this.#repo, this.#branch);
    const stands = ({ seq, action }: CulpritView): boolean =>
      known.has(seq) && action.kind !== 'reverted' && action.kind !== 'quarantined';
    if (this.#culprits.length > 0 || !culprits.some(stands)) return false;
    return (await this.#tryWithout(head, known))?.verdict !== 'failed';
  }

  /** undefined: it cannot be told apart from those. */
  async #tryWithout(seq: number, gone: ReadonlySet<number>): Promise<Tried | undefined> {
    if (gone.size === 0) return this.#try(seq);
    const overrides = withoutCommits(this.#repo, this.#repo.snapshot(seq, this.#branch), [...gone]);
    return overrides && this.#try(seq, overrides);
  }

  async #try(seq: number, overrides?: ReadonlyMap<string, FileState | null>): Promise<Tried> {
    const { runs = 2 } = this.#options;
    let end = await this.#once(seq, overrides);
    let { ms } = end;
    let failures = 0;
    while (end.verdict === 'failed' && ++failures < runs && !this.#isOver) {
      const again = await this.#once(seq, overrides);
      ms += again.ms;
      end = again.verdict === 'skipped' ? end : again;
    }
    const tried = { ...end, ms, isFlaky: end.verdict === 'passed' && failures > 0 };
    this.#tried.push({ seq, verdict: verdictOf(tried) });
    this.#options.onTried?.(seq, tried);
    return tried;
  }

  async #once(seq: number, overrides?: ReadonlyMap<string, FileState | null>): Promise<CheckEnd> {
    const { command, seconds = 600, onOutput, signal = new AbortController().signal } = this.#options;
    const { runner, directory } = this.#options;
    const left = Math.max(1, (this.#endsAt - this.#clock.now()) / 1000);
    const env = { MOUND_CHECK_SEQ: String(seq) };
    const limits = { command, env, signal, seconds: Math.min(seconds, left), ...(onOutput && { onOutput }) };
    const place = { overrides, runner, directory };
    return trySnapshot(this.#repo.snapshot(seq, this.#branch), limits, place);
  }

  /** Some earlier landing at which it passes, ever further back; undefined: none that was tried. */
  async #passedBefore(head: number): Promise<number | undefined> {
    const landings = [...this.#repo.log({ branch: this.#branch, from: head })].map(({ seq }) => seq as number).slice(1);
    for (let back = 1; landings.length > 0 && !this.#isOver; back *= 2) {
      const at = Math.min(back, landings.length) - 1;
      const seq = landings[at] ?? 0;
      if ((await this.#try(seq)).verdict === 'passed') return seq;
      if (at === landings.length - 1) return undefined;
    }
    return undefined;
  }

  /** Landings after `green` of which one broke it; what is known to have done so is left out of each. */
  async #culprit(
    green: number,
    head: number,
    gone: ReadonlySet<number>,
  ): Promise<{ readonly candidates: readonly number[]; readonly good: number; readonly output: string | undefined }> {
    const landings = [...this.#repo.log({ branch: this.#branch, from: head })].map(({ seq }) => seq as number);
    const range = landings.filter((seq) => seq > green && !gone.has(seq)).toReversed();
    let good = green;
    let output: string | undefined;
    const tryOne = async (seq: number): Promise<CheckVerdict> => {
      const end = await this.#tryWithout(seq, gone);
      if (end === undefined) return 'skipped';
      if (end.verdict === 'passed') good = Math.max(good, seq);
      if (end.verdict === 'failed') ({ output } = end);
      return end.verdict;
    };
    const candidates = await firstBad(range, tryOne, () => this.#isOver);
    return { candidates, good, output };
  }

  async #act(seq: number, good: number, output: string): Promise<CulpritView> {
    const { policy = 'tell' } = this.#options;
    const { author, message, task, commit } = this.#repo.commit(seq);
    const action: CulpritAction = policy === 'tell' ? { kind: 'told' } : await this.#takeBack(seq, good, policy);
    const view: CulpritView = {
      seq,
      good,
      command: this.#command,
      author,
      message,
      ...(task !== undefined && { task }),
      ...(commit !== undefined && { commit }),
      time: this.#clock.now(),
      output,
      action,
    };
    await this.#write([culpritRecord(this.#branch, view), ...(this.#options.recordsOf?.(view) ?? [])], 'culprit');
    return view;
  }

  async #takeBack(seq: number, good: number, policy: 'revert' | 'quarantine'): Promise<CulpritAction> {
    const branch = policy === 'quarantine' ? await this.#quarantine(seq) : undefined;
    const where = branch === undefined ? {} : { branch };
    const { author, task } = this.#repo.commit(seq);
    const who = [author.agent ?? author.name, author.role, author.model, task].filter(Boolean).join(', ');
    const kept = branch === undefined ? '' : `; it stands whole on branch ${branch}`;
    const rationale = `'${this.#command}' passes at seq ${good} and fails from seq ${seq} on (${who})${kept}`;
    const outcome = await this.#repo.revert(seq, {
      author: this.#author,
      rationale,
      branch: this.#branch,
      operationId: `mound green/${this.#branch}/${seq}`,
    });
    switch (outcome.kind) {
      case 'landed':
      case 'merged':
      case 'unchanged':
        return { kind: policy === 'revert' ? 'reverted' : 'quarantined', seq: outcome.seq, ...where };
      case 'conflicted':
        return { kind: 'kept', conflict: outcome.conflict, ...where };
      case 'parked':
        return { kind: 'kept', conflict: outcome.parked, ...where };
      case 'rejected':
        return { kind: 'refused', says: `${outcome.message}; ${outcome.next}`, ...where };
    }
  }

  /** A branch that ends with the landing, made once. */
  async #quarantine(seq: number): Promise<string> {
    const name = `quarantine/${seq}`;
    try {
      return this.#repo.branch(name).name;
    } catch (error) {
      if (!isMoundError(error, 'no-such-branch')) throw error;
      return (await this.#repo.fork(name, { from: this.#branch, at: seq, author: this.#author })).name;
    }
  }

  #view(seq: number, tried: Tried): Parameters<typeof checkRecord>[1] {
    const time = this.#clock.now();
    const { code, ms } = tried;
    return { seq, verdict: verdictOf(tried), command: this.#command, time, ms, ...(code !== undefined && { code }) };
  }

  async #tag(seq: number): Promise<void> {
    await this.#repo.tag(greenTag(this.#branch), seq, this.#author);
  }

  async #write(records: readonly RecordWrite[], message: string): Promise<void> {
    await this.#repo.land({ author: this.#author, message, records });
  }
}

/** All runs of the command on one tree; `ms` of all of them. */
interface Tried extends CheckEnd {
  readonly isFlaky: boolean;
}

const verdictOf = ({ verdict, isFlaky }: Tried): HeadVerdict => (isFlaky ? 'flaky' : verdict);
