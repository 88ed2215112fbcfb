// Runs the tests that draw at random again and again, larger and with a new seed a round, one round at a time:
//   npm run soak -- [--minutes N] [--scale N] [--seed FIRST]
// Progress goes to stderr; the last line of stdout is `N rounds, N failed`. Exit code 1 where a round failed.
import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';

const vitest = join(dirname(createRequire(import.meta.url).resolve('vitest/package.json')), 'vitest.mjs');
const suites = ['simulation', 'model', 'model-whole', 'rebuild', 'linearizability', 'crash-sweep', 'swarm-chaos'];

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '10' },
    scale: { type: 'string', default: '3' },
    seed: { type: 'string', default: String(1 + (Date.now() % 1_000_000)) },
  },
});
const [minutes, scale, first] = [values.minutes, values.scale, values.seed].map(Number);
if (![minutes, scale, first].every((number) => Number.isFinite(number) && number > 0)) {
  process.stderr.write('--minutes, --scale and --seed take positive numbers\n');
  process.exit(2);
}

let running;
let isStopped = false;
for (const signal of ['SIGINT', 'SIGTERM']) {
  process.on(signal, () => {
    isStopped = true;
    running?.kill(signal);
  });
}

/** One suite with one seed, in a process of its own; its output only where it fails. */
function runSuite(suite, seed) {
  const env = { ...process.env, MOUND_SEED: String(seed), MOUND_SCALE: String(scale) };
  const args = [vitest, 'run', `test/${suite}.test.ts`];
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  running = child;
  return new Promise((resolve, reject) => {
    const output = [];
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (bytes) => output.push(bytes));
    child.once('error', reject);
    child.once('close', (code) => resolve({ isSound: code === 0, output: Buffer.concat(output).toString('utf8') }));
  });
}

const deadline = Date.now() + minutes * 60_000;
let rounds = 0;
let failed = 0;
for (let seed = first; !isStopped && Date.now() < deadline; seed++) {
  rounds++;
  let isSound = true;
  for (const suite of suites) {
    const begun = Date.now();
    const result = await runSuite(suite, seed);
    if (isStopped) break;
    const seconds = ((Date.now() - begun) / 1000).toFixed(0);
    process.stderr.write(`seed ${seed}: ${suite} ${result.isSound ? 'sound' : 'FAILED'} in ${seconds} s\n`);
    if (result.isSound) continue;
    isSound = false;
    process.stderr.write(result.output);
    const again = `MOUND_SEED=${seed} MOUND_SCALE=${scale} npx vitest run test/${suite}.test.ts`;
    process.stderr.write(`to repeat it: ${again}\n`);
  }
  if (!isSound) failed++;
}
process.stdout.write(`${rounds} rounds, ${failed} failed\n`);
process.exitCode = failed > 0 ? 1 : isStopped ? 130 : 0;
