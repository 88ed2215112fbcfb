import { MoundError } from '../core/errors.ts';
import type { GitIntake, Repo } from '../repo/api.ts';
import { defaultBranch } from './branch-names.ts';
import type { Flagged } from './flagged.ts';
import { objectKey, keptObjectValue, putRecords } from './git-records.ts';
import type { ReadCommit } from './import-commit.ts';
import type { ImportLine, PlannedCommit } from './import-plan.ts';

export type LandingRepo = Pick<Repo, 'commit' | 'fork' | 'gitMarks' | 'land' | 'snapshot'>;

/** Lands commits in the order in which they are added, in groups, each with the records that it needs before it. */
export class ImportLanding {
  readonly #repo: LandingRepo;
  readonly #intake: GitIntake;
  readonly #flagged: Flagged;
  readonly #malformed: Flagged;
  #records = new Map<string, Uint8Array | string>();
  #count = 0;

  constructor(repo: LandingRepo, intake: GitIntake, flagged: Flagged, malformed: Flagged) {
    this.#repo = repo;
    this.#intake = intake;
    this.#flagged = flagged;
    this.#malformed = malformed;
  }

  get isFull(): boolean {
    return this.#intake.isFull;
  }

  /** To be called parents before children. */
  add(commit: PlannedCommit & { readonly line: ImportLine }, read: ReadCommit): void {
    for (const { id, type, content } of read.keptObjects) {
      this.#records.set(objectKey(id), keptObjectValue(type, content));
    }
    const flags = [
      ...this.#flagged.note(commit.id, read.flaggedPaths),
      ...this.#malformed.note(commit.id, read.malformed),
    ];
    for (const [key, value] of flags) this.#records.set(key, value);
    const { base, parents, line } = commit;
    this.#intake.add({ ...read.landing, branch: line.branch, base, parents });
    this.#count++;
  }

  /** Lands what was added; the number of commits landed so far. */
  async land(): Promise<number> {
    // Before the landings: a commit that is marked as landed is never looked at again.
    await putRecords(this.#repo, this.#records);
    this.#records = new Map();
    await this.#intake.land();
    return this.#count;
  }
}

/** Forks a branch at a landed commit. Errors: `git-failed` for a commit that is not landed. */
export async function forkAt(repo: LandingRepo, branch: string, after: string | undefined): Promise<void> {
  if (after === undefined) {
    await repo.fork(branch, { from: defaultBranch, at: 0 });
    return;
  }
  const at = repo.gitMarks.seqOf(after);
  if (at === undefined) throw new MoundError('git-failed', `git did not list commit ${after}`, { id: after });
  await repo.fork(branch, { from: repo.commit(at).branch, at });
}
