// A process that collects staged objects over and over, with no grace at all, until its standard input ends.
// Arguments: DIR. Writes the number of rounds and of objects removed.
import { openRepo } from '@mound/vcs';

const repo = await openRepo(process.argv[2]);
let isOver = false;
process.stdin.on('end', () => (isOver = true)).resume();
let rounds = 0;
let objects = 0;
process.stdout.write('ready\n');
while (!isOver) {
  objects += (await repo.gc({ graceMs: 0 })).objects;
  rounds++;
  await new Promise((resolve) => setTimeout(resolve, 1));
}
await repo.close();
process.stdout.write(JSON.stringify({ rounds, objects }));
