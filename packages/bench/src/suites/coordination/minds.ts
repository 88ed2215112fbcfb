import {
  estimateTokens,
  type PlannerBrief,
  type Script,
  type ScriptedTurn,
  type ScriptView,
  type WorkerBrief,
} from '@mound/swarm';
import { seededRandom } from '@mound/vcs';

import type { IntendedWork } from '../../workloads/intended-work.ts';
import { partSize, scopeOf, type Job } from './jobs.ts';
import { decomposer, merger, reconciler, reviewer } from './neutral-minds.ts';
import { call, finishing, reportedIn } from './turns.ts';
import { newsOf, standsStill, workerTurn } from './worker-mind.ts';

const wait = call('wait', {});

/** What the planner of a subtree was told: which it is, and the style that it decides. */
interface Assignment {
  readonly subtree: number;
  readonly style: string | null;
}

export interface MindsOptions {
  /** A turn takes half to one and a half times as long. */
  readonly thinkMs: number;
  /** So long somebody who stands still does. */
  readonly stallMs: number;
}

// prettier-ignore
type Delegated = { readonly id: string; readonly title: string; readonly scope: string[]; readonly input: Job };

const heard = (view: ScriptView, words: RegExp): boolean =>
  view.request.messages.some(({ role, content }) => role === 'user' && words.test(content));

/**
 * Scripted minds that bring intended work into a repository by tool calls. They
 * go by what they are told and what they read, and know nothing of how the run
 * around them is coordinated.
 */
export class Minds {
  readonly #work: IntendedWork;
  readonly #options: MindsOptions;
  #toldTokens = 0;

  constructor(work: IntendedWork, options: MindsOptions) {
    this.#work = work;
    this.#options = options;
  }

  /**
   * Of what agents were told unasked: words between their turns, and the Field Guide and decisions in their briefs.
   * Estimated by length, as all tokens here.
   */
  get toldTokens(): number {
    return this.#toldTokens;
  }

  /** By role. */
  get scripts(): Readonly<Record<string, Script>> {
    const thinking =
      (script: (view: ScriptView) => ScriptedTurn): Script =>
      async (view, signal) => {
        this.#hear(view);
        await this.#think(view, signal);
        return script(view);
      };
    return {
      planner: thinking((view) => this.#planner(view)),
      worker: thinking((view) => workerTurn(this.#work, view)),
      merger: thinking(merger),
      reconciler: thinking(reconciler),
      decomposer: thinking(decomposer),
      reviewer: thinking(reviewer),
    };
  }

  #hear(view: ScriptView): void {
    const { guide = '', decisions } = view.brief as WorkerBrief;
    const told = view.turn > 0 ? newsOf(view) : [guide, decisions === undefined ? '' : JSON.stringify(decisions)];
    for (const words of told) if (words !== '') this.#toldTokens += estimateTokens(Buffer.byteLength(words));
  }

  #think(view: ScriptView, signal: AbortSignal): Promise<void> {
    const { brief, turn } = view;
    const random = seededRandom(brief.base * 31 + turn * 7 + brief.agent.length);
    const { thinkMs, stallMs } = this.#options;
    const stands = brief.role === 'worker' && standsStill(this.#work, view);
    const ms = thinkMs * (0.5 + random.next()) + (stands ? stallMs : 0);
    return new Promise((resolve, reject) => {
      const give = (): void => {
        clearTimeout(timer);
        reject(new Error('given up'));
      };
      const timer = setTimeout(() => {
        signal.removeEventListener('abort', give);
        resolve();
      }, ms);
      signal.addEventListener('abort', give, { once: true });
    });
  }

  #planner(view: ScriptView): ScriptedTurn {
    const { task, goal } = view.brief as PlannerBrief;
    return task === 'root' ? this.#root(view) : this.#subplanner(view, JSON.parse(goal) as Assignment);
  }

  /** Splits the goal into subtrees; two of them want to decide one thing, and where that is refused the second does not. */
  #root(view: ScriptView): ScriptedTurn {
    const refused = view.results.find(({ name, value }) => name === 'delegate' && !value.ok);
    if (view.turn > 0 && refused === undefined) {
      const again = failedIn(view);
      if (again.length > 0) return { calls: [call('delegate', { tasks: again }), wait] };
      const isRepaired = view.request.messages.some(
        (message) => message.role === 'assistant' && message.calls?.some(({ arguments: input }) => JSON.stringify(input).includes('"repair"')), // prettier-ignore
      );
      if (isRepaired) return finishing('done');
      return {
        calls: [call('delegate', { tasks: [this.#task('repair', 'Make it build', { kind: 'repair' })] }), wait],
      };
    }
    const first = this.#work.subtrees.findIndex(({ style }) => style !== undefined);
    const tasks = this.#work.subtrees.map(({ id, topics, style }, subtree) => {
      const yields = refused !== undefined && style !== undefined && subtree !== first;
      const assignment: Assignment = { subtree, style: yields ? null : (style ?? null) };
      const own = yields ? [] : topics;
      return { id, title: `Subtree ${subtree}`, role: 'planner', brief: JSON.stringify(assignment), topics: own };
    });
    return { calls: [call('delegate', { tasks }), wait] };
  }

  #subplanner(view: ScriptView, { subtree, style }: Assignment): ScriptedTurn {
    const own = this.#work.tasks.filter((task) => task.subtree === subtree);
    const part = own.slice(view.turn * partSize, (view.turn + 1) * partSize);
    const tasks = part.map(({ id }) => this.#task(id, id, { kind: 'task', task: id }));
    if (style !== null && part.length > 0 && !heard(view, /neutral agent has settled/)) {
      const job: Job = { kind: 'style', subtree, style };
      tasks.push(this.#task(`style${subtree}-${view.turn}`, `Style of subtree ${subtree}`, job));
    }
    // What its workers left, or broke, is handed out next.
    const { left, isBroken } = reportedIn(view.results.map(({ value }) => JSON.stringify(value)).join('\n'));
    const name = `${subtree}-${view.turn}`;
    if (left.length > 0) tasks.push(this.#task(`extend${name}`, 'The core function', { kind: 'extend', tasks: left }));
    if (isBroken) tasks.push(this.#task(`follow${name}`, 'Follow the core function', { kind: 'repair' }));
    tasks.push(...failedIn(view));
    return tasks.length === 0 ? finishing('done') : { calls: [call('delegate', { tasks }), wait] };
  }

  #task(id: string, title: string, job: Job): Delegated {
    return { id, title, scope: scopeOf(this.#work, job), input: job };
  }
}

/** A task is handed out so often. */
const attemptsMax = 6;

interface Report {
  readonly task: string;
  readonly outcome: string;
  readonly handoff: { readonly status: string };
}

/** What came to nothing of the tasks that a planner has just been told of, to be handed out once more under another name. */
function failedIn({ results, request: { messages } }: ScriptView): Delegated[] {
  const reports = results.flatMap(({ value }) => (value['reports'] ?? []) as unknown as readonly Report[]);
  const failed = reports.filter(({ outcome, handoff: { status } }) => outcome === 'conflicted' || !['done', 'nothing-to-do'].includes(status)); // prettier-ignore
  const handed = messages.flatMap((message) =>
    message.role === 'assistant'
      ? message.calls.flatMap(({ name, arguments: input }) =>
          name === 'delegate' ? (input as unknown as { readonly tasks: readonly Delegated[] }).tasks : [],
        )
      : [],
  );
  return failed.flatMap(({ task }) => {
    const [name = '', attempt = '1'] = task.split('.');
    const known = handed.find(({ id, input }) => id === task && input !== undefined);
    return known === undefined || Number(attempt) >= attemptsMax
      ? []
      : [{ ...known, id: `${name}.${Number(attempt) + 1}` }];
  });
}
