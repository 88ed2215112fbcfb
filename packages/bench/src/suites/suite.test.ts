import { expect, test } from 'vitest';

import { parametersOf as commitParametersOf } from './commit/parameters.ts';
import { contentionParametersOf } from './contention/parameters.ts';
import { coordinationParametersOf } from './coordination/parameters.ts';
import { mergesParametersOf } from './merges/parameters.ts';
import { swarmLoadRunOf } from './swarm-load/parameters.ts';
import { ownValues, type SuiteSize } from './suite.ts';

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

test('a full run has its negative controls, whatever else it has', () => {
  for (const parametersOf of [commitParametersOf, contentionParametersOf, mergesParametersOf]) {
    const isOn = (size: SuiteSize, values: object): boolean => parametersOf(size, { ...values }).control;
    expect([isOn('quick', {}), isOn('full', {}), isOn('quick', { control: true })]).toEqual([false, true, true]);
    const { subjects } = parametersOf('full', {});
    expect(subjects.length).toBeGreaterThan(parametersOf('quick', {}).subjects.length);
  }
});
