// Runs the scenario and dies by SIGKILL when a named step is reached for the nth time; without a name it counts how
// often each is reached, as one line of JSON. Arguments: DIR NOTES_FILE [STEP NTH].
import { openSync, writeSync } from 'node:fs';
import { runScenario } from './scenario.js';

const [dir, notesFile, step, nth] = process.argv.slice(2);
const notes = openSync(notesFile, 'a');
const counts = {};
const reach = (name) => {
  counts[name] = (counts[name] ?? 0) + 1;
  if (name === step && counts[name] === Number(nth)) process.kill(process.pid, 'SIGKILL');
};
await runScenario(dir, { steps: { reach } }, (line) => writeSync(notes, `${JSON.stringify(line)}\n`));
process.stdout.write(JSON.stringify(counts));
