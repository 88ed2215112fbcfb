// One process of a swarm with scripted minds, to be killed: argv[2] is JSON. Starts the run, or goes on with it.
import { appendFileSync } from 'node:fs';
import { openRepo } from '../../../packages/vcs/dist/index.js';
import {
  Endpoints,
  OpenAiModel,
  readRun,
  resumeSwarm,
  runSwarm,
  ScriptedModel,
  serveModel,
} from '../../../packages/swarm/dist/index.js';
import { faultyEndpoint } from './faulty-endpoint.js';
import { minds } from './minds.js';

const options = JSON.parse(process.argv[2] ?? '{}');
const { dir, agents, acknowledged } = options;
const repo = await openRepo(dir);
const model = new ScriptedModel(minds(options));

/** The same minds behind a server that fails now and then. */
async function behindFaults() {
  const served = await serveModel(model);
  const { url, close } = await faultyEndpoint(served.url, options.faults, options.faultEvery);
  const budget = { retriesMax: 1000, retriesPerMinute: 10_000, retriesPerSuccess: 1 };
  const endpoints = new Endpoints({ retryBudget: budget });
  const asking = (role) =>
    new OpenAiModel({
      baseURL: url,
      model: role,
      endpoints,
      idleMs: 300,
      firstMs: 20_000,
      retry: { delayMs: 5, delayMsMax: 100 },
    });
  const models = { planner: asking('planner'), worker: asking('worker'), merger: asking('merger') };
  return { models, close: () => Promise.all([close(), served.close()]) };
}
const direct = { models: { planner: model, worker: model, merger: model }, close: () => undefined };
const { models, close } = options.faults ? await behindFaults() : direct;

const common = {
  repo,
  models,
  agentsMax: agents,
  ...(options.budget && { budget: options.budget }),
  limits: { outputTokensMax: 30, taskAttemptsMax: 5, mergeAttemptsMax: 20, ...options.limits },
  onAcknowledged: (agent, { operationId, outcome, paths }) =>
    appendFileSync(acknowledged, `${JSON.stringify({ agent, operationId, kind: outcome.kind, paths })}\n`),
};
const before = readRun(repo, 'chaos')?.header;
process.stdout.write('up\n');
/** One that was killed between the end of its run and its own has nothing to go on with. */
const hasFinished = before?.state === 'ended' && before.reason === 'finished';
const result = hasFinished
  ? { reason: before.reason }
  : before !== undefined
    ? await resumeSwarm({ ...common, runId: 'chaos' })
    : await runSwarm({ ...common, runId: 'chaos', goal: 'fill every slot' });
process.stdout.write(`${JSON.stringify(result)}\n`);
await close();
await repo.close();
