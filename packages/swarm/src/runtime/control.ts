import { absent, any, type Author, type RecordWrite, type Repo, type RepoEvent } from '@mound/vcs';
import { isTaskId, rootTask, type RunId } from '../core/ids.ts';
import type { RunContext } from './run-context.ts';
import { changeHeader, system, unpaused, type RunHeader } from './run-header.ts';
import { RunKeys } from './run-keys.ts';
import type { QuestionView } from './run-view.ts';
import type { Swarm } from './swarm.ts';

/** What another process may ask of a run. */
export type Control =
  | { readonly kind: 'pause'; readonly reason: string }
  | { readonly kind: 'unpause' }
  | { readonly kind: 'stop'; readonly how: 'turns' | 'now' }
  /** The goal is another from now on; its planner is told. */
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

/** What is asked of the run that this process runs. */
export class Controls {
  readonly #context: RunContext;
  readonly #swarm: Swarm;
  /** What is written of commands is written in their order. */
  #written: Promise<void> = Promise.resolve();

  constructor(context: RunContext, swarm: Swarm) {
    this.#context = context;
    this.#swarm = swarm;
  }

  /** Takes up what was asked while nobody ran the run. A pause or stop of then is over. */
  obeyWaiting(): void {
    const snapshot = this.#context.repo.snapshot();
    for (const { key, value } of snapshot.records(this.#context.keys.questions)) {
      const { id: question, task, question: text, approval } = JSON.parse(value.toString('utf8')) as QuestionView;
      // What waited for it is gone with its process, and asks again.
      if (approval) this.#done(key);
      else this.#swarm.dispatch({ kind: 'question.asked', question, task, text });
    }
    for (const { key, value } of snapshot.records(this.#context.keys.controls)) {
      const control = JSON.parse(value.toString('utf8')) as Control;
      if (control.kind === 'goal' || control.kind === 'task' || control.kind === 'answer') this.#obey(key, control);
      else this.#done(key);
    }
  }

  /** Takes up a command as the feed brings it. */
  follow(event: RepoEvent): void {
    const { repo, keys } = this.#context;
    if (event.kind !== 'record.written' || event.deleted || !event.key.startsWith(keys.controls)) return;
    const head = repo.snapshot(event.seq).record(event.key);
    if (head !== undefined) this.#obey(event.key, JSON.parse(head.value.toString('utf8')) as Control);
  }

  #obey(key: string, control: Control): void {
    const swarm = this.#swarm;
    // What an agent is to be told stands until it has been told.
    const onTold = (): void => this.#done(key);
    switch (control.kind) {
      case 'pause': {
        const { reason } = control;
        swarm.dispatch({ kind: 'run.paused', reason });
        const paused = { at: this.#context.parts.time.now(), reason };
        return this.#mark(key, (header) => ({ ...header, paused }));
      }
      case 'unpause':
        swarm.dispatch({ kind: 'run.unpaused' });
        return this.#mark(key, unpaused);
      case 'stop':
        swarm.stop('aborted', control.how, 'stopped by command');
        return onTold();
      case 'goal': {
        const { text: goal } = control;
        if (goal !== swarm.state.goal) {
          swarm.dispatch({ kind: 'goal.changed', goal });
          this.#mark(undefined, (header) => ({ ...header, goal }));
        }
        const says = `The goal was changed by those who started the run. It is now: ${goal}`;
        return swarm.tell(rootTask, says, onTold);
      }
      case 'task': {
        const text = `About your task, from those who started the run: ${control.text}`;
        return isTaskId(control.task) ? swarm.tell(control.task, text, onTold) : onTold();
      }
      default: {
        const { question, text } = control;
        const asked = this.#question(question);
        swarm.dispatch({ kind: 'question.answered', question });
        const isOver = swarm.approvals.answer(question, text) || asked?.approval === true;
        if (isOver) return this.#done(key, `${this.#context.keys.questions}${question}`);
        return swarm.tell(asked?.task ?? rootTask, `Answer to your question ${question}: ${text}`, () =>
          this.#done(key, `${this.#context.keys.questions}${question}`),
        );
      }
    }
  }

  #question(id: string): QuestionView | undefined {
    const head = this.#context.repo.snapshot().record(`${this.#context.keys.questions}${id}`);
    return head && (JSON.parse(head.value.toString('utf8')) as QuestionView);
  }

  /** Notes in the run's record what holds from now on, so that others see it. */
  #mark(key: string | undefined, change: (header: RunHeader) => RunHeader): void {
    const { repo, keys } = this.#context;
    const taken = key === undefined ? [] : [gone(key)];
    // A run that has ended is not paused.
    const whileRunning = (header: RunHeader): RunHeader => (header.state === 'running' ? change(header) : header);
    this.#write(() => changeHeader(repo, keys, this.#swarm.runGeneration, whileRunning, taken));
  }

  #done(...taken: readonly string[]): void {
    const records = taken.map(gone);
    this.#write(() => this.#context.repo.land({ author: system, message: 'command taken up', records }));
  }

  #write(step: () => Promise<unknown>): void {
    this.#written = this.#written
      .then(step)
      .then(() => undefined)
      .catch((error: unknown) => this.#swarm.fail(error));
  }

  /** Resolves when all that was taken up is written. */
  settled(): Promise<void> {
    return this.#written;
  }
}

const gone = (key: string): RecordWrite => ({ key, expect: any, value: null });
