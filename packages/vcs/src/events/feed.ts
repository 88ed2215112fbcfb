import { watch, type FSWatcher } from 'node:fs';
import type { Cursor, RepoEvent } from '../core/event.ts';
import { SignalHistory } from '../land/signal-history.ts';
import type { LogReader } from '../log/log-reader.ts';
import { eventsOf } from './project.ts';

/** How long a follower sleeps at most when no hint reaches it. */
const pollMs = 100;
/** Entries read in one go before other work gets its turn. */
const chunkCount = 256;

/** The ordered stream of the repo's events. */
export class Feed {
  private readonly reader: LogReader;
  private readonly signals: SignalHistory;
  private readonly waiting = new Set<() => void>();
  private watcher: FSWatcher | undefined;
  private followers = 0;

  constructor(reader: LogReader) {
    this.reader = reader;
    this.signals = new SignalHistory(reader);
  }

  /** Something was appended in this process. */
  readonly advanced = (): void => {
    for (const wake of this.waiting) wake();
  };

  *events(from: Cursor): Generator<RepoEvent> {
    this.reader.store.refresh();
    this.signals.refresh();
    const { lastSeq } = this.reader.store.counters;
    for (let seq = Math.max(1, from.seq); seq <= lastSeq; seq++) {
      for (const event of eventsOf(this.reader, this.reader.mustGetEntry(seq), this.signals)) {
        if (seq > from.seq || event.index > from.index) yield event;
      }
    }
  }

  async *follow(from: Cursor, signal: AbortSignal | undefined): AsyncGenerator<RepoEvent> {
    let cursor = from;
    this.enter();
    try {
      while (!signal?.aborted && this.reader.store.isOpen) {
        let count = 0;
        for (const event of this.events(cursor)) {
          if (signal?.aborted) return;
          yield event;
          if (!this.reader.store.isOpen) return;
          cursor = { seq: event.seq, index: event.index };
          if (++count === chunkCount) break;
        }
        if (count === 0) await this.sleep(signal);
      }
    } finally {
      this.leave();
    }
  }

  private enter(): void {
    this.followers++;
    if (this.watcher !== undefined) return;
    try {
      this.watcher = watch(this.reader.store.wakeFile, { persistent: false }, this.advanced);
      this.watcher.on('error', () => undefined);
    } catch {
      // The poll alone serves where the system has no watches left.
    }
  }

  private leave(): void {
    this.followers--;
    if (this.followers > 0) return;
    this.watcher?.close();
    this.watcher = undefined;
  }

  private async sleep(signal: AbortSignal | undefined): Promise<void> {
    await new Promise<void>((resolve) => {
      const done = (): void => {
        clearTimeout(timer);
        this.waiting.delete(done);
        signal?.removeEventListener('abort', done);
        resolve();
      };
      const timer = setTimeout(done, pollMs);
      this.waiting.add(done);
      signal?.addEventListener('abort', done);
    });
  }
}
