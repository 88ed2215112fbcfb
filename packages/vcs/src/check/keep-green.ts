import { isMoundError } from '../core/errors.ts';
import type { Author } from '../core/intent.ts';
import { systemClock, type Clock } from '../core/ports.ts';
import type { FileState } from '../merge/index.ts';
import type { Repo } from '../repo/api.ts';
import { checkRecord, culpritRecord, greenTag, type CulpritAction, type CulpritView } from './check-records.ts';
import { firstBad } from './first-bad.ts';
import type { CheckEnd, CheckVerdict } from './run-check.ts';
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
  /** Of one run of the command. Default 600. */
  readonly seconds?: number;
  /** Of the whole search; what is not found by then is told. Default 3,600. */
  readonly secondsMax?: number;
  /** Culprits that are looked for in one go. Default 3. */
  readonly culpritsMax?: number;
  readonly signal?: AbortSignal;
  readonly clock?: Clock;
  readonly onOutput?: (piece: Buffer) => void;
  readonly onTried?: (seq: number, end: CheckEnd) => void;
}

export interface GreenReport {
  /** `unknown`: it fails, and no seq is known at which it passes. */
  readonly kind: 'green' | 'red' | 'unknown' | 'skipped';
  /** Newest seq at which it is known to pass. */
  readonly green: number | undefined;
  /** Landing that was checked last. */
  readonly head: number;
  readonly culprits: readonly CulpritView[];
  /** Where a culprit was not found: those that it may be among. */
  readonly candidates: readonly number[];
  readonly tried: readonly { readonly seq: number; readonly verdict: CheckVerdict }[];
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
  readonly #tried: { seq: number; verdict: CheckVerdict }[] = [];
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

  async run(): Promise<GreenReport> {
    const { culpritsMax = 3 } = this.#options;
    let green = this.#known();
    for (;;) {
      const { seq: head } = this.#repo.branch(this.#branch);
      if (head === 0 || head === green) return this.#report('green', green, head);
      const end = await this.#try(head);
      await this.#write([checkRecord(this.#branch, this.#view(head, end))], 'check');
      if (end.verdict === 'passed') {
        await this.#tag(head);
        return this.#report('green', head, head);
      }
      if (end.verdict === 'skipped') return this.#report('skipped', green, head);
      if (green === undefined) {
        green = await this.#passedBefore(head);
        if (green === undefined) return this.#report('unknown', undefined, head);
        await this.#tag(green);
      }
      if (this.#culprits.length >= culpritsMax) return this.#report('red', green, head);
      const found = await this.#culprit(green, head);
      if (found.good > green && this.#culprits.length === 0) await this.#tag((green = found.good));
      if (found.candidates.length !== 1) return this.#report('red', green, head, found.candidates);
      const culprit = await this.#act(found.candidates[0] ?? 0, found.good, found.output ?? end.output);
      this.#culprits.push(culprit);
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

  async #try(seq: number, overrides?: ReadonlyMap<string, FileState | null>): Promise<CheckEnd> {
    const { command, seconds = 600, onOutput, signal = new AbortController().signal } = this.#options;
    const left = Math.max(1, (this.#endsAt - this.#clock.now()) / 1000);
    const env = { MOUND_CHECK_SEQ: String(seq) };
    const limits = { command, env, signal, seconds: Math.min(seconds, left), ...(onOutput && { onOutput }) };
    const end = await trySnapshot(this.#repo.snapshot(seq, this.#branch), limits, overrides);
    this.#tried.push({ seq, verdict: end.verdict });
    this.#options.onTried?.(seq, end);
    return end;
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

  /** Landings after `green` of which one broke it; what was taken back already is left out of each. */
  async #culprit(
    green: number,
    head: number,
  ): Promise<{ readonly candidates: readonly number[]; readonly good: number; readonly output: string | undefined }> {
    const gone = this.#culprits.map(({ seq }) => seq);
    const landings = [...this.#repo.log({ branch: this.#branch, from: head })].map(({ seq }) => seq as number);
    const range = landings.filter((seq) => seq > green && !gone.includes(seq)).toReversed();
    let good = green;
    let output: string | undefined;
    const tryOne = async (seq: number): Promise<CheckVerdict> => {
      const snapshot = this.#repo.snapshot(seq, this.#branch);
      const overrides = gone.length === 0 ? undefined : withoutCommits(this.#repo, snapshot, gone);
      if (gone.length > 0 && overrides === undefined) return 'skipped';
      const end = await this.#try(seq, overrides);
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
    await this.#write([culpritRecord(this.#branch, view)], 'culprit');
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
      author: keeper,
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
      return (await this.#repo.fork(name, { from: this.#branch, at: seq, author: keeper })).name;
    }
  }

  #view(seq: number, { verdict, code, ms }: CheckEnd): Parameters<typeof checkRecord>[1] {
    const time = this.#clock.now();
    return { seq, verdict, command: this.#command, time, ms, ...(code !== undefined && { code }) };
  }

  async #tag(seq: number): Promise<void> {
    await this.#repo.tag(greenTag(this.#branch), seq, keeper);
  }

  async #write(records: Parameters<Repo['land']>[0]['records'] & object, message: string): Promise<void> {
    await this.#repo.land({ author: keeper, message, records });
  }
}
