// A swarm whose check of green takes its time, to be killed while it looks: argv[2] is JSON. Starts the run, or goes on.
import { openRepo } from '../../../packages/vcs/dist/index.js';
import { listRuns, resumeSwarm, runSwarm, ScriptedModel } from '../../../packages/swarm/dist/index.js';

const { dir, place, command } = JSON.parse(process.argv[2] ?? '{}');
const repo = await openRepo(dir);
const put = (path, content) => ({ name: 'commit', arguments: { changes: [{ path, content }], message: path } });
const finish = { name: 'finish', arguments: { status: 'done' } };
const model = new ScriptedModel({
  planner: ({ turn }) =>
    turn > 0
      ? { calls: [finish] }
      : {
          calls: [
            { name: 'delegate', arguments: { tasks: ['fine', 'broken'].map((id) => ({ id, title: id })) } },
            { name: 'wait', arguments: {} },
          ],
        },
  worker: ({ brief: { task } }) =>
    task.id.startsWith('mend-')
      ? { calls: [put('broken', 'fine\n'), finish] }
      : { calls: [put(task.id, `${task.id}\n`), finish] },
});
const common = {
  repo,
  models: { planner: model, worker: model },
  agentsMax: 1,
  commands: { directory: place, environment: { PATH: process.env.PATH } },
  policy: { green: { command, everyCommits: 100, everyMs: 600_000, policy: 'task', runs: 1 } },
  onEvent: ({ kind, seq }) => kind.startsWith('green.') && process.stdout.write(`${kind} ${seq ?? ''}\n`),
};
const isKnown = listRuns(repo).some(({ run }) => run === 'r1');
const result = isKnown
  ? await resumeSwarm({ ...common, runId: 'r1' })
  : await runSwarm({ ...common, runId: 'r1', goal: 'g' });
process.stdout.write(`${JSON.stringify(result)}\n`);
await repo.close();
