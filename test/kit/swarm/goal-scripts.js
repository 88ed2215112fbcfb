// Minds without a model for the example goals: each writes what a good worker would, and says that it is done.
const call = (name, input) => ({ name, arguments: input });

const coverage = [
  "import assert from 'node:assert';",
  "import test from 'node:test';",
  "import { fromRoman, toRoman } from '../src/roman.mjs';",
  '',
  "test('back and forth', () => {",
  '  for (let number = 1; number < 40; number++) assert.equal(fromRoman(toRoman(number)), number);',
  '  assert.throws(() => toRoman(0), RangeError);',
  "  assert.throws(() => fromRoman('Q'), RangeError);",
  '});',
  '',
].join('\n');

const faster = [
  '/** How many pairs of numbers have this sum. */',
  'export function pairsWithSum(numbers, sum) {',
  '  const seen = new Map();',
  '  let count = 0;',
  '  for (const number of numbers) {',
  '    count += seen.get(sum - number) ?? 0;',
  '    seen.set(number, (seen.get(number) ?? 0) + 1);',
  '  }',
  '  return count;',
  '}',
  '',
].join('\n');

const names = [
  'Hydrogen',
  'Helium',
  'Lithium',
  'Beryllium',
  'Boron',
  'Carbon',
  'Nitrogen',
  'Oxygen',
  'Fluorine',
  'Neon',
];
const symbols = ['H', 'He', 'Li', 'Be', 'B', 'C', 'N', 'O', 'F', 'Ne'];
const rows = names.map((name, at) => `${JSON.stringify({ symbol: symbols[at], name, number: at + 1 })}\n`);

/** The worker of a goal: a first try that its check refuses, then one that it takes. */
const workers = {
  coverage: [['test/roman.test.mjs', coverage.replace('number < 40', 'number < 41'), coverage]],
  faster: [['pairs.mjs', faster.replace('?? 0;', '?? 1;'), faster]],
  'checked-data': [['elements.jsonl', rows.slice(0, 9).join(''), rows.join('')]],
};

const scriptOf = ([[path, wrong, right]]) => ({
  worker: ({ turn }) => {
    if (turn > 1) return { calls: [call('finish', { status: 'blocked' })] };
    const read = path === 'pairs.mjs' && turn === 0 ? { expect: 1 } : {};
    return {
      calls: [
        call('write', { path, content: turn === 0 ? wrong : right, ...read }),
        call('finish', { status: 'done' }),
      ],
    };
  },
});

// The name of the goal stands in the environment of the command.
export default scriptOf(workers[process.env.MOUND_GOAL]);
