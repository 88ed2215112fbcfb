import { expect, test } from 'vitest';

import { coordinationParametersOf } from './coordination/parameters.ts';
import { swarmLoadRunOf } from './swarm-load/parameters.ts';
import { ownValues } from './suite.ts';

test('only a suite’s own options reach its load: a result names no directory', () => {
  const options = [
    { flags: '--think-ms <n>', description: '' },
    { flags: '--no-record', description: '' },
  ];
  const values = { thinkMs: 3, record: false, json: true, quick: true, dir: '/home/somebody' };
  expect(ownValues(options, values)).toEqual({ thinkMs: 3, record: false });
  for (const parametersOf of [swarmLoadRunOf, coordinationParametersOf]) {
    const parameters = parametersOf('quick', values);
    expect(parameters).toMatchObject({ thinkMs: 3 });
    expect(parameters).not.toHaveProperty('dir');
    expect(parameters).not.toHaveProperty('json');
  }
});
