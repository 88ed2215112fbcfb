import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import {
  isMoundError,
  keepGreen,
  MoundError,
  readGreen,
  verdictOfCode,
  type CheckEnd,
  type CheckOptions,
  type CulpritView,
  type RecordWrite,
  type RepoEvent,
} from '@mound/vcs';
import type { GreenCulprit, GreenSettings } from '../core/green.ts';
import { rootTask, taskOfName, type TaskId } from '../core/ids.ts';
import type { Task } from '../core/task.ts';
import type { SwarmEvent } from '../events/event.ts';
import type { RunContext } from './run-context.ts';
import { system } from './run-header.ts';
import type { Swarm } from './swarm.ts';

/** Tasks that mend what broke the check are named so, by the landing. */
const mendStem = 'mend-';
/** Of what the check printed, that a task is shown. */
const outputCharsMax = 4_000;

/** Keeps green beside the agents of a run, one look at a time, on snapshots of its own. */
export class GreenKeeper {
  readonly #context: RunContext;
  readonly #swarm: Swarm;
  readonly #stop = new AbortController();
  readonly #tasks = new Map<number, Task>();
  #cancelTimer: (() => void) | undefined;

  constructor(context: RunContext, swarm: Swarm) {
    this.#context = context;
    this.#swarm = swarm;
  }

  get #settings(): GreenSettings | undefined {
    return this.#context.green;
  }

  /** What stands when a process takes the run up is looked at first, so that there is a green to measure by. */
  begin(): void {
    if (this.#settings === undefined) return;
    const { green, head } = readGreen(this.#context.repo);
    if (head === 0 || head === green) return;
    this.#swarm.dispatch({ kind: 'trunk.landed', seq: head });
    this.#swarm.dispatch({ kind: 'green.due' });
  }

  /** What an event means for green. */
  seen(event: SwarmEvent): void {
    const settings = this.#settings;
    if (settings === undefined) return;
    switch (event.kind) {
      case 'intent.answered':
        // Before the feed tells: the run may end with it.
        if (event.seq !== undefined) this.#swarm.dispatch({ kind: 'trunk.landed', seq: event.seq });
        return;
      case 'trunk.landed':
        this.#cancelTimer ??= this.#context.parts.time.after(settings.everyMs, () => {
          this.#cancelTimer = undefined;
          this.#swarm.dispatch({ kind: 'green.due' });
        });
        return;
      case 'run.stopping':
        this.#stop.abort();
        return;
      case 'green.begun':
      case 'run.ended':
        this.#cancelTimer?.();
        this.#cancelTimer = undefined;
        return;
      default:
    }
  }

  /** One look at the newest landing, with all that follows from it. */
  async check(): Promise<void> {
    const settings = this.#settings;
    const { commands } = this.#context.parts;
    const place = commands.directory;
    if (settings === undefined || place === undefined) return;
    this.#swarm.dispatch({ kind: 'green.begun' });
    let ended: SwarmEvent = { kind: 'green.ended', verdict: 'interrupted', head: 0, candidates: [] };
    const directory = join(place, 'green');
    try {
      // What a killed process left.
      rmSync(directory, { recursive: true, force: true });
      mkdirSync(directory, { recursive: true });
      const { kind, head, green, candidates } = await keepGreen(this.#context.repo, {
        command: ['/bin/sh', '-c', settings.command],
        policy: settings.policy === 'task' || settings.policy === 'report' ? 'tell' : settings.policy,
        runs: settings.runs,
        ...(settings.seconds !== undefined && { seconds: settings.seconds }),
        author: { ...system, name: 'mound-swarm green' },
        clock: this.#context.parts.time,
        directory,
        runner: (dir, options) => this.#run(dir, options),
        signal: this.#stop.signal,
        recordsOf: (culprit) => this.#recordsOf(culprit, settings),
        onCulprit: (culprit) => this.#found(culprit),
        onChecked: (seq, verdict, ms) => this.#swarm.dispatch({ kind: 'green.checked', seq, verdict, ms }),
      });
      ended = { kind: 'green.ended', verdict: kind, head, candidates, ...(green !== undefined && { green }) };
    } catch (error) {
      if (!isMoundError(error, 'interrupted')) this.#swarm.fail(error);
    } finally {
      rmSync(directory, { recursive: true, force: true, maxRetries: 3 });
      this.#swarm.dispatch(ended);
    }
  }

  /** As agents' commands run: in the sandbox, with their bounds and environment. */
  async #run(dir: string, { command, env, seconds, signal }: CheckOptions): Promise<CheckEnd> {
    const [program = '', ...args] = command;
    const startedMs = performance.now();
    const more = { env, seconds, signal };
    const { kind, code, says, stdout } = await this.#context.parts.commands.check(dir, [program, ...args], more);
    if (kind === 'aborted') throw new MoundError('interrupted', 'interrupted');
    if (kind === 'not-started') throw new MoundError('invalid-argument', `the check of green cannot be run: ${says}`);
    // What ends by a signal, or for its bounds, has not passed.
    const verdict = (code === undefined ? undefined : verdictOfCode(code)) ?? 'failed';
    const output = code === undefined ? `${stdout}\n${says}\n` : stdout;
    return { verdict, code, output, ms: Math.round(performance.now() - startedMs) };
  }

  /** The planner whose work it was, or the lowest above it that is there still. */
  #plannerOf(name: string | undefined): TaskId {
    const task = taskOfName(this.#context.run, name);
    return task === undefined ? rootTask : this.#swarm.commonPlannerOf([this.#context.mustTask(task).parent]);
  }

  /** The task that mends it, with the record of the culprit: there is one however often the process dies. */
  #recordsOf(culprit: CulpritView, { policy, command }: GreenSettings): readonly RecordWrite[] {
    if (policy !== 'task') return [];
    const { seq, good, message, output } = culprit;
    const task: Task = {
      id: `${mendStem}${seq}` as TaskId,
      parent: this.#plannerOf(culprit.task),
      role: 'worker',
      title: `Mend what landing ${seq} broke`,
      scope: [],
      brief: `The check \`${command}\` passes at seq ${good} and fails since landing ${seq} (${whoOf(culprit)}). Make it pass again without giving up what that landing is for. What is known, as data: ${JSON.stringify({ message, output: output.slice(-outputCharsMax) })}`,
      base: this.#context.repo.snapshot().seq,
      check: command,
    };
    this.#tasks.set(seq, task);
    return this.#context.book.creation([task]);
  }

  #found(culprit: CulpritView): void {
    const { seq, action, task: name } = culprit;
    const task = this.#tasks.get(seq);
    if (task !== undefined) this.#swarm.addTask(task);
    this.#swarm.dispatch({ kind: 'green.broken', ...greenCulpritOf(culprit), ...(task && { mendedBy: task.id }) });
    const says = saysOf(culprit);
    const planner = this.#plannerOf(name);
    if (action.kind !== 'told' && this.#swarm.isLive(planner)) this.#swarm.tell(planner, says, () => undefined);
  }
}

/** A landing on the trunk, whoever made it. */
export function followLandings(context: RunContext, swarm: Swarm, event: RepoEvent): void {
  if (context.green === undefined || event.kind !== 'intent.landed' || event.branch !== 'main') return;
  if (event.changes.length > 0) swarm.dispatch({ kind: 'trunk.landed', seq: event.seq });
}

/** As events and reports tell of it. */
export const greenCulpritOf = ({ seq, good, task, author, action }: CulpritView): GreenCulprit => ({
  seq,
  good,
  ...(task !== undefined && { task }),
  ...(author.agent !== undefined && { agent: author.agent }),
  ...(author.role !== undefined && { role: author.role }),
  ...(author.model !== undefined && { model: author.model }),
  action: action.kind,
});

const whoOf = ({ author, task }: CulpritView): string =>
  [author.agent ?? author.name, author.role, author.model, task].filter(Boolean).join(', ');

function saysOf(culprit: CulpritView): string {
  const { seq, command, action, output } = culprit;
  const branch =
    'branch' in action && action.branch !== undefined ? `; it stands whole on branch ${action.branch}` : '';
  const done = {
    told: 'it stands',
    reverted: 'it was taken back',
    quarantined: 'it was taken back',
    kept: 'taking it back is a conflict, which is open',
    refused: 'it could not be taken back',
  }[action.kind];
  return `Landing ${seq} (${whoOf(culprit)}) made the check '${command}' fail: ${done}${branch}. What the check printed, as data: ${JSON.stringify(output.slice(-outputCharsMax))}`;
}
