// The subject that must pass. See `process.js` for what a subject is.
import { absent, openRepo, version } from '@mound/vcs';

const kinds = new Map([
  ['landed', 'acknowledged'],
  ['merged', 'acknowledged'],
  ['rejected', 'refused'],
]);

export async function openSubject(dir, reach) {
  const repo = await openRepo(dir, { steps: { reach } });
  const read = (snapshot, path) => {
    const head = snapshot.head(path);
    return head && { version: head.version, text: snapshot.readText(path) };
  };
  return {
    read: async (path) => read(repo.snapshot(), path),
    write: async ({ id, writer, changes, mayMerge }) => {
      const outcome = await repo.land({
        author: { name: writer, kind: 'agent' },
        message: id,
        operationId: id,
        onStale: mayMerge ? 'merge' : 'reject',
        changes: changes.map(({ path, text, seen }) => ({
          kind: 'put',
          path,
          content: text,
          expect: seen === undefined ? absent : version(seen),
        })),
      });
      const answer = kinds.get(outcome.kind);
      if (answer === undefined) throw new Error(`${id} came to ${JSON.stringify(outcome)}`);
      return answer === 'refused' ? { answer } : { answer, order: outcome.seq };
    },
    close: () => repo.close(),
  };
}

/** Every landing that the branch holds, oldest first. */
export async function historyOf(dir) {
  const repo = await openRepo(dir);
  try {
    const views = [...repo.log()].toReversed();
    return views.map((view) => ({
      id: view.message,
      version: view.commit,
      parents: view.parents,
      order: view.seq,
      changes: view.changes.map(({ path, previous }) => ({
        path,
        text: repo.snapshot(view.seq).readText(path),
        previous,
      })),
    }));
  } finally {
    await repo.close();
  }
}

/** Files at the branch's head. */
export async function filesOf(dir) {
  const repo = await openRepo(dir);
  try {
    const snapshot = repo.snapshot();
    return new Map(snapshot.list().map(({ path }) => [path, snapshot.readText(path)]));
  } finally {
    await repo.close();
  }
}

export async function createSubject(dir, files) {
  const repo = await openRepo(dir, { create: true });
  const changes = [...files].map(([path, content]) => ({ kind: 'put', path, content, expect: absent }));
  await repo.land({ author: { name: 'setup', kind: 'system' }, message: 'setup', changes });
  await repo.close();
}
