import type {
  MergerBrief,
  PlannerBrief,
  ReconcilerBrief,
  Script,
  ScriptedTurn,
  ScriptView,
  WorkerBrief,
} from '@mound/swarm';
import { seededRandom } from '@mound/vcs';

import type { IntendedTask, IntendedWork } from '../../workloads/intended-work.ts';
import { corePath, settingsPath, settingsText } from '../../workloads/intended-work.ts';
import { isOfStyle, partSize, pathsOf, wantedOf, type Job } from './jobs.ts';

type Call = NonNullable<ScriptedTurn['calls']>[number];

const call = (name: string, input: Call['arguments']): Call => ({ name, arguments: input });
const finish = (status: string, ...concerns: string[]): ScriptedTurn => ({
  calls: [call('finish', { status, concerns })],
});
const wait = call('wait', {});

/** A worker whose commit is refused, or that hears of a change, reads again so often. */
const readsMax = 4;

/** What the planner of a subtree was told: which it is, and the style that it decides. */
interface Assignment {
  readonly subtree: number;
  readonly style: string | null;
}

const heard = (view: ScriptView, words: RegExp): boolean =>
  view.request.messages.some(({ role, content }) => role === 'user' && words.test(content));

/** Words that came since the agent's last turn, its brief left out. */
function news({ request: { messages } }: ScriptView): string[] {
  const last = messages.findLastIndex(({ role }) => role === 'assistant');
  return last < 0 ? [] : messages.slice(last + 1).flatMap(({ role, content }) => (role === 'user' ? [content] : []));
}

/**
 * Scripted minds that bring intended work into a repository by tool calls. They
 * go by what they are told and what they read, and know nothing of how the run
 * around them is coordinated. A turn takes as long as `thinkMs` says, half to one and a half times.
 */
export class Minds {
  readonly #work: IntendedWork;
  readonly #thinkMs: number;

  constructor(work: IntendedWork, thinkMs: number) {
    this.#work = work;
    this.#thinkMs = thinkMs;
  }

  /** By role. */
  get scripts(): Readonly<Record<string, Script>> {
    const thinking =
      (script: (view: ScriptView) => ScriptedTurn): Script =>
      async (view) => {
        await this.#think(view);
        return script(view);
      };
    return {
      planner: thinking((view) => this.#planner(view)),
      worker: thinking((view) => this.#worker(view)),
      merger: thinking(merger),
      reconciler: thinking(reconciler),
    };
  }

  #think({ brief, turn }: ScriptView): Promise<void> {
    const random = seededRandom(brief.base * 31 + turn * 7 + brief.agent.length);
    return new Promise((resolve) => setTimeout(resolve, this.#thinkMs * (0.5 + random.next())));
  }

  #planner(view: ScriptView): ScriptedTurn {
    const { task, goal } = view.brief as PlannerBrief;
    return task === 'root' ? this.#root(view) : this.#subplanner(view, JSON.parse(goal) as Assignment);
  }

  /** Splits the goal into subtrees; two of them want to decide one thing, and where that is refused the second does not. */
  #root(view: ScriptView): ScriptedTurn {
    const refused = view.results.find(({ name, value }) => name === 'delegate' && !value.ok);
    if (view.turn > 0 && refused === undefined) {
      const isRepaired = view.request.messages.some(
        (message) => message.role === 'assistant' && message.calls?.some(({ arguments: input }) => JSON.stringify(input).includes('"repair"')), // prettier-ignore
      );
      if (isRepaired) return finish('done');
      const repair = { id: 'repair', title: 'Make it build', input: { kind: 'repair' } satisfies Job };
      return { calls: [call('delegate', { tasks: [repair] }), wait] };
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
    if (part.length === 0) return finish('done');
    const tasks = part.map(({ id }) => ({ id, title: id, input: { kind: 'task', task: id } satisfies Job }));
    const decides = style !== null && !heard(view, /neutral agent has settled/);
    const styling = {
      id: `style${subtree}-${view.turn}`,
      title: `Style of subtree ${subtree}`,
      input: { kind: 'style', subtree, style: style ?? '' } satisfies Job,
    };
    return { calls: [call('delegate', { tasks: [...tasks, ...(decides ? [styling] : [])] }), wait] };
  }

  #worker(view: ScriptView): ScriptedTurn {
    const job = (view.brief as WorkerBrief).input as unknown as Job;
    const paths = pathsOf(this.#work, job);
    const reading: ScriptedTurn = { calls: paths.map((path) => call('read', { path })) };
    if (view.turn === 0) return reading;
    const last = view.results.at(-1);
    const mayRead = view.turn < 2 * readsMax;
    const isStale = news(view).some((words) => paths.some((path) => words.includes(path)));
    if (last?.name === 'commit') {
      if (last.value.ok) return finish('done');
      return mayRead ? reading : finish('blocked', last.value.says);
    }
    if (isStale && mayRead) return reading;
    const seen = new Map<string, string>();
    const versions = new Map<string, number>();
    for (const [at, { value }] of view.results.entries()) {
      const path = paths[at] ?? '';
      if (typeof value['text'] === 'string') seen.set(path, value['text']);
      if (typeof value['version'] === 'number') versions.set(path, value['version']);
    }
    const changes = [...wantedOf(this.#work, job, seen)].map(([path, content]) => ({
      path,
      content,
      expect: versions.get(path) ?? ('absent' as const),
    }));
    if (changes.length === 0) return finish('nothing-to-do');
    return { calls: [call('commit', { changes, message: messageOf(job, this.#work.tasks) })] };
  }
}

const messageOf = (job: Job, tasks: readonly IntendedTask[]): string => {
  if (job.kind === 'repair') return 'Follow the core function everywhere';
  if (job.kind === 'style') return `Set the style of messages: ${job.style}`;
  const edits = tasks.find(({ id }) => id === job.task)?.edits ?? [];
  return `${job.task}: ${edits.length} edits`;
};

interface SideText {
  readonly text?: string;
}

interface ReadConflict {
  readonly state: string;
  readonly paths: readonly { readonly path: string; readonly base: SideText; readonly current: SideText; readonly incoming: SideText }[]; // prettier-ignore
}

/** Brings together what both sides added; it settles one conflict after another of its file. */
function merger(view: ScriptView): ScriptedTurn {
  const brief = view.brief as MergerBrief;
  const conflicts = [brief, ...(brief.also ?? [])].map(({ conflict }) => conflict);
  const last = view.results.at(-1);
  const settled = view.request.messages.filter(
    (message) => message.role === 'assistant' && message.calls?.some(({ name }) => name === 'resolve'),
  ).length;
  if (last?.name === 'read_conflict' && last.value.ok) {
    const read = last.value as unknown as ReadConflict;
    const results = read.paths.map(({ path, base, current, incoming }) => ({
      path,
      content: together(path, base.text ?? '', current.text ?? '', incoming.text ?? ''),
    }));
    const otherwise = { fate: 'transformed', reason: 'what both sides added stands together' };
    return { calls: [call('resolve', { conflict: conflicts[settled] ?? '', results, otherwise })] };
  }
  if (settled >= conflicts.length) return finish('done');
  return { calls: [call('read_conflict', { conflict: conflicts[settled] ?? '' })] };
}

/** Current's text, with the lines and the numbers that incoming added. */
function together(path: string, base: string, current: string, incoming: string): string {
  if (isOfStyle(path)) return current;
  const before = new Set(base.split('\n'));
  const lines = current.split('\n');
  let anchor = '';
  for (const line of incoming.split('\n')) {
    if (before.has(line) || lines.includes(line)) {
      anchor = line;
      continue;
    }
    const list = /^export const list\d+ = \[/.exec(line)?.[0];
    const at = list === undefined ? -1 : lines.findIndex((one) => one.startsWith(list));
    const known = lines[at];
    if (list !== undefined && known !== undefined) {
      const numbers = new Set([...(known.match(/\d+(?=[,\]])/g) ?? []), ...(line.match(/\d+(?=[,\]])/g) ?? [])]);
      lines[at] = `${list}${[...numbers].join(', ')}];`;
    } else if (path === corePath) return current.length >= incoming.length ? current : incoming;
    else lines.splice(lines.indexOf(anchor) + 1, 0, line);
  }
  return lines.join('\n');
}

/** One style for all, since they cannot agree. */
function reconciler(view: ScriptView): ScriptedTurn {
  if (view.turn > 0) return finish('done');
  const { paths, clash } = view.brief as ReconcilerBrief;
  const text = 'Messages have the plain style.';
  const decision = { id: 'style', title: 'Style of messages', topics: ['style of messages'], text, supersedes: clash };
  const results = paths.includes(settingsPath) ? [{ path: settingsPath, content: settingsText('plain') }] : [];
  return { calls: [call('settle', { decision, ...(results.length > 0 && { results }) })] };
}
