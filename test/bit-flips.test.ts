import { fsckRepo, openRepo, seededRandom, steppingClock } from '@mound/vcs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { run } from './kit/process.ts';
import { RandomHistory } from './kit/random-history.ts';
import { tempDir } from './kit/temp.ts';

const script = fileURLToPath(new URL('kit/flips.js', import.meta.url));
/** Tried by hand with thousands; see also `docs/spec/storage-format.md`. */
const flipsCount = Number(process.env['MOUND_FLIPS'] ?? 120);

test('a flipped bit is found by fsck or changes no row; it kills no process and gives no wrong bytes', async () => {
  const dir = tempDir();
  const repo = await openRepo(dir, { create: true, clock: steppingClock(1_700_000_000_000) });
  await new RandomHistory(repo, seededRandom(11)).run(120);
  await repo.close();
  expect(await fsckRepo(dir)).toMatchObject({ ok: true, errors: [] });

  const { code, signal, stdout, stderr } = await run(process.execPath, [script, dir, '1', String(flipsCount)]);
  expect({ code, signal, last: stderr.trim().split('\n').at(-1) }).toMatchObject({ code: 0, signal: null });
  const { tally, troubles } = JSON.parse(stdout) as { tally: Record<string, number>; troubles: object[] };
  expect(troubles).toEqual([]);
  // Flips of every sort were met.
  expect(Object.keys(tally).toSorted()).toEqual(
    expect.arrayContaining(['clean', 'corrupt-store', 'index-wrong', 'page-damaged']),
  );
});
