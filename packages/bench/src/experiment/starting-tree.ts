import { lstatSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';

import { absent, type Author, type Repo } from '@mound/vcs';

const seeder: Author = { name: 'experiment', kind: 'system' };
/** Files of one commit. */
const groupMax = 2000;

/** A directory that becomes files of the repository, below `at`. */
export interface Seed {
  readonly dir: string;
  readonly at: string;
  readonly message: string;
}

/** Lands the files that every arm begins with. Links and what is no file are left out. */
export async function seedRepo(repo: Repo, seeds: readonly Seed[]): Promise<void> {
  for (const { dir, at, message } of seeds) {
    const changes = filesBelow(dir).map((file) => {
      const path = [at, ...relative(dir, file).split(sep)].filter((step) => step !== '').join('/');
      const mode = lstatSync(file).mode & 0o100 ? ('executable' as const) : ('file' as const);
      return { kind: 'put', path, content: readFileSync(file), mode, expect: absent } as const;
    });
    for (let from = 0; from < changes.length; from += groupMax) {
      const outcome = await repo.land({ author: seeder, message, changes: changes.slice(from, from + groupMax) });
      if (outcome.kind !== 'landed') throw new Error(`the starting tree came to ${outcome.kind}, not to a commit`);
    }
  }
}

/** In the order of their paths, so that every arm has the same log. */
function filesBelow(dir: string): string[] {
  return readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter(
      (file) =>
        !relative(dir, file)
          .split(sep)
          .some((step) => step === '.git' || step === '.mound'),
    )
    .toSorted((a, b) => (a < b ? -1 : 1));
}
