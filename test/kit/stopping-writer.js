// A writer in a process of its own that stops itself (SIGSTOP) at a named moment of
// its second landing, and goes on landing when it is let go on. Arguments: DIR MOMENT.
import { openRepo } from '@mound/vcs';

const [dir, moment] = process.argv.slice(2);
const author = { name: 'stopping', kind: 'agent' };
const repo = await openRepo(dir);
await repo.put('stopping/before.txt', 'x\n', { author });

let isArmed = true;
function stopAt(here) {
  if (!isArmed || here !== moment) return;
  isArmed = false;
  process.stdout.write('stopping\n');
  process.kill(process.pid, 'SIGSTOP');
}

const { store } = repo;
const transact = store.transact.bind(store);
store.transact = (write) => {
  const value = transact((counters) => {
    stopAt('begun');
    const written = write(counters);
    stopAt('written');
    return written;
  });
  stopAt('flushed');
  return value;
};

const outcome = await repo.put('stopping/stopped.txt', 'x\n', { author });
process.stdout.write(`${outcome.kind}\n`);
await repo.close();
