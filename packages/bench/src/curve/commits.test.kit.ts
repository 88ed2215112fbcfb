/** A repository with commits by agents, for tests of curves and audits. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

import { any, openRepo, type Author, type Change, type RecordWrite, type Repo } from '@mound/vcs';
import { onTestFinished } from 'vitest';

export async function tempDir(): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'mound-curve-test-'));
  onTestFinished(() => rm(dir, { recursive: true, force: true }));
  return dir;
}

export async function newRepo(): Promise<Repo> {
  const repo = await openRepo(await tempDir(), { create: true });
  onTestFinished(() => repo.close());
  return repo;
}

export const agent = (id: string, model = 'm-1'): Author => ({
  name: id,
  kind: 'agent',
  agent: id,
  role: 'worker',
  model,
});

export interface CommitMore {
  readonly author?: Author;
  readonly message?: string;
  readonly rationale?: string;
  readonly task?: string;
  readonly records?: readonly RecordWrite[];
}

/** Lands files as one commit (null deletes); its seq. */
export async function commit(
  repo: Repo,
  files: Readonly<Record<string, string | null>>,
  { author = agent('worker-1'), message = 'work', ...more }: CommitMore = {},
): Promise<number> {
  const changes = Object.entries(files).map(([path, content]): Change =>
    content === null ? { kind: 'delete', path, expect: any } : { kind: 'put', path, content, expect: any },
  );
  const outcome = await repo.land({ author, message, changes, ...more });
  if (outcome.kind !== 'landed') throw new Error(`it did not land: ${JSON.stringify(outcome)}`);
  return outcome.seq;
}

export async function writeFiles(dir: string, files: Readonly<Record<string, string>>): Promise<void> {
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(dir, path)), { recursive: true });
    await writeFile(join(dir, path), content);
  }
}
