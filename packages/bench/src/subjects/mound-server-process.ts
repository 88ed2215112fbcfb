import { openRepo, type Repo } from '@mound/vcs';
import { readServerAccess, serveRepo, type Server, type ServerAccess } from '@mound/vcs/server';

import { answerParent } from '../harness/asked-process.ts';

/** Asks for the repository in `dir` to be served, over a Unix socket. */
export interface ServeRequest {
  readonly dir: string;
}

/** A process that serves a repository until its parent hangs up. */
export async function main(): Promise<void> {
  let served: { readonly repo: Repo; readonly server: Server } | undefined;
  await answerParent(
    async (request): Promise<ServerAccess | undefined> => {
      const repo = await openRepo((request as ServeRequest).dir);
      served = { repo, server: await serveRepo(repo, { port: 0 }) };
      return readServerAccess(repo.dir);
    },
    async () => {
      await served?.server.close();
      await served?.repo.close();
    },
  );
}
