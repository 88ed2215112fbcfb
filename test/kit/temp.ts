import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { absent, openRepo, type Author, type Change, type Repo } from '@mound/vcs';
import { afterAll } from 'vitest';
import { onCleanup } from './cleanups.ts';

export { onCleanup };

export function tempDir(): string {
  const dir = mkdtempSync(join(tmpdir(), 'mound-test-'));
  onCleanup(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

/** A directory that is removed after the last test of the file. */
export function tempDirForAll(): string {
  const dir = mkdtempSync(join(tmpdir(), 'mound-test-'));
  afterAll(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

/** A new repository that is closed and removed after the test. */
export async function tempRepo(dir = tempDir()): Promise<Repo> {
  const repo = await openRepo(dir, { create: true });
  onCleanup(() => repo.close());
  return repo;
}

export const agent = (name: string): Author => ({ name, kind: 'agent', agent: name });
export const setup: Author = { name: 'setup', kind: 'system' };

/** A file that is new. */
export const newFile = (
  path: string,
  content: string,
  more: Partial<Pick<Change & { kind: 'put' }, 'mode' | 'expect'>> = {},
): Change => ({
  kind: 'put',
  path,
  content,
  expect: absent,
  ...more,
});

/** Lands files that are new, by path. */
export async function landNew(repo: Repo, files: Readonly<Record<string, string>>): Promise<void> {
  const changes = Object.entries(files).map(([path, content]) => newFile(path, content));
  const { kind } = await repo.land({ author: setup, message: 'start', changes });
  if (kind !== 'landed') throw new Error(`the files to start from came out as ${kind}`);
}
