import { expect, test } from 'vitest';
import { World } from './kit/simulation/world.ts';
import { scale, seed } from './kit/seed.ts';
import { tempDir } from './kit/temp.ts';

const waves = 60 * scale;

test.each([0, 1, 2].map((at) => seed * 100 + at))(
  'agents that lose answers, views and handles lose no work (MOUND_SEED decides: %i)',
  async (worldSeed) => {
    const world = new World(tempDir(), worldSeed);
    await world.run(waves);
    const kinds = new Set(world.operations.map(({ first }) => first?.kind));
    // A world in which nothing went wrong would prove nothing.
    expect([...kinds]).toEqual(expect.arrayContaining(['landed', 'merged', 'conflicted']));
  },
);

test('a seed decides everything that happens', async () => {
  const [once, again] = [await new World(tempDir(), seed).run(25), await new World(tempDir(), seed).run(25)];
  expect(again).toEqual(once);
});
