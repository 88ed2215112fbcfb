import type { CostSum } from '../cost/cost-ledger.ts';
import type { SwarmEvent } from '../events/event.ts';
import { reduce } from '../state/reduce.ts';
import { initialState, type SwarmState } from '../state/state.ts';

/** What somebody who watches a run knows of it. */
export interface RunWatch {
  readonly state: SwarmState;
  /** Milliseconds since 1970. */
  readonly startedAt: number;
  readonly tasks: { readonly created: number; readonly ended: number };
  readonly intents: {
    readonly landed: number;
    readonly merged: number;
    readonly conflicted: number;
    readonly resolved: number;
  };
  /** Times of the landings of the last minute. */
  readonly landedAt: readonly number[];
  /** Why agents wait. */
  readonly waits: ReadonlyMap<string, string>;
  /** That nobody has answered, by id. */
  readonly questions: ReadonlyMap<string, string>;
  /** Of this process and its hands. */
  readonly cost: CostSum | undefined;
}

export const newWatch = (now: number): RunWatch => ({
  state: initialState,
  startedAt: now,
  tasks: { created: 0, ended: 0 },
  intents: { landed: 0, merged: 0, conflicted: 0, resolved: 0 },
  landedAt: [],
  waits: new Map(),
  questions: new Map(),
  cost: undefined,
});

const minuteMs = 60_000;

/** The watch after an event that came at `now`. Pure. */
export function watched(before: RunWatch, event: SwarmEvent, now: number): RunWatch {
  const watch = { ...before, state: reduce(before.state, event) };
  switch (event.kind) {
    case 'task.created':
      return { ...watch, tasks: { ...watch.tasks, created: watch.tasks.created + 1 } };
    case 'task.finished':
    case 'task.given-up':
      return { ...watch, tasks: { ...watch.tasks, ended: watch.tasks.ended + 1 } };
    case 'intent.answered': {
      const { outcome } = event;
      if (outcome !== 'landed' && outcome !== 'merged' && outcome !== 'conflicted' && outcome !== 'resolved')
        return watch;
      const intents = { ...watch.intents, [outcome]: watch.intents[outcome] + 1 };
      const recent = watch.landedAt.filter((at) => at > now - minuteMs);
      return { ...watch, intents, landedAt: outcome === 'conflicted' ? recent : [...recent, now] };
    }
    case 'question.asked':
      return { ...watch, questions: new Map(watch.questions).set(event.question, event.text) };
    case 'question.answered': {
      const questions = new Map(watch.questions);
      questions.delete(event.question);
      return { ...watch, questions };
    }
    case 'agent.waiting':
      return { ...watch, waits: new Map(watch.waits).set(event.agent, event.reason) };
    case 'agent.resumed':
    case 'agent.ended': {
      if (!watch.waits.has(event.agent)) return watch;
      const waits = new Map(watch.waits);
      waits.delete(event.agent);
      return { ...watch, waits };
    }
    default:
      return watch;
  }
}
