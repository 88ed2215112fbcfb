import type { Repo } from '@mound/vcs';
import { changedLines } from '../core/changed-lines.ts';
import type { SwarmEvent } from '../events/event.ts';
import { thrashing, type ThrashingPolicy, type Window } from '../state/thrashing.ts';

type Answered = Extract<SwarmEvent, { kind: 'intent.answered' }>;

/** Counts conflicts and accepted lines, window by window. */
export class ThrashWatch {
  readonly #repo: Repo;
  readonly #policy: ThrashingPolicy;
  #windows: Window[] = [];
  #answers: Answered[] = [];

  constructor(repo: Repo, policy: ThrashingPolicy) {
    this.#repo = repo;
    this.#policy = policy;
  }

  /** Why the run thrashes, when this answer fills a window that shows it. */
  seen(answer: Answered): string | undefined {
    this.#answers.push(answer);
    if (this.#answers.length < this.#policy.window) return undefined;
    const conflicts = this.#answers.filter(({ outcome }) => outcome === 'conflicted').length;
    // Lines are only counted where they matter: a run without conflicts pays nothing.
    const lines = conflicts === 0 ? 0 : this.#answers.reduce((sum, one) => sum + this.#linesOf(one), 0);
    this.#answers = [];
    this.#windows = [...this.#windows.slice(-this.#policy.growing), { conflicts, lines }];
    return thrashing(this.#windows, this.#policy);
  }

  #linesOf({ outcome, seq, paths }: Answered): number {
    if (seq === undefined || (outcome !== 'landed' && outcome !== 'merged' && outcome !== 'resolved')) return 0;
    const [before, after] = [this.#repo.snapshot(seq - 1), this.#repo.snapshot(seq)];
    const text = (snapshot: typeof after, path: string): string => snapshot.read(path)?.toString('utf8') ?? '';
    return paths.reduce((sum, path) => sum + changedLines(text(before, path), text(after, path)), 0);
  }
}
