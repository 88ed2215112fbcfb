import type { Hono } from 'hono';
import { streamSSE } from 'hono/streaming';
import { MoundError } from '../core/errors.ts';
import { formatCursor, parseCursor, startCursor, type Cursor } from '../core/event.ts';
import { limits } from '../core/limits.ts';
import type { Repo } from '../repo/api.ts';
import { answer, firstOf, Query, type Env } from './answers.ts';

const eventsUsual = 1000;
/** A comment so often tells proxies and the reader that the stream is alive. */
const beatMs = 15_000;

function cursorOf(text: string | undefined): Cursor {
  const cursor = text === undefined ? startCursor : parseCursor(text);
  if (cursor !== undefined) return cursor;
  throw new MoundError('invalid-argument', `'${text}' is no cursor; use SEQ or SEQ:INDEX`);
}

/** The feed: as a list, and as server-sent events that go on. `ended` aborts all streams. */
export function addFollowing(app: Hono<Env>, repo: Repo, ended: AbortSignal): void {
  let followers = 0;

  app.get('/v1/events', (request) => {
    request.get('access').mustReadAll();
    const query = new Query(request, ['from', 'limit']);
    const isStream = request.req.header('accept')?.includes('text/event-stream') === true;
    const from = cursorOf(request.req.header('last-event-id') ?? query.text('from'));
    if (!isStream) {
      const limit = Math.min(limits.rowsPerAnswerMax, query.count('limit') ?? eventsUsual);
      const { rows, hasMore } = firstOf(repo.events(from), limit);
      return answer({ events: rows, next: formatCursor(rows.at(-1) ?? from), hasMore });
    }
    if (followers >= limits.followersMax) {
      return answer({ error: 'overloaded', message: `${followers} readers follow this server already` }, 503);
    }
    followers++;
    return streamSSE(request, async (stream) => {
      const stop = new AbortController();
      stream.onAbort(() => stop.abort());
      const signal = AbortSignal.any([stop.signal, ended]);
      const beat = setInterval(() => void stream.write(':\n\n').catch(() => undefined), beatMs);
      try {
        for await (const event of repo.follow(from, signal)) {
          await stream.writeSSE({ id: formatCursor(event), event: event.kind, data: JSON.stringify(event) });
        }
      } finally {
        clearInterval(beat);
        followers--;
      }
    });
  });
}
