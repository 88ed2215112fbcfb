import { floorSubject } from './floor.ts';
import { fossilSubject } from './fossil.ts';
import { gitFastImportSubject } from './git-fast-import.ts';
import { gitLibgit2Subject } from './git-libgit2.ts';
import { gitPlumbingSubject } from './git-plumbing.ts';
import { gitPorcelainSubject } from './git-porcelain.ts';
import { gitWorktreesSubject } from './git-worktrees-commits.ts';
import { isomorphicGitSubject } from './isomorphic-git.ts';
import { mercurialSubject } from './mercurial.ts';
import { moundSubject } from './mound.ts';
import { moundServerSubject } from './mound-server.ts';
import { sqliteDeltasSubject, sqliteWalSubject } from './sqlite-wal.ts';
import type { Subject } from './subject.ts';

/** Every subject that makes commits. To add one: implement `Subject`, add it here; the conformance test takes it up. */
export const commitSubjects: readonly Subject[] = [
  moundSubject(),
  moundServerSubject,
  floorSubject,
  sqliteWalSubject,
  sqliteDeltasSubject,
  gitFastImportSubject,
  gitLibgit2Subject,
  gitPorcelainSubject,
  gitPlumbingSubject,
  gitWorktreesSubject,
  isomorphicGitSubject,
  fossilSubject,
  mercurialSubject,
];

/** What one would look for in vain, and why it is not there. */
export const unwrittenSubjects: readonly { readonly name: string; readonly why: string }[] = [
  { name: 'mound-replicated', why: 'Mound is not replicated yet' },
  { name: 'jj', why: 'there is no subject for it, for no binary of it could be had to run one against' },
];

/** Mound without one of its mechanisms: measured where they are named. */
export const moundArms: readonly Subject[] = [moundSubject({ name: 'mound-no-signals', watchesFiles: false })];

/** The negative control: a bench that does not see this one as slower than `mound` sees nothing. */
export const slowedMs = 1;
export const slowedMoundSubject: Subject = moundSubject({ name: 'mound-slowed', busyMsPerCommit: slowedMs });
