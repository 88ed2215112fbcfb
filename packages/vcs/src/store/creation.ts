import { existsSync, mkdirSync, renameSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { MoundError } from '../core/errors.ts';
import type { Random } from '../core/ports.ts';
import type { Steps } from '../core/steps.ts';
import { encodeBranch } from '../format/branch.ts';
import { idKey } from '../format/keys.ts';
import { encodeCounters, firstCounters } from './counters.ts';
import {
  closeEnvironment,
  encodeIdentity,
  inTransaction,
  metaCounters,
  metaFormat,
  openEnvironment,
} from './environment.ts';
import { asFault } from './faults.ts';
import { LockFile } from './lock-file.ts';
import { mustBeLocal } from './opening.ts';
import { systemPlace } from './place.ts';
import { storeDirName } from './store-dir.ts';

/**
 * Makes a store beside its place and renames it there, so that there is never
 * half of one, whoever dies or comes at the same time.
 * Errors: `already-a-repository`, `permission-denied`, `disk-full`.
 */
export async function createStore(dir: string, random: Random, steps: Steps): Promise<void> {
  const home = join(dir, storeDirName);
  const already = (): MoundError =>
    new MoundError('already-a-repository', `${dir} is a Mound repository already`, { dir });
  if (existsSync(home)) throw already();
  const parent = existsSync(dir) ? undefined : mkdirAsked(dir);
  const draft = join(dir, `${storeDirName}-${Buffer.from(random.bytes(8)).toString('hex')}`);
  try {
    mustBeLocal(dir, systemPlace);
    mkdirSync(join(draft, 'store'), { recursive: true });
    writeFileSync(join(draft, 'wake'), '');
    const environment = openEnvironment(draft, new LockFile(join(draft, 'store', 'lock.mdb')));
    const { tables } = environment;
    inTransaction(environment, () => {
      const repoId = Buffer.from(random.bytes(16)).toString('hex');
      tables.meta.putSync(metaFormat, encodeIdentity(repoId));
      tables.meta.putSync(metaCounters, encodeCounters(firstCounters));
      tables.branches.putSync(idKey(0), encodeBranch({ name: 'main', parentId: -1, forkSeq: 0, commitSeq: 0 }));
      tables.branchNames.putSync(Buffer.from('main'), idKey(0));
    });
    await closeEnvironment(environment);
    steps.reach('draft-made');
    renameSync(draft, home);
    steps.reach('repo-named');
  } catch (cause) {
    rmSync(draft, { recursive: true, force: true });
    const { code } = cause as NodeJS.ErrnoException;
    if (code === 'ENOTEMPTY' || code === 'EEXIST') throw already();
    if (parent !== undefined) removeIfEmpty(dir, parent);
    throw asFault(cause, dir);
  }
}

/** Makes a directory and those above it; gives the topmost that it made. */
function mkdirAsked(dir: string): string | undefined {
  try {
    return mkdirSync(dir, { recursive: true });
  } catch (cause) {
    throw asFault(cause, dir);
  }
}

/** Takes back the directories from `dir` up to `top`, those only that nobody has put anything into. */
function removeIfEmpty(dir: string, top: string): void {
  try {
    for (let at = resolve(dir); ; at = join(at, '..')) {
      rmdirSync(at);
      if (at === resolve(top)) return;
    }
  } catch {
    // Another process has begun to use it: it stays.
  }
}
