/** A swarm of scripted minds that builds the tiny engine in a new repository. */
import { runSwarm, ScriptedModel, shippedRoles, type GivenTask, type Script } from '@mound/swarm';
import { openRepo } from '@mound/vcs';

import { engineSteps, type EngineStep } from './small-engine.test.kit.ts';

const work: Script = ({ brief }) => {
  const { input } = brief as { readonly input?: unknown };
  const { message, files } = input as EngineStep;
  const changes = Object.entries(files).map(([path, content]) => ({ path, content }));
  return {
    calls: [
      { name: 'commit', arguments: { changes, message } },
      { name: 'finish', arguments: { status: 'done' } },
    ],
  };
};

/** Runs it to its end in a directory that has no repository yet. */
export async function runSmallSwarm(dir: string, runId = 'small'): Promise<void> {
  const repo = await openRepo(dir, { create: true });
  try {
    const { worker } = shippedRoles();
    const tasks = engineSteps.map(({ id, role, ...input }, at): GivenTask => ({
      id: id as GivenTask['id'],
      title: input.message,
      brief: input.message,
      scope: [],
      role,
      input,
      ...(at > 0 && { after: [engineSteps[at - 1]?.id as GivenTask['id']] }),
    }));
    const mind = (name: string): ScriptedModel => new ScriptedModel({ worker: work, 'quick-worker': work }, name);
    const result = await runSwarm({
      repo,
      goal: 'Build an SQL engine that answers a line protocol',
      runId,
      models: { worker: mind('careful'), quick: mind('quick') },
      roles: { 'quick-worker': { ...worker, name: 'quick-worker', model: 'quick' } },
      agentsMax: 1,
      tasks,
    });
    if (result.reason !== 'finished') throw new Error(`the run ended: ${result.reason} ${result.detail ?? ''}`);
  } finally {
    await repo.close();
  }
}
