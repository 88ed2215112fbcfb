// One run on several processes, as a program that can be killed: `node many-processes.js OPTIONS`.
import { openRepo } from '@mound/vcs';
import { resumeSwarm, runSwarm } from '@mound/swarm';
import { modelsOf } from './hand-module.js';

const { repo: dir, count, processes, options, resume } = JSON.parse(process.argv[2]);
const repo = await openRepo(dir);
const parts = {
  repo,
  runId: 'r1',
  models: modelsOf(options),
  agentsMax: count,
  processes: { count: processes, module: new URL('hand-module.js', import.meta.url).pathname, options },
};
const tasks = Array.from({ length: count }, (_, at) => ({ id: `t${at}`, title: 't', scope: [], brief: '' }));
const result = await (resume ? resumeSwarm(parts) : runSwarm({ ...parts, goal: 'g', tasks }));
await repo.close();
console.log(JSON.stringify(result));
