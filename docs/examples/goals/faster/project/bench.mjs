import { pairsWithSum } from './pairs.mjs';

const numbers = Array.from({ length: 4000 }, (_, at) => (at * 7919) % 10007);
const from = performance.now();
pairsWithSum(numbers, 10007);
console.log((performance.now() - from).toFixed(3));
