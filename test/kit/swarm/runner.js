// One process of a swarm with scripted minds, to be killed: argv[2] is JSON. Starts the run, or goes on with it.
import { appendFileSync } from 'node:fs';
import { openRepo } from '../../../packages/vcs/dist/index.js';
import { listRuns, resumeSwarm, runSwarm, ScriptedModel } from '../../../packages/swarm/dist/index.js';
import { minds } from './minds.js';

const options = JSON.parse(process.argv[2] ?? '{}');
const { dir, agents, acknowledged } = options;
const repo = await openRepo(dir);
const model = new ScriptedModel(minds(options));
const common = {
  repo,
  models: { planner: model, worker: model, merger: model },
  agentsMax: agents,
  ...(options.budget && { budget: options.budget }),
  limits: { outputTokensMax: 30, taskAttemptsMax: 5, mergeAttemptsMax: 20, ...options.limits },
  onAcknowledged: (agent, { operationId, outcome, paths }) =>
    appendFileSync(acknowledged, `${JSON.stringify({ agent, operationId, kind: outcome.kind, paths })}\n`),
};
const isKnown = listRuns(repo).some(({ run }) => run === 'chaos');
process.stdout.write('up\n');
const result = isKnown
  ? await resumeSwarm({ ...common, runId: 'chaos' })
  : await runSwarm({ ...common, runId: 'chaos', goal: 'fill every slot' });
process.stdout.write(`${JSON.stringify(result)}\n`);
await repo.close();
