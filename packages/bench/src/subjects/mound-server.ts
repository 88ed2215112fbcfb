import { openRepo } from '@mound/vcs';
import { RemoteRepo } from '@mound/vcs/client';
import type { ServerAccess } from '@mound/vcs/server';

import { AskedProcess } from '../harness/asked-process.ts';
import { runInFlight } from '../harness/measurement.ts';
import { faultsOfAcknowledged } from './acknowledged-faults.ts';
import { landOperation, seedMound, type SeenVersions } from './mound.ts';
import type { ServeRequest } from './mound-server-process.ts';
import type { PreparedSubject, Subject } from './subject.ts';

/** Mound behind `mound serve`: a process of its own, asked over its Unix socket. */
export const moundServerSubject: Subject = {
  name: 'mound-server',
  durability: 'flushed',
  pace: 'in-flight',
  available: () => Promise.resolve(true),
  prepare: async (files, dir, signal) => {
    const repo = await openRepo(dir, { create: true });
    let seen: SeenVersions;
    try {
      seen = await seedMound(repo, files);
    } finally {
      await repo.close();
    }
    const server = new AskedProcess<ServeRequest>('mound-server', signal);
    try {
      const access = await server.ask<ServerAccess>({ dir });
      return preparedServer(dir, server, new RemoteRepo({ ...access, url: 'http://mound' }), seen);
    } catch (error) {
      await server.close();
      throw error;
    }
  },
};

function preparedServer(
  dir: string,
  server: AskedProcess<ServeRequest>,
  remote: RemoteRepo,
  seen: SeenVersions,
): PreparedSubject {
  return {
    notes: ['mound-server: one request an intent, over a Unix socket; the server is a process of its own'],
    run: (operations, options) =>
      runInFlight(operations, options, async (operation) => {
        await landOperation(remote, operation, seen);
      }),
    verify: async (acknowledged) => {
      // From disk, past the server.
      const repo = await openRepo(dir);
      try {
        const ids = [...repo.log()].flatMap(({ operationId }) => operationId ?? []);
        const snapshot = repo.snapshot();
        return await faultsOfAcknowledged(acknowledged, ids, (path) => snapshot.read(path));
      } finally {
        await repo.close();
      }
    },
    cleanup: async () => {
      remote.close();
      await server.close();
    },
  };
}
