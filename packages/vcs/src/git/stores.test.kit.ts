import { openRepo } from '../repo/open.ts';
import { FakeRepo, type GitRepo } from './fake-repo.test.kit.ts';
import { temporaryDir } from './git-fixtures.test.kit.ts';

/** Both stores that every history must pass through. */
export const stores: readonly (readonly [string, () => Promise<GitRepo>])[] = [
  ['the fake', async () => new FakeRepo()],
  ['the store', () => openRepo(temporaryDir(), { create: true })],
];
