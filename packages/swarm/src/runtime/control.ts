import { absent, any, type Author, type Repo, type RepoEvent } from '@mound/vcs';
import { isTaskId, rootTask, type RunId, type TaskId } from '../core/ids.ts';
import type { RunContext } from './run-context.ts';
import { system } from './run-header.ts';
import { RunKeys } from './run-keys.ts';
import type { Swarm } from './swarm.ts';

/** What another process may ask of a run. */
export type Control =
  | { readonly kind: 'pause'; readonly reason: string }
  | { readonly kind: 'unpause' }
  | { readonly kind: 'stop'; readonly how: 'turns' | 'now' }
  /** Told to the goal's planner. */
  | { readonly kind: 'goal'; readonly text: string }
  /** Told to the agent of a task, or to the next that takes it. */
  | { readonly kind: 'task'; readonly task: string; readonly text: string }
  | { readonly kind: 'answer'; readonly question: string; readonly text: string };

/** Appends a command to the run's controls; whoever runs it takes it up. Gives its seq. */
export async function sendControl(repo: Repo, run: RunId, control: Control, author: Author): Promise<number> {
  const prefix = new RunKeys(run).controls;
  const value = JSON.stringify({ format: 1, ...control });
  for (;;) {
    // Later ones behind earlier ones, also where those are gone.
    const key = `${prefix}${String(repo.snapshot().seq).padStart(15, '0')}`;
    const outcome = await repo.land({
      author,
      message: `${control.kind} run ${run}`,
      records: [{ key, expect: absent, value }],
    });
    if (outcome.kind === 'landed') return outcome.seq;
  }
}

/** Takes up what was asked while nobody ran the run. A pause or stop of then is over. */
export function obeyWaiting(context: RunContext, swarm: Swarm): void {
  for (const { key, value } of context.repo.snapshot().records(context.keys.controls)) {
    const control = JSON.parse(value.toString('utf8')) as Control;
    if (control.kind === 'goal' || control.kind === 'task' || control.kind === 'answer')
      obey(context, swarm, key, control);
    else void done(context, swarm, key);
  }
}

/** Takes up a command as the feed brings it. */
export function followControls(context: RunContext, swarm: Swarm, event: RepoEvent): void {
  if (event.kind !== 'record.written' || event.deleted || !event.key.startsWith(context.keys.controls)) return;
  const head = context.repo.snapshot(event.seq).record(event.key);
  if (head !== undefined) obey(context, swarm, event.key, JSON.parse(head.value.toString('utf8')) as Control);
}

function obey(context: RunContext, swarm: Swarm, key: string, control: Control): void {
  // What an agent is to be told stands until it has been told.
  const onTold = (): void => void done(context, swarm, key);
  switch (control.kind) {
    case 'pause':
      swarm.dispatch({ kind: 'run.paused', reason: control.reason });
      return onTold();
    case 'unpause':
      swarm.dispatch({ kind: 'run.unpaused' });
      return onTold();
    case 'stop':
      swarm.stop('aborted', control.how, 'stopped by command');
      return onTold();
    case 'goal':
      return swarm.tell(
        rootTask,
        `The goal was changed by those who started the run. It is now: ${control.text}`,
        onTold,
      );
    case 'task': {
      const text = `About your task, from those who started the run: ${control.text}`;
      return isTaskId(control.task) ? swarm.tell(control.task, text, onTold) : onTold();
    }
    default: {
      const task = taskOfQuestion(context, control.question) ?? rootTask;
      return swarm.tell(task, `Answer to your question ${control.question}: ${control.text}`, onTold);
    }
  }
}

async function done(context: RunContext, swarm: Swarm, key: string): Promise<void> {
  try {
    await context.repo.land({
      author: system,
      message: 'command taken up',
      records: [{ key, expect: any, value: null }],
    });
  } catch (error) {
    swarm.fail(error);
  }
}

function taskOfQuestion(context: RunContext, question: string): TaskId | undefined {
  const head = context.repo.snapshot().record(`${context.keys.questions}${question}`);
  return head && (JSON.parse(head.value.toString('utf8')) as { readonly task: TaskId }).task;
}
