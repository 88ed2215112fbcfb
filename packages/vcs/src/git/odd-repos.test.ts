import { spawnSync } from 'node:child_process';
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

/** What git finds of these objects, as `type id: error`; what it finds in `.gitmodules` aside. */
function fsckErrors(dir: string, objects: readonly string[]): string[] {
  const ids = new Set(objects.map((line) => line.slice(0, 40)));
  const { stderr } = spawnSync('git', ['fsck', '--no-dangling'], { cwd: dir, encoding: 'latin1' });
  const found = [...stderr.matchAll(/^error in (\w+) (\w{40}): (\w+): /gm)];
  return found
    .filter(([, , id = '', fault = '']) => ids.has(id) && !fault.startsWith('gitmodules'))
    .map(([, type = '', id = '', fault = '']) => `${type} ${id}: ${fault}`);
}

/** Of a date that git cannot take not every git says the same. */
const isDate = (line: string): boolean => line.includes('badDate');

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
        const { skippedRefs, malformed } = await importGit(repo, dir);
        await exportGit(repo, target);
        const refs = refsOf(dir).filter((line) => isReadable(dir, line));
        const broken = refsOf(dir).filter((line) => !isReadable(dir, line));
        expect({ round, skippedRefs }).toEqual({ round, skippedRefs: broken.map((line) => line.slice(41)) });
        expect({ round, refs: refsOf(target) }).toEqual({ round, refs });
        const objects = source.reachable(refs.map((line) => line.slice(0, 40)));
        expect({ round, objects: having(target, objects) }).toEqual({ round, objects });
        // Of a tree git may tell several: one of them is told here.
        const errors = fsckErrors(dir, objects);
        const named = (lines: readonly string[]): string[] =>
          [...new Set(lines.map((line) => line.split(':')[0] ?? ''))].toSorted();
        expect({ round, malformed: named(malformed) }).toEqual({ round, malformed: named(errors) });
        expect({ round, others: malformed.filter((line) => !errors.includes(line) && !isDate(line)) }).toEqual({
          round,
          others: [],
        });
        expect([round, (await importGit(repo, dir)).malformed.toSorted()]).toEqual([round, malformed.toSorted()]);
        expect([round, existsSync(join(target, 'shallow'))]).toEqual([round, false]);
        expect({ round, errors: repo.fsck().errors }).toEqual({ round, errors: [] });
      } finally {
        await repo.close();
      }
    }
  },
  600_000,
);
