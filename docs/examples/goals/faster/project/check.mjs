import assert from 'node:assert';
import { pairsWithSum } from './pairs.mjs';

assert.equal(pairsWithSum([], 1), 0);
assert.equal(pairsWithSum([1, 2, 3, 4], 5), 2);
assert.equal(pairsWithSum([2, 2, 2], 4), 3);
assert.equal(pairsWithSum([-1, 1, 0, 0], 0), 2);
