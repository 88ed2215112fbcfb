import { startCursor, type Cursor, type Repo, type RepoEvent } from '@mound/vcs';

/** Follows the feed, across handles: where one ends the next goes on behind the last event that was seen. */
export class Follower {
  readonly seen: RepoEvent[] = [];
  private stop = new AbortController();
  private running: Promise<void> = Promise.resolve();

  start(repo: Repo): void {
    this.stop = new AbortController();
    this.running = this.run(repo, this.stop.signal);
  }

  private async run(repo: Repo, signal: AbortSignal): Promise<void> {
    for await (const event of repo.follow(this.cursor, signal)) {
      const last = this.cursor;
      const isNext = event.seq === last.seq ? event.index === last.index + 1 : event.seq === last.seq + 1;
      if (!isNext) throw new Error(`the feed gave ${event.seq}:${event.index} after ${last.seq}:${last.index}`);
      this.seen.push(event);
    }
  }

  private get cursor(): Cursor {
    return this.seen.at(-1) ?? startCursor;
  }

  async pause(): Promise<void> {
    this.stop.abort();
    await this.running;
  }

  async caughtUp(count: number): Promise<void> {
    const waiting = async (): Promise<void> => {
      while (this.seen.length < count && !this.stop.signal.aborted) {
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
    };
    await Promise.race([waiting(), this.running]);
  }
}
