import type { ScriptedResult, ScriptedTurn, ScriptView, WorkerBrief } from '@mound/swarm';

import { corePath } from '../../workloads/intended-text.ts';
import type { IntendedWork } from '../../workloads/intended-work.ts';
import { directoryOf, mustTask, needsListing, pathsOf, wantedOf, type Job, type Learned } from './jobs.ts';
import { call, finishing, reportWords, type Call } from './turns.ts';

/** A worker whose commit is refused, or that hears of a change, reads again so often. */
const turnsMax = 16;

/** The words under which whoever met them leaves them for the next. */
const fullSymptom = (directory: string): string => `a commit to ${directory} is refused for its line budget`;
const fullPattern = /a commit to (\S+) is refused for its line budget/g;
/** What the store says where a file would grow too long. */
const refusedPattern = /(\S+) would have \d+ lines, over its budget/;

interface Step {
  readonly calls: readonly { readonly call: Call; readonly result: ScriptedResult['value'] }[];
}

/** What the agent has done so far, out of its own transcript. */
function stepsOf({ request: { messages } }: ScriptView): Step[] {
  const steps: Step[] = [];
  for (const [at, message] of messages.entries()) {
    if (message.role !== 'assistant') continue;
    const answers = messages.slice(at + 1).flatMap((next) => (next.role === 'tool' ? [next] : []));
    const calls = (message.calls ?? []).flatMap(({ id, name, arguments: input }) => {
      const answer = answers.find(({ callId }) => callId === id);
      const result = answer && (JSON.parse(answer.content) as ScriptedResult['value']);
      return result === undefined ? [] : [{ call: { name, arguments: input }, result }];
    });
    steps.push({ calls });
  }
  return steps;
}

const isReading = ({ calls }: Step): boolean => calls.some(({ call: { name } }) => name === 'read' || name === 'list');

/** What stands in its context of files: of the reads since it last did something else. */
class Seen {
  readonly texts = new Map<string, string>();
  readonly versions = new Map<string, number>();
  readonly asked = new Set<string>();
  listed: readonly string[] = [];

  constructor(steps: readonly Step[]) {
    const end = steps.findLastIndex(isReading);
    const start = steps.slice(0, Math.max(0, end)).findLastIndex((step) => !isReading(step)) + 1;
    // Someone who begins to read anew lists anew, too.
    const from = steps.slice(start, end + 1);
    const restart = from.findLastIndex(({ calls }) => calls.some(({ call: { name } }) => name === 'list'));
    for (const { calls } of restart < 0 ? from : from.slice(restart)) {
      for (const { call: made, result } of calls) this.#take(made, result);
    }
  }

  #take(made: Call, result: ScriptedResult['value']): void {
    if (made.name === 'list') {
      const files = (result['files'] ?? []) as unknown as readonly { readonly path: string }[];
      this.listed = files.map(({ path }) => path).filter((path) => path.endsWith('.ts'));
      return;
    }
    const { path } = made.arguments as unknown as { readonly path: string };
    this.asked.add(path);
    this.texts.delete(path);
    this.versions.delete(path);
    if (typeof result['text'] === 'string') this.texts.set(path, result['text']);
    if (typeof result['version'] === 'number') this.versions.set(path, result['version']);
  }
}

/** Words that came since the agent's last turn, its brief left out. */
export function newsOf({ request: { messages } }: ScriptView): string[] {
  const last = messages.findLastIndex(({ role }) => role === 'assistant');
  return last < 0 ? [] : messages.slice(last + 1).flatMap(({ role, content }) => (role === 'user' ? [content] : []));
}

/** What it was given: by its planner, or in the words of a review or of a check that failed. */
function jobOf({ input, task }: WorkerBrief): Job {
  if (input !== undefined) return input as unknown as Job;
  return task.scope.length > 0 ? { kind: 'repair', paths: task.scope } : { kind: 'repair' };
}

function learnedOf(view: ScriptView, steps: readonly Step[]): Learned {
  const full = new Set<string>();
  for (const [, directory = ''] of ((view.brief as WorkerBrief).guide ?? '').matchAll(fullPattern)) full.add(directory);
  let leavesCore = false;
  for (const { calls } of steps) {
    for (const { call: made, result } of calls) {
      if (made.name !== 'commit' || result.ok) continue;
      const path = refusedPattern.exec(result.says)?.[1];
      if (path !== undefined) full.add(directoryOf(path));
      if (result.says.includes('outside of your scope')) leavesCore = true;
    }
  }
  return { full, leavesCore };
}

/** Whether it stands still before it acts; whoever takes the task after it does not. */
export function standsStill(work: IntendedWork, view: ScriptView): boolean {
  const { generation } = view.brief as WorkerBrief;
  const job = jobOf(view.brief as WorkerBrief);
  return view.turn === 1 && generation === 1 && job.kind === 'task' && mustTask(work, job.task).stalls;
}

/** Reads, commits, and goes by what it is answered and told. */
export function workerTurn(work: IntendedWork, view: ScriptView): ScriptedTurn {
  const job = jobOf(view.brief as WorkerBrief);
  const steps = stepsOf(view);
  const seen = new Seen(steps);
  const learned = learnedOf(view, steps);
  const last = steps.at(-1);
  const mayGoOn = view.turn < turnsMax;
  const begin = (): ScriptedTurn =>
    needsListing(job) ? { calls: [call('list', { prefix: 'src' })] } : read(pathsOf(work, job, new Map(), []));
  if (last === undefined) return begin();

  const committed = last.calls.find(({ call: { name } }) => name === 'commit')?.result;
  if (committed?.ok === true) return finishing('done', words(work, job, learned));
  if (committed !== undefined) {
    if (!mayGoOn) return finishing('blocked', { concerns: [committed.says] });
    // What it has learned of the place does not change what it has read.
    const path = refusedPattern.exec(committed.says)?.[1];
    if (path !== undefined) return commit(work, view, job, seen, learned, directoryOf(path));
    return committed.says.includes('outside of your scope') ? commit(work, view, job, seen, learned) : begin();
  }
  const finished = last.calls.find(({ call: { name } }) => name === 'finish')?.result;
  if (finished !== undefined) return mayGoOn ? begin() : finishing('blocked', { concerns: [finished.says] });

  const paths = pathsOf(work, job, seen.texts, seen.listed);
  const isStale = newsOf(view).some((told) => paths.some((path) => told.includes(path)));
  if (isStale && mayGoOn) return begin();
  const missing = paths.filter((path) => !seen.asked.has(path));
  return missing.length > 0 ? read(missing) : commit(work, view, job, seen, learned);
}

const read = (paths: readonly string[]): ScriptedTurn => ({ calls: paths.map((path) => call('read', { path })) });

/** `met`: a directory that has no room, as it has just found out; it says so to the next, where it can and nobody has. */
function commit(
  work: IntendedWork,
  view: ScriptView,
  job: Job,
  seen: Seen,
  learned: Learned,
  met?: string,
): ScriptedTurn {
  const made = wantedOf(work, job, seen.texts, learned);
  if (made.size === 0) return finishing('nothing-to-do', words(work, job, learned));
  const changes = [...made].map(([path, content]) => ({
    path,
    content,
    expect: seen.versions.get(path) ?? ('absent' as const),
  }));
  const token = job.kind === 'task' ? parameterIn(work, job.task) : undefined;
  const breaks = token !== undefined && made.has(corePath);
  const landing = call('commit', {
    changes,
    message: messageOf(work, job),
    ...(breaks && { breakage: `the core function takes ${token}, too: pass one argument more` }),
  });
  const canNote = view.request.tools.some(({ name }) => name === 'note');
  return { calls: met !== undefined && canNote ? [noteOf(met, seen), landing] : [landing] };
}

const noteOf = (directory: string, seen: Seen): Call =>
  call('note', {
    symptom: fullSymptom(directory),
    cause: 'its files have as many lines as they may',
    do: 'put new lines into a file of your own there',
    evidence: [[...seen.versions.keys()].find((path) => path.startsWith(`${directory}/`)) ?? corePath],
  });

const parameterIn = (work: IntendedWork, task: string): string | undefined =>
  mustTask(work, task).edits.find(({ kind }) => kind === 'parameter')?.token;

/** What its planner should know of it. */
function words(work: IntendedWork, job: Job, { leavesCore }: Learned): object {
  if (job.kind !== 'task' || parameterIn(work, job.task) === undefined) return {};
  return leavesCore ? { outOfScope: [reportWords.left(job.task)] } : { deviations: [reportWords.broke(job.task)] };
}

function messageOf(work: IntendedWork, job: Job): string {
  switch (job.kind) {
    case 'repair':
      return 'Follow the core function';
    case 'extend':
      return `Give the core function the parameters of ${job.tasks.join(', ')}`;
    case 'style':
      return `Set the style of messages: ${job.style}`;
    case 'task':
      return `${job.task}: ${mustTask(work, job.task).edits.length} edits`;
  }
}
