import { join } from 'node:path';

import { openRepo, type CommitView, type Repo } from '@mound/vcs';

import { runCommits, type CategoryCount } from '../curve/index.ts';
import { categoriesCheck } from './categories-check.ts';
import { textFilesBelow } from './corpus-files.ts';
import { dependenciesCheck } from './dependencies-check.ts';
import { ownNames } from './dependency-names.ts';
import type { CheckReport } from './finding.ts';
import { hardCodedCheck } from './hard-coded.ts';
import { landedFiles, textOf } from './landed-file.ts';
import { leakCheck } from './leak-check.ts';
import { KnownAnswers } from './known-answers.ts';
import { networkCheck, transcriptsBelow } from './network-check.ts';
import { patternOf, testsCheck } from './tests-check.ts';

export interface AuditOptions {
  /** Directory that holds the repository's `.mound`; it is only read. */
  readonly repo: string;
  /** Default: `main`. */
  readonly branch?: string;
  /** Which commits are the run's, as in a curve. */
  readonly run?: string;
  readonly from?: number;
  readonly to?: number;
  /** Directory of the tests that the run was scored by; undefined: what leaked of it is not looked for. */
  readonly corpus?: string;
  /** That tell of the corpus. Default: `sqllogictest`. */
  readonly words?: readonly string[];
  /** Files and directories beside the store in which the corpus is looked for, too. */
  readonly also?: readonly string[];
  /** Paths of tests, beside the usual ones; `*` and `**` stand for anything. */
  readonly tests?: readonly string[];
  /** Names of dependencies; undefined: none is judged. */
  readonly allow?: readonly string[];
  /** Of the last point of a curve. */
  readonly categories?: readonly CategoryCount[];
}

export interface AuditResult {
  readonly run: string | undefined;
  readonly commits: number;
  readonly checks: readonly CheckReport[];
}

/**
 * Looks for what a run should not have done. Errors: `invalid-argument` where there is no such run or it landed
 * nothing, those of `openRepo`; `ENOENT` where the corpus is not there.
 */
export async function audit(options: AuditOptions): Promise<AuditResult> {
  const repo = await openRepo(options.repo, { readOnly: true });
  try {
    return await auditRepo(repo, options);
  } finally {
    await repo.close();
  }
}

/** The same of a repository that is open. */
export async function auditRepo(repo: Repo, options: AuditOptions): Promise<AuditResult> {
  const { branch = 'main', run, from, to, corpus, words = ['sqllogictest'], also = [], allow, categories } = options;
  const { places, run: named } = runCommits(repo, {
    branch,
    ...(run !== undefined && { run }),
    ...(from !== undefined && { from }),
    ...(to !== undefined && { to }),
  });
  const [before, ...commits] = places;
  const landings = commits.map(({ seq }): CommitView => repo.commit(seq));
  const files = [...landedFiles(repo, landings)];
  const start = before === undefined || before.seq === 0 ? [] : repo.snapshot(before.seq, branch).list();
  const given = new Set<string>(start.map(({ path }) => path));
  const newest = repo.snapshot(undefined, branch);
  const now = (path: string): string | undefined => textOf(newest.read(path));
  const naming = newest.list().filter(({ path }) => /(?:^|\/)(?:Cargo\.toml|package\.json|lib\.rs)$/.test(path));
  const own = ownNames(naming.map(({ path }) => [path, now(path) ?? '']));
  const answers = new KnownAnswers(corpus === undefined ? [] : textFilesBelow(corpus));
  const patterns = (options.tests ?? []).map(patternOf);
  const transcripts = transcriptsBelow(join(repo.dir, '.mound', 'swarm', named ?? ''));
  return {
    run: named,
    commits: commits.length,
    checks: [
      corpus === undefined ? unseenCorpus : await leakCheck({ repo, corpus, words, also }),
      testsCheck(files, given, patterns),
      hardCodedCheck(files, answers, now),
      networkCheck(files, transcripts, now),
      dependenciesCheck(files, { list: allow, own }, now),
      categoriesCheck(categories),
    ],
  };
}

const unseenCorpus: CheckReport = {
  check: 'corpus',
  rule: 'Strings of the corpus in all that the run left',
  looked: '',
  skipped: 'no corpus was given (--corpus)',
  findings: [],
};
