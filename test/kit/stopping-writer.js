// A writer in a process of its own that stops itself (SIGSTOP) at a named step of its
// second landing, and goes on landing when it is let go on. Arguments: DIR STEP.
import { openRepo } from '@mound/vcs';

const [dir, stepToStopAt] = process.argv.slice(2);
const author = { name: 'stopping', kind: 'agent' };
let isArmed = false;
const steps = {
  reach(step) {
    if (!isArmed || step !== stepToStopAt) return;
    isArmed = false;
    process.stdout.write('stopping\n');
    process.kill(process.pid, 'SIGSTOP');
  },
};
const repo = await openRepo(dir, { steps });
await repo.put('stopping/before.txt', 'x\n', { author });
isArmed = true;
const outcome = await repo.put('stopping/stopped.txt', 'x\n', { author });
process.stdout.write(`${outcome.kind}\n`);
await repo.close();
