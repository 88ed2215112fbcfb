// Loaded before everything else (`node --require`): counts the calls that reach
// blake3-wasm and piscina, and writes the counts to $MOUND_PROBE at exit.
const { writeFileSync } = require('node:fs');

const counts = { hashes: 0, pooled: 0 };

const blake3 = require('blake3-wasm');
const hash = blake3.hash;
Object.defineProperty(blake3, 'hash', {
  enumerable: true,
  value: (...args) => {
    counts.hashes++;
    return hash(...args);
  },
});

const { Piscina } = require('piscina');
// oxlint-disable-next-line unbound-method -- called with its pool below
const run = Piscina.prototype.run;
Piscina.prototype.run = function counted(...args) {
  counts.pooled++;
  return run.apply(this, args);
};

process.on('exit', () => writeFileSync(`${process.env.MOUND_PROBE}.${process.pid}`, JSON.stringify(counts)));
