// The subject that must fail: git in JavaScript has no lock, so processes that commit to one branch at once lose
// one another's commits without a word. It shows that the harness can fail.
import fs from 'node:fs';
import { commit, init, log, readBlob, readTree, resolveRef, writeBlob, writeTree } from 'isomorphic-git';

const branch = 'main';
const gitDirOf = (dir) => `${dir}/repo.git`;

const textAt = async (gitdir, oid, filepath) => {
  try {
    const { blob } = await readBlob({ fs, gitdir, oid, filepath });
    return Buffer.from(blob).toString('utf8');
  } catch (error) {
    if (error.code === 'NotFoundError') return undefined;
    throw error;
  }
};

/** The whole tree with some files replaced; all files stand at the top. */
async function treeWith(gitdir, head, changes) {
  const entries = new Map();
  if (head !== undefined) {
    const { tree } = await readTree({ fs, gitdir, oid: head });
    for (const entry of tree) entries.set(entry.path, entry);
  }
  for (const { path, text } of changes) {
    const oid = await writeBlob({ fs, gitdir, blob: Buffer.from(text) });
    entries.set(path, { mode: '100644', path, oid, type: 'blob' });
  }
  return writeTree({ fs, gitdir, tree: [...entries.values()] });
}

async function commitTree(gitdir, head, { id, writer, changes }) {
  const tree = await treeWith(gitdir, head, changes);
  const author = { name: writer, email: `${writer}@example.invalid` };
  const parent = head === undefined ? [] : [head];
  return commit({ fs, gitdir, ref: `refs/heads/${branch}`, parent, tree, author, message: id });
}

/** A ref is not rewritten in one step: who comes in between finds an empty file and looks again. */
async function headOf(gitdir) {
  for (let look = 1; ; look++) {
    try {
      return await resolveRef({ fs, gitdir, ref: `refs/heads/${branch}` });
    } catch (error) {
      if (error.code !== 'NotFoundError' || look === 200) throw error;
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
  }
}

export async function openSubject(dir) {
  const gitdir = gitDirOf(dir);
  const head = () => headOf(gitdir);
  return {
    read: async (path) => {
      const oid = await head();
      const text = await textAt(gitdir, oid, path);
      return text === undefined ? undefined : { version: oid, text };
    },
    write: async (intent) => {
      await commitTree(gitdir, await head(), intent);
      return { answer: 'acknowledged' };
    },
    close: async () => undefined,
  };
}

export async function historyOf(dir) {
  const gitdir = gitDirOf(dir);
  const commits = (await log({ fs, gitdir, ref: branch })).toReversed();
  return Promise.all(
    commits.map(async ({ oid, commit: { message, parent, tree } }) => {
      const { tree: before } = parent[0] === undefined ? { tree: [] } : await readTree({ fs, gitdir, oid: parent[0] });
      const { tree: after } = await readTree({ fs, gitdir, oid: tree });
      const changed = after.filter(
        (entry) => !before.some(({ path, oid: old }) => path === entry.path && old === entry.oid),
      );
      const changes = await Promise.all(
        changed.map(async ({ path }) => ({ path, text: await textAt(gitdir, oid, path) })),
      );
      return { id: message.trim(), version: oid, parents: parent, changes };
    }),
  );
}

export async function filesOf(dir) {
  const gitdir = gitDirOf(dir);
  const oid = await headOf(gitdir);
  const { tree } = await readTree({ fs, gitdir, oid });
  const texts = await Promise.all(tree.map(async ({ path }) => [path, await textAt(gitdir, oid, path)]));
  return new Map(texts);
}

export async function createSubject(dir, files) {
  const gitdir = gitDirOf(dir);
  await init({ fs, gitdir, bare: true, defaultBranch: branch });
  const changes = [...files].map(([path, text]) => ({ path, text }));
  await commitTree(gitdir, undefined, { id: 'setup', writer: 'setup', changes });
}
