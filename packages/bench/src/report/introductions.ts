/** What a suite's section is about, for a person who has never run one. */
const suites: Readonly<Record<string, string>> = {
  commit: 'How many commits a second each store takes, and how long one waits, all making the same commits. A commit counts once it is acknowledged; at the end all of them are read back.', // prettier-ignore
  scale: 'What happens to speed, disk and memory as a large repository grows, and what reading old versions costs.',
  workspace: 'What a directory with an agent’s files costs: making it, following what others landed, finding what changed.', // prettier-ignore
  contention: 'Many agents edit the same few files at once: how much reaches the trunk, and what becomes of the rest.',
  megafile: 'Many agents edit one large file, before and after it is split into modules.',
  merges: 'Three-way merges of the same files by several tools: do they agree, and how long does one take.',
  git: 'A whole git history goes in and out again: time, memory and disk beside git’s own import, every id compared.',
  history: 'A git history is landed anew by a swarm of agents, and plain git then proves that nothing is missing.',
  'swarm-load': 'Agents of several processes with the load of a real swarm, each reading, thinking, editing and landing: does the store keep up, and is anything lost.', // prettier-ignore
  swarm: 'What the runtime adds to an agent’s step, beside the model and the tools.',
  coordination:
    'The same work through swarms that differ in one mechanism each, so that one sees what a mechanism does.',
  sqllogictest: 'An SQL engine asked record by record. Right, wrong, refused, crashed, timed out and skipped are counted apart.', // prettier-ignore
  curve: 'What a swarm has built, tried at points along its commits by tests that it never saw.',
  audit: 'Places that a person should look at before believing a run’s score, with the evidence.',
  experiment: 'Arms and model mixes at one goal with equal budgets: score, cost by role, and what the code is like.',
};

export const introductionOf = (suite: string): string | undefined => suites[suite];

/** Subjects whose names do not say what they are. */
const subjects: readonly (readonly [RegExp, string])[] = [
  [/^mound$/, 'this project’s store'],
  [/^mound-(?:slow|slowed)$/, 'control: Mound made slow on purpose; if it did not show as slow, nothing here could be trusted'],
  [/^mound-overwriting$/, 'control: a Mound that overwrites what others did; if it lost nothing, nothing here could be trusted'],
  [/^mound-(?:spoilt|twice)$/, 'control: a Mound with a fault on purpose, which has to show'],
  [/^floor$/, 'a program that only hashes, writes and flushes: no promises, no checks; a bound on what can be had'],
  [/^sqlite-wal/, 'a table with compare-and-swap in SQLite, a group of commits in one transaction'],
  [/^git-fast-import$/, 'git reading one stream; flushed at its end only'],
  [/^git-libgit2$/, 'git as a library in one process'],
  [/^git-plumbing$/, 'git’s low-level commands, without a checkout'],
  [/^git-porcelain$/, 'git add and git commit in a checkout'],
  [/^git-worktrees?$/, 'an agent each with its own git worktree'],
  [/^git-cat-file$/, 'git reading every object once; a bound on what can be had'],
  [/^git-packed$/, 'git, one pack with deltas'],
  [/^git-loose$/, 'git, every object a file'],
  [/^lstat-scan$/, 'a look at every file and nothing else; a bound on what can be had'],
  [/^isomorphic-git$/, 'git in JavaScript; flushes nothing'],
  [/^fossil$/, 'Fossil, in a checkout'],
  [/^mercurial$/, 'Mercurial through its command server; flushes nothing'],
  [/^all-on$/, 'planner, workers and every mechanism of coordination'],
  [/^all-off$/, 'the same without any of them'],
  [/^no-/, 'all mechanisms but the one that is named'],
  [/^one-at-a-time$/, 'every mechanism, one worker at once'],
  [/^solo$/, 'one worker alone, no planner'],
  [/^old-style$/, 'equal agents that claim files by locks'],
  [/^published/, 'figures that others published: another task, other models'],
]; // prettier-ignore

/** What the names in a section are; each meaning once. */
export function subjectsTold(names: readonly string[]): { readonly names: string; readonly meaning: string }[] {
  const unique = [...new Set(names)];
  return subjects.flatMap(([pattern, meaning]) => {
    const some = unique.filter((name) => pattern.test(name));
    return some.length === 0 ? [] : [{ names: some.join(', '), meaning }];
  });
}
