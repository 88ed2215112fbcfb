import { accessSync, constants, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { isMoundError, MoundError } from '../core/errors.ts';
import { limits } from '../core/limits.ts';
import type { Steps } from '../core/steps.ts';
import { faultOfDataFile } from './data-file.ts';
import { openEnvironment, type Environment } from './environment.ts';
import { asFault, corrupt } from './faults.ts';
import { LockFile, makerOf } from './lock-file.ts';
import { systemPlace, type Place } from './place.ts';
import { Presence } from './presence.ts';
import { storeDirName } from './store-dir.ts';
import { isHalted, stateOfThread } from './thread-state.ts';
import { Turn } from './turn.ts';
import { stalledError, WriterTurn } from './writer-turn.ts';

export interface OpeningOptions {
  /** Never to be written to through this store. */
  readonly readOnly?: boolean;
  readonly place?: Place;
  readonly steps?: Steps;
  /** It is to be checked or repaired: its log need not end where its counters say. */
  readonly isDoubted?: boolean;
}

/** What stands beside the environment: who has the store open, and whose turn it is to write. */
export interface Company {
  readonly lockFile: LockFile;
  readonly presence: Presence;
  readonly turn: WriterTurn;
}

export interface Opened {
  readonly environment: Environment;
  readonly company: Company;
}

/** How often one who opens looks whether the lock file is made. */
const makerLookMs = 20;

/** Path of LMDB's data file. */
export const dataPathOf = (dir: string): string => join(dir, storeDirName, 'store', 'data.mdb');

/** Opens the environment of the repository in `dir`. Errors: those of `Store.open`. */
export async function openStore(
  dir: string,
  { readOnly = false, place = systemPlace }: OpeningOptions,
): Promise<Opened> {
  const home = join(dir, storeDirName);
  const dataPath = dataPathOf(dir);
  try {
    statSync(dataPath);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'EACCES') throw asFault(cause, dir);
    throw new MoundError('no-repository', `${dir} is no Mound repository; 'mound init' makes one`, { dir });
  }
  mustBeLocal(dir, place);
  try {
    accessSync(dataPath, readOnly ? constants.R_OK : constants.R_OK | constants.W_OK);
    const fault = faultOfDataFile(dataPath);
    if (fault !== undefined) throw corrupt(dataPath, fault);
  } catch (cause) {
    throw asFault(cause, dir);
  }
  const lockFile = new LockFile(join(home, 'store', 'lock.mdb'));
  const presence = new Presence(join(home, 'open'), place);
  const { dev, ino } = statSync(dataPath);
  const company = { lockFile, presence, turn: new WriterTurn(dir, lockFile, presence, new Turn(`${dev}:${ino}`)) };
  presence.announce();
  try {
    return { environment: await openInTurn(home, company, readOnly), company };
  } catch (cause) {
    presence.leave();
    throw asFault(cause, dir, dataPath);
  }
}

/** In this process's turn: to open for writing locks the mutex, and any opening is felt by those who write. */
async function openInTurn(home: string, company: Company, readOnly: boolean): Promise<Environment> {
  const { lockFile, presence, turn } = company;
  await mustBeMade(home);
  const isReadOnly = presence.isShared() && (turn.halted() !== undefined || !(await hasTurn(turn)));
  try {
    return openEnvironment(home, lockFile, readOnly || isReadOnly);
  } finally {
    void turn.release();
  }
}

/** Waits for the one that makes the lock file anew; throws `writer-stalled` if it was stopped there. */
async function mustBeMade(home: string): Promise<void> {
  for (let waitedMs = 0; ; waitedMs += makerLookMs) {
    const pid = makerOf(join(home, 'store', 'lock.mdb'));
    const state = pid === undefined ? undefined : stateOfThread(pid);
    if (state === undefined) return;
    if (waitedMs >= limits.writerWaitMsMax && isHalted(state.activity))
      throw stalledError(home, state, 'the lock file');
    await pause(makerLookMs);
  }
}

async function hasTurn(turn: WriterTurn): Promise<boolean> {
  try {
    await turn.take();
    return true;
  } catch (error) {
    if (isMoundError(error, 'writer-stalled')) return false;
    throw error;
  }
}

/** Throws `shared-file-system` where processes of several machines may meet: LMDB's locks do not reach so far. */
export function mustBeLocal(dir: string, place: Place): void {
  const name = place.sharedFileSystem(dir);
  if (name === undefined) return;
  throw new MoundError(
    'shared-file-system',
    `${dir} is on ${name}, where LMDB's locks do not hold between machines; keep the repository on a local disk, and serve it to others with 'mound serve'`,
    { dir, fileSystem: name },
  );
}
