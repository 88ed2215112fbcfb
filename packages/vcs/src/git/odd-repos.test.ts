import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { openRepo } from '../repo/open.ts';
import { exportGit } from './export.ts';
import { git, refsOf, removeTemporaries, temporaryDir } from './git-fixtures.test.kit.ts';
import { importGit } from './import.ts';
import { OddRepo } from './odd-repo.test.kit.ts';

afterEach(removeTemporaries);

const seed = Number(process.env['MOUND_SEED'] ?? 1);
const scale = Number(process.env['MOUND_SCALE'] ?? 1);

/** Which of some objects a repository has, as `id type`. */
function having(dir: string, objects: readonly string[]): string[] {
  const asked = objects.map((line) => `${line.split(' ')[0] ?? ''}\n`).join('');
  return git(dir, ['cat-file', '--batch-check=%(objectname) %(objecttype)'], asked).split('\n');
}

/** Whether git finds its way to what a ref names: not through a tag that it takes for cut off. */
const isReadable = (dir: string, line: string): boolean =>
  !having(dir, [`${line.slice(0, 40)}^{}`]).some((answer) => answer.endsWith('missing'));

test.each([
  ['odd', false],
  ['malformed', true],
])(
  '%s repositories come back object by object',
  async (_kind, isBad) => {
    for (let round = 0; round < 8 * scale; round++) {
      const source = new OddRepo(seed * 10_000 + round, isBad);
      const { dir } = source;
      const repo = await openRepo(temporaryDir(), { create: true });
      const target = join(temporaryDir(), 'out.git');
      try {
        const { skippedRefs } = await importGit(repo, dir);
        await exportGit(repo, target);
        const refs = refsOf(dir).filter((line) => isReadable(dir, line));
        const broken = refsOf(dir).filter((line) => !isReadable(dir, line));
        expect({ round, skippedRefs }).toEqual({ round, skippedRefs: broken.map((line) => line.slice(41)) });
        expect({ round, refs: refsOf(target) }).toEqual({ round, refs });
        const objects = source.reachable(refs.map((line) => line.slice(0, 40)));
        expect({ round, objects: having(target, objects) }).toEqual({ round, objects });
        expect([round, existsSync(join(target, 'shallow'))]).toEqual([round, false]);
        expect({ round, errors: repo.fsck().errors }).toEqual({ round, errors: [] });
      } finally {
        await repo.close();
      }
    }
  },
  600_000,
);
