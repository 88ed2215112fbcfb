import { setImmediate as nextRound, setTimeout as pause } from 'node:timers/promises';
import { MoundError } from '../core/errors.ts';
import { limits } from '../core/limits.ts';
import type { LockFile, MutexView } from './lock-file.ts';
import type { Presence } from './presence.ts';
import { isHalted, stateOfThread, type ThreadState } from './thread-state.ts';
import type { Turn, Waiting } from './turn.ts';

/** How often one who waits looks at the mutex. */
const lookMs = 50;
const busyLookMs = 2;
/** A turn that is taken while the mutex stays free is not waited for any longer: its owner is no writer, or stopped. */
const idleTurnMs = 200;
/** Time that a process gives to the one whose turn is next. */
const giveWayMs = 50;

/**
 * When this process may lock LMDB's writer mutex without waiting in it. Waiting
 * there would block the whole process, for as long as a stopped holder likes.
 * Alone in the store, a process goes at once. Among others it takes its turn
 * first and waits, if it must, where its event loop goes on.
 */
export class WriterTurn {
  private readonly dir: string;
  private readonly lockFile: LockFile;
  private readonly presence: Presence;
  private readonly turn: Turn;
  /** While the one to whom this process gave the turn has not taken it. */
  private given: Promise<void> | undefined;
  /** While those who wait are heard, before the turn is given. */
  private ending: Promise<void> | undefined;
  private stalled: string | undefined;

  constructor(dir: string, lockFile: LockFile, presence: Presence, turn: Turn) {
    this.dir = dir;
    this.lockFile = lockFile;
    this.presence = presence;
    this.turn = turn;
  }

  /**
   * Undefined: go at once. Otherwise resolves when it is this process's turn;
   * `release` ends it. Errors: `writer-stalled`.
   */
  take(): Promise<void> | undefined {
    if (!this.presence.isShared()) return undefined;
    // It has been used once, and another waits.
    if (this.ending !== undefined && this.turn.isAwaited) return this.wait();
    if (this.given === undefined && this.turn.tryTake() && !this.isHeld(this.lockFile.look())) return undefined;
    return this.wait();
  }

  /** What holds the mutex and will not go on by itself; undefined: nothing does. */
  halted(): ThreadState | undefined {
    const threadId = this.lockFile.look()?.threadId;
    const state = threadId === undefined ? undefined : stateOfThread(threadId);
    return state !== undefined && isHalted(state.activity) ? state : undefined;
  }

  /** Ends the turn once those who wait have been heard; then the promise resolves. Undefined: there was none. */
  release(): Promise<void> | undefined {
    if (!this.turn.isTaken) return undefined;
    // In the first round those who wait are accepted, in the second they say since when.
    this.ending ??= nextRound()
      .then(() => nextRound())
      .then(() => this.give());
    return this.ending;
  }

  private give(): void {
    this.ending = undefined;
    if (this.turn.isTaken) this.given = this.turn.release(giveWayMs);
  }

  private isHeld(view: MutexView | undefined): boolean {
    return view?.threadId !== undefined;
  }

  private async wait(): Promise<void> {
    const watch = new Watch(this.dir);
    const sinceMs = Number(process.hrtime.bigint()) / 1e6;
    let waiting: Waiting | undefined;
    let next = 0;
    let idleMs = 0;
    try {
      for (;;) {
        const before = performance.now();
        await this.ending;
        await this.given;
        this.given = undefined;
        const isMine = waiting === undefined && before >= next && this.turn.tryTake();
        const view = this.lockFile.look();
        const isHeld = this.isHeld(view);
        if (!isHeld) {
          this.stalled = undefined;
          if (isMine || idleMs >= idleTurnMs) return;
        }
        this.mustGetOn(watch, view);
        if (isMine) {
          await pause(busyLookMs);
          continue;
        }
        waiting ??= this.turn.wait(sinceMs);
        const wait = await within(waiting.ended, lookMs);
        if (wait !== undefined) waiting = undefined;
        // The one who was given the turn is to come first; one that does not come must not hold up the others.
        if (wait === 'ended') next = performance.now() + giveWayMs;
        if (wait === 'given') next = 0;
        if (wait === 'free') await pause(1);
        idleMs = isHeld ? 0 : idleMs + Math.min(performance.now() - before, 2 * lookMs);
      }
    } finally {
      waiting?.cancel();
    }
  }

  private mustGetOn(watch: Watch, view: MutexView | undefined): void {
    try {
      watch.note(view, this.stalled);
    } catch (error) {
      this.stalled = watch.key;
      this.give();
      throw error;
    }
  }
}

/** What a promise resolves to; undefined: not in time. */
async function within<T>(promise: Promise<T>, ms: number): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => (timer = setTimeout(() => resolve(undefined), ms)));
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** How long one and the same transaction of another has been seen to hold the mutex. */
class Watch {
  key: string | undefined;
  private readonly dir: string;
  private seenMs = 0;
  private lastMs = performance.now();

  constructor(dir: string) {
    this.dir = dir;
  }

  /** Throws once the bound is reached; at once if `stalled` holds it still. */
  note(view: MutexView | undefined, stalled: string | undefined): void {
    const now = performance.now();
    // A pause of this process itself is no waiting.
    const passedMs = Math.min(now - this.lastMs, 4 * lookMs);
    this.lastMs = now;
    const threadId = view?.threadId;
    const key = threadId === undefined ? undefined : `${threadId} ${view?.txnId}`;
    if (key !== this.key) this.seenMs = 0;
    else this.seenMs += passedMs;
    this.key = key;
    if (threadId === undefined || (key !== stalled && this.seenMs < limits.writerWaitMsMax)) return;
    const state = stateOfThread(threadId);
    if (state === undefined) return;
    if (isHalted(state.activity) || this.seenMs >= limits.writerBusyMsMax) throw stalledError(this.dir, state);
  }
}

/** What one is told who waits for a holder of LMDB's locks that does not go on. */
export function stalledError(
  dir: string,
  { pid, command, activity }: ThreadState,
  what = 'the writer mutex',
): MoundError {
  const way = isHalted(activity) ? `let it go on ('kill -CONT ${pid}') or end it ('kill -9 ${pid}')` : 'wait or end it';
  return new MoundError(
    'writer-stalled',
    `process ${pid} (${command}) holds ${what} of ${dir} and is ${activity}; ${way}, then try again: nothing of this landed`,
    { dir, pid, command, state: activity },
  );
}
