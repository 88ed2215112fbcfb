import { Hono } from 'hono';
import type { Repo } from '../repo/api.ts';
import { Access } from './access.ts';
import { answer, answerError, type Env } from './answers.ts';
import { addCommanding, type ServedCommand } from './commanding.ts';
import { addFollowing } from './following.ts';
import { addReading } from './reading.ts';
import type { Doorkeeper } from './tokens.ts';
import { addView } from './view.ts';
import { addWriting } from './writing.ts';

export interface AppOptions {
  readonly doorkeeper: Doorkeeper;
  /** Ends all that follow. */
  readonly ended: AbortSignal;
  /** The `mound` command for `/v1/command`; undefined: there is none. */
  readonly command: ServedCommand | undefined;
  /** Told of faults that are no caller's. */
  readonly onFault: (error: unknown) => void;
}

const bearer = /^Bearer +(\S+)$/i;

/** The server's answers: a function of the repository and the request alone. */
export function appOf(repo: Repo, { doorkeeper, ended, command, onFault }: AppOptions): Hono<Env> {
  const app = new Hono<Env>();
  app.onError((error) => {
    const response = answerError(error);
    if (response.status === 500) onFault(error);
    return response;
  });
  app.notFound((request) =>
    answer({ error: 'no-such-request', message: `there is no ${request.req.method} ${request.req.path} here` }, 404),
  );
  addView(app);
  app.use('/v1/*', async (request, next) => {
    const secret = bearer.exec(request.req.header('authorization') ?? '')?.[1];
    request.set('access', new Access(doorkeeper.admit(secret)));
    await next();
    request.header('cache-control', 'no-store');
  });
  addReading(app, repo);
  addWriting(app, repo);
  addFollowing(app, repo, ended);
  if (command !== undefined) addCommanding(app, repo.dir, command);
  return app;
}
