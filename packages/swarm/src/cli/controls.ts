import { userInfo } from 'node:os';
import { Option, type Command } from 'commander';
import type { Author } from '@mound/vcs';
import { approved } from '../runtime/approvals.ts';
import { sendControl, type Control } from '../runtime/control.ts';
import type { RunView } from '../runtime/run-view.ts';
import { runNamed, withRepo } from './named-run.ts';
import { stateOf } from './run-views.ts';
import { UsageError } from './usage-error.ts';

interface ControlFlags {
  readonly repo: string;
  readonly json?: true;
}

/** Commands that ask something of a run, which another process runs. */
export function addControls(program: Command): void {
  const add = (name: string, says: string, ...words: readonly string[]): Command => {
    const command = program.command(name).description(says);
    for (const word of words) command.argument(`<${word}>`);
    return command
      .argument('[run]', 'default: the newest')
      .option('--repo <dir>', 'repository', '.')
      .option('--json', 'one JSON object on one line');
  };
  add('pause', 'agents wait before their next request').action((run: string | undefined, flags: ControlFlags) =>
    send(run, flags, { kind: 'pause', reason: 'by command' }),
  );
  add('unpause', 'go on after pause').action((run: string | undefined, flags: ControlFlags) =>
    send(run, flags, { kind: 'unpause' }),
  );
  add('stop', 'end a run so that it can be resumed')
    .addOption(
      new Option('--how <how>', 'after the turns that are going on, or at once')
        .choices(['turns', 'now'])
        .default('turns'),
    )
    .action((run: string | undefined, flags: ControlFlags & { readonly how: 'turns' | 'now' }) =>
      send(run, flags, { kind: 'stop', how: flags.how }),
    );
  add('goal', 'change the goal of a run: its planner is told', 'text').action(
    (text: string, run: string | undefined, flags: ControlFlags) => send(run, flags, { kind: 'goal', text }),
  );
  add('answer', 'answer a question that status shows', 'question', 'text').action(
    (question: string, text: string, run: string | undefined, flags: ControlFlags) =>
      send(run, flags, { kind: 'answer', question, text }),
  );
  add('approve', 'say yes to a question that status shows', 'question').action(
    (question: string, run: string | undefined, flags: ControlFlags) =>
      send(run, flags, { kind: 'answer', question, text: approved }),
  );
  add('tell', 'tell the agent of a task something', 'task', 'text').action(
    (task: string, text: string, run: string | undefined, flags: ControlFlags) =>
      send(run, flags, { kind: 'task', task, text }),
  );
}

const person = (): Author => ({ name: userInfo().username || 'operator', kind: 'human' });

const send = (name: string | undefined, flags: ControlFlags, control: Control): Promise<void> =>
  withRepo(flags.repo, async (repo) => {
    const view = runNamed(repo, name);
    mustMakeSense(view, control);
    const seq = await sendControl(repo, view.run, control, person());
    if (flags.json) console.log(JSON.stringify({ run: view.run, kind: control.kind, seq }));
    else console.log(`run ${view.run} is told: ${control.kind}`);
  });

/** What nobody would ever take up is refused. Errors: `UsageError`. */
function mustMakeSense({ run, header, questions, tasks }: RunView, control: Control): void {
  const state = stateOf(header);
  const lasts = control.kind === 'answer' || control.kind === 'task' || control.kind === 'goal';
  if (header.reason === 'finished' && state === 'ended') throw new UsageError(`run ${run} has finished`);
  if (control.kind === 'goal' && header.root === 'given')
    throw new UsageError(`run ${run} has no planner: 'mound swarm tell TASK TEXT' tells the agent of a task`);
  if (!lasts && state !== 'running' && state !== 'paused')
    throw new UsageError(`no process runs ${run} (${state}); 'mound swarm resume ${run}' goes on with it`);
  if (control.kind === 'answer' && !questions.some(({ id }) => id === control.question)) {
    const known = questions.map(({ id }) => id).join(', ');
    throw new UsageError(
      `run ${run} has no question '${control.question}'; ${known === '' ? 'it has none' : `there are ${known}`}`,
    );
  }
  if (control.kind !== 'task') return;
  const told = tasks.find(({ task }) => task.id === control.task);
  if (told === undefined) throw new UsageError(`run ${run} has no task '${control.task}'`);
  const hasEnded = told.record.state === 'done' || told.record.state === 'ended';
  if (hasEnded)
    throw new UsageError(
      `task '${control.task}' of run ${run} has ended; 'mound swarm tell root TEXT' tells the planner`,
    );
}
