import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { threadId } from 'node:worker_threads';
import { MoundError } from '../core/errors.ts';
import { systemPlace, type Place } from './place.ts';
import { startOfProcess } from './thread-state.ts';

/** A listing is as new as its directory's time says, but for what came within the clock's coarseness. */
const coarsenessMs = 50;
/** A process that was killed leaves its name behind: names are checked again so often. */
const recheckMs = 1000;

/** A process of another pid namespace cannot be looked at: each renews its file's time, and an old one is gone. */
const renewMs = 30_000;
const renewedMsMax = 4 * renewMs;

let count = 0;

/**
 * Which processes have the store open: one file each in a directory, made
 * before the environment is opened. It only tells whether to take turns; it
 * locks nothing, and what a killed process leaves is removed by the next one.
 */
export class Presence {
  private readonly dir: string;
  private readonly place: Place;
  private own: string | undefined;
  private renewal: NodeJS.Timeout | undefined;
  private seenMs = -1;
  private listedMs = 0;
  private hasOthers = false;

  constructor(dir: string, place: Place = systemPlace) {
    this.dir = dir;
    this.place = place;
  }

  /** Throws `other-namespace` where a process that counts process ids otherwise has the store open. */
  announce(): void {
    this.mustShareNamespace();
    const name = `${process.pid}-${startOfProcess(process.pid) ?? 0}-${threadId}-${++count}`;
    try {
      mkdirSync(this.dir, { recursive: true });
      writeFileSync(join(this.dir, name), `${this.place.bootId()} ${this.place.pidNamespace()}\n`);
      this.own = join(this.dir, name);
      this.renewal = setInterval(() => this.renew(), renewMs).unref();
    } catch {
      // A store that can only be read takes no turns.
    }
  }

  private renew(): void {
    const now = new Date();
    try {
      if (this.own !== undefined) utimesSync(this.own, now, now);
    } catch {
      // It was removed with the whole store.
    }
  }

  leave(): void {
    clearInterval(this.renewal);
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

  /** LMDB knows its readers by process id, so all of them must count these alike. */
  private mustShareNamespace(): void {
    const bootId = String(this.place.bootId());
    const namespace = String(this.place.pidNamespace());
    for (const name of namesIn(this.dir)) {
      const path = join(this.dir, name);
      const [theirBoot, theirs] = (textOf(path) ?? '').trim().split(' ');
      if (theirs === undefined || (theirBoot === bootId && theirs === namespace)) continue;
      const isGone = theirBoot !== bootId || Date.now() - statSync(path).mtimeMs > renewedMsMax;
      if (isGone) {
        rmSync(path, { force: true });
        continue;
      }
      throw new MoundError(
        'other-namespace',
        `process ${name.split('-')[0]} of another pid namespace (a container?) has this store open; run both in one namespace, end it first, or go through 'mound serve' there. What tells of it: ${path}`,
        { path, theirs, namespace },
      );
    }
  }
}

function namesIn(dir: string): string[] {
  try {
    return readdirSync(dir);
  } catch {
    return [];
  }
}

function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
