import { mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { threadId } from 'node:worker_threads';
import { startOfProcess } from './thread-state.ts';

/** A listing is as new as its directory's time says, but for what came within the clock's coarseness. */
const coarsenessMs = 50;
/** A process that was killed leaves its name behind: names are checked again so often. */
const recheckMs = 1000;

let count = 0;

/**
 * Which processes have the store open: one file each in a directory, made
 * before the environment is opened. It only tells whether to take turns; it
 * locks nothing, and what a killed process leaves is removed by the next one.
 */
export class Presence {
  private readonly dir: string;
  private own: string | undefined;
  private seenMs = -1;
  private listedMs = 0;
  private hasOthers = false;

  constructor(dir: string) {
    this.dir = dir;
  }

  announce(): void {
    const name = `${process.pid}-${startOfProcess(process.pid) ?? 0}-${threadId}-${++count}`;
    try {
      mkdirSync(this.dir, { recursive: true });
      writeFileSync(join(this.dir, name), '');
      this.own = join(this.dir, name);
    } catch {
      // A store that can only be read takes no turns.
    }
  }

  leave(): void {
    if (this.own !== undefined) rmSync(this.own, { force: true });
    this.own = undefined;
  }

  /** Whether other processes have the store open; threads of this one do not count. */
  isShared(): boolean {
    const now = Date.now();
    try {
      const changedMs = statSync(this.dir).mtimeMs;
      const isFresh = changedMs === this.seenMs && this.listedMs - changedMs > coarsenessMs;
      if (isFresh && (!this.hasOthers || now - this.listedMs < recheckMs)) return this.hasOthers;
      this.seenMs = changedMs;
      this.listedMs = now;
      this.hasOthers = this.list();
    } catch {
      this.hasOthers = false;
    }
    return this.hasOthers;
  }

  private list(): boolean {
    let found = false;
    for (const name of readdirSync(this.dir)) {
      const [pid, start] = name.split('-');
      if (Number(pid) === process.pid) continue;
      const began = startOfProcess(Number(pid));
      if (began !== undefined && (start === '0' || began === start)) found = true;
      else rmSync(join(this.dir, name), { force: true });
    }
    return found;
  }
}
