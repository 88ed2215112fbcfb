// One process of the harness. Its agents read shared files, write their own lines in them, and log each step to a
// file before they go on: what is in the log when the process is killed is what the world was told.
//
// A subject is a module with
//   createSubject(dir, files)  makes a store that holds the files
//   openSubject(dir, reach)    → { read(path) → {version, text} | undefined,
//                                  write({id, writer, changes: [{path, text, seen}], mayMerge})
//                                    → {answer: 'acknowledged', order} | {answer: 'refused'},
//                                  close() }
//   historyOf(dir)             → [{id, version, parents, order, changes: [{path, text, previous}]}], oldest first
//   filesOf(dir)               → Map of path → text at the branch's head
// `order` and `previous` are left out where the subject has none.
//
// Arguments: one JSON object {subject, dir, logFile, name, firstSlot, agents, intents, paths, seed, die?: {step, nth}}.
import { openSync, writeSync } from 'node:fs';
import { seededRandom } from '@mound/vcs';
import { withSlot } from './slots.js';

const options = JSON.parse(process.argv[2]);
const { dir, name, agents, paths, die } = options;
const log = openSync(options.logFile, 'a');
/** The same clock for all processes of the machine. */
const now = () => Number(process.hrtime.bigint());
const note = (line) => writeSync(log, `${JSON.stringify(line)}\n`);

let reached = 0;
const reach = (step) => {
  if (die && step === die.step && ++reached === die.nth) process.kill(process.pid, 'SIGKILL');
};

const { openSubject } = await import(options.subject);
const subject = await openSubject(dir, reach);

async function work(agent) {
  const random = seededRandom(options.seed * 1009 + options.firstSlot + agent);
  const slot = options.firstSlot + agent;
  for (let count = 0; count < options.intents; count++) {
    const id = `${name}-${agent}-${count}`;
    const wanted = paths.filter(() => random.below(paths.length) === 0);
    const targets = wanted.length === 0 ? [paths[random.below(paths.length)]] : wanted;
    const changes = [];
    for (const path of targets) {
      const begun = now();
      const { version, text } = await subject.read(path);
      note({ kind: 'read', path, version, text, begun });
      changes.push({ path, text: withSlot(text, slot, id), seen: version });
    }
    const mayMerge = random.below(2) === 0;
    const begun = now();
    note({ kind: 'begun', id, slot, paths: targets, begun });
    const { answer, order } = await subject.write({ id, writer: `${name}-${agent}`, changes, mayMerge });
    const ended = now();
    note({ kind: answer, id, order, ended });
  }
}

await Promise.all(Array.from({ length: agents }, (_, agent) => work(agent)));
await subject.close();
