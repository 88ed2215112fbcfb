import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { environmentFor } from '../../command/environment.ts';
import { makeCaches } from '../../command/make-caches.ts';
import { mindLimits, runCommand, type CommandEnd, type CommandLimits } from '../../command/run-command.ts';
import type { PrivateCache } from '../../command/tool-caches.ts';
import { parseBrief, type Brief } from '../../core/brief.ts';
import { isJsonObject, type JsonValue } from '../../core/json.ts';
import type { Time } from '../../core/time.ts';
import { noUsage } from '../../core/usage.ts';
import { ModelError } from '../model-error.ts';
import type { Message, Model, ModelRequest, ModelTurn, ToolCall } from '../model.ts';

import { endLeftCommands, noteCommand } from './left-commands.ts';
import { readStep, stepForm, type Step } from './step-file.ts';
import type { Collected, CommandWorkspaces } from './workspaces.ts';

export interface CommandModelOptions {
  /** Shown as its name. Default: the command's. */
  readonly name?: string;
  /** `{brief}`, `{step}` and `{budget}` in an argument stand for the path of the brief, the path of the step, and the money in US dollars. */
  readonly command: readonly [string, ...string[]];
  readonly workspaces: CommandWorkspaces;
  /** Where the directories are made; default: the system's place for temporary files. */
  readonly dir?: string;
  /** NAMES of variables that it gets besides the harmless ones. */
  readonly env?: readonly string[];
  /** What each run has of tools' caches for itself. Default: nothing. */
  readonly caches?: readonly PrivateCache[];
  readonly limits?: Partial<CommandLimits>;
  /** US dollars for one agent: told to the command; what its runs say that they spent, or did not say, is taken from it. Nothing left: no further run. */
  readonly budgetUsd?: number;
  /** Runs for one task, before it ends as blocked. Default 2 for a worker, 50 for other roles. */
  readonly runsMax?: number;
  readonly time?: Time;
}

type Call = Omit<ToolCall, 'id'>;

const prefix = 'mound-command-';

/**
 * Any program as a mind: it is started in a directory with the files of its
 * brief's snapshot, with the brief on its input, and ends. For a worker, what it
 * changed in the directory becomes one commit. What it wants otherwise (a
 * report, a planner's delegation) it writes as JSON into the step file.
 *
 * Each turn is a run of its own: nothing is kept between two, so nothing leaks.
 */
export class CommandModel implements Model {
  readonly name: string;
  /** What it reads is its own business. */
  readonly contextTokens: number = Number.MAX_SAFE_INTEGER;
  /** Its processes are ended, and its directory removed. */
  readonly abortMsMax: number;
  readonly #options: CommandModelOptions;
  readonly #limits: CommandLimits;
  readonly #spentUsd = new Map<string, number>();
  #swept: Promise<void> | undefined;

  constructor(options: CommandModelOptions) {
    this.name = options.name ?? options.command[0];
    this.#options = options;
    this.#limits = { ...mindLimits, ...options.limits };
    this.abortMsMax = this.#limits.graceMs + 5000;
  }

  async complete(request: ModelRequest, signal: AbortSignal): Promise<ModelTurn> {
    const brief = briefOf(request);
    const left = this.#left(brief);
    const run = request.messages.filter(({ role }) => role === 'assistant').length;
    const isWorker = request.tools.some(({ name }) => name === 'commit');
    if (run >= (this.#options.runsMax ?? (isWorker ? 2 : 50))) return blocked(request);
    if (left !== undefined && left <= 0)
      return blocked(request, `its ${this.#options.budgetUsd} US dollars are used up`);
    const parent = this.#options.dir ?? tmpdir();
    this.#swept ??= endLeftCommands(parent, prefix);
    await this.#swept;
    const dir = await mkdtemp(join(parent, prefix));
    let [isKept, isGood] = [false, false];
    const place = { dir, work: join(dir, 'work'), brief: join(dir, 'brief.md'), step: join(dir, 'step.json') };
    try {
      await mkdir(place.work);
      await this.#options.workspaces.materialise(place.work, brief.base);
      if (isWorker) await redo(place.work, request.messages);
      const text = textFor(request, isWorker);
      await writeFile(place.brief, text);
      const end = await this.#run(place, text, brief, signal);
      if (end.kind === 'aborted') throw new ModelError('aborted', 'aborted by the caller');
      const step = await this.#stepOf(place.step, end);
      this.#charge(brief, step);
      const collected = isWorker ? await this.#collect(place.work) : { changes: [], skipped: [] };
      if (end.kind !== 'exited' || end.code !== 0) {
        isKept = collected.changes.length > 0;
        throw this.#failed(end, step, isKept ? place.work : undefined);
      }
      isGood = isWorker;
      return this.#turn(step, isWorker ? workerCalls(brief, collected, step) : (step?.calls ?? []), end);
    } finally {
      await this.#options.workspaces.leave(place.work, isGood);
      if (!isKept) await rm(dir, { recursive: true, force: true, maxRetries: 3 });
    }
  }

  /** What one request may cost: all that its agent has. */
  get costUsdMax(): number | undefined {
    return this.#options.budgetUsd;
  }

  /** Of an agent's money; undefined where it is not bounded. */
  #left(brief: Brief): number | undefined {
    const { budgetUsd } = this.#options;
    return budgetUsd === undefined ? undefined : budgetUsd - (this.#spentUsd.get(ownerOf(brief)) ?? 0);
  }

  /** A run that does not say what it has cost may have cost all that it had. */
  #charge(brief: Brief, step: Step | undefined): void {
    const left = this.#left(brief);
    if (left === undefined) return;
    const owner = ownerOf(brief);
    this.#spentUsd.set(owner, (this.#spentUsd.get(owner) ?? 0) + (step?.costUsd ?? Math.max(0, left)));
  }

  async #run(
    place: { readonly dir: string; readonly work: string; readonly brief: string; readonly step: string },
    stdin: string,
    brief: Brief,
    signal: AbortSignal,
  ): Promise<CommandEnd> {
    const { command, env = [], caches = [], time } = this.#options;
    const left = this.#left(brief);
    const budget = left === undefined ? '' : String(Number(left.toFixed(6)));
    const [file, ...args] = command;
    const filled = args.map((arg) =>
      arg.replaceAll('{brief}', place.brief).replaceAll('{step}', place.step).replaceAll('{budget}', budget),
    );
    const { variables, elsewhere } = await makeCaches(join(place.dir, 'caches'), caches);
    const more = {
      ...variables,
      MOUND_BRIEF: place.brief,
      MOUND_STEP: place.step,
      MOUND_ROLE: brief.role,
      MOUND_AGENT: brief.agent,
      MOUND_RUN: brief.run,
      ...(budget !== '' && { MOUND_BUDGET_USD: budget }),
    };
    try {
      return await runCommand({
        command: [file, ...filled],
        cwd: place.work,
        env: environmentFor(process.env, env, more),
        stdin,
        limits: this.#limits,
        signal,
        onStarted: (mark, identity) => noteCommand(place.dir, mark, identity),
        ...(time && { time }),
      });
    } finally {
      for (const made of elsewhere) await rm(made, { recursive: true, force: true, maxRetries: 3 });
    }
  }

  async #stepOf(path: string, end: CommandEnd): Promise<Step | undefined> {
    const read = await readStep(path);
    if (read === undefined || 'step' in read) return read?.step;
    throw this.#failed({ ...end, says: `its step file cannot be used: ${read.fault}` }, undefined, undefined);
  }

  async #collect(work: string): Promise<Collected> {
    try {
      return await this.#options.workspaces.collect(work);
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      throw new ModelError('command-failed', `${this.name}: ${error.message}`, { spent: [{ model: this.name }] });
    }
  }

  #failed(end: CommandEnd, step: Step | undefined, kept: string | undefined): ModelError {
    const last = (end.stderr.trim() || end.stdout.trim()).slice(-500);
    const where = kept === undefined ? '' : `; what it had changed is kept in ${kept}`;
    const spent = end.kind === 'not-started' ? [] : [this.#spend(step)];
    return new ModelError('command-failed', `${this.name}: ${end.says}${where}${last === '' ? '' : `: ${last}`}`, {
      spent,
    });
  }

  #spend(step: Step | undefined): NonNullable<ModelTurn['spent']>[number] {
    const { usage, costUsd } = step ?? {};
    return {
      model: this.name,
      ...(usage && { usage: { ...usage, estimated: false } }),
      ...(costUsd !== undefined && { costUsd }),
    };
  }

  #turn(step: Step | undefined, calls: readonly Call[], end: CommandEnd): ModelTurn {
    const text = step?.text ?? [end.stdout, end.stderr].filter((said) => said !== '').join('\n');
    const spend = this.#spend(step);
    return {
      text,
      calls: calls.map((call, at) => ({ id: `call_${at}`, ...call })),
      usage: spend.usage ?? { ...noUsage, estimated: true },
      finish: 'stop',
      spent: [spend],
    };
  }
}

export function briefOf(request: ModelRequest): Brief {
  const first = request.messages.find(({ role }) => role === 'user');
  const brief = first === undefined ? undefined : parseBrief(first.content);
  if (brief === undefined) throw new ModelError('command-failed', 'the request holds no brief');
  return brief;
}

/** The directory as a commit, then what the command wants besides, then the end. */
function workerCalls(brief: Brief, { changes, skipped }: Collected, step: Step | undefined): Call[] {
  const wanted = (step?.calls ?? []).filter(({ name }) => name !== 'commit');
  const title = brief.role === 'worker' ? brief.task.title : 'work';
  const commit = { name: 'commit', arguments: { changes, message: step?.message ?? title } as unknown as JsonValue };
  const concerns = skipped.map((what) => `not committed: ${what}`);
  const status = changes.length > 0 ? 'done' : 'nothing-to-do';
  const finish = { name: 'finish', arguments: { status, concerns } };
  const hasFinish = wanted.some(({ name }) => name === 'finish');
  return [...(changes.length > 0 ? [commit] : []), ...wanted, ...(hasFinish ? [] : [finish])];
}

/** A second run goes on with the files as the first left them. */
async function redo(work: string, messages: readonly Message[]): Promise<void> {
  const turn = messages.findLast((message) => message.role === 'assistant');
  const commit = turn?.role === 'assistant' ? turn.calls.find(({ name }) => name === 'commit') : undefined;
  const changes = isJsonObject(commit?.arguments) ? commit.arguments['changes'] : undefined;
  for (const change of Array.isArray(changes) ? (changes as readonly JsonValue[]) : []) {
    if (!isJsonObject(change)) continue;
    const { path, content, encoding, mode } = change;
    // Links and bare changes of mode are left to the command to make again.
    if (typeof path !== 'string' || mode === 'symlink') continue;
    const at = join(work, path);
    if (content === null) await rm(at, { force: true });
    if (typeof content !== 'string') continue;
    await mkdir(join(at, '..'), { recursive: true });
    const bytes = encoding === 'base64' ? Buffer.from(content, 'base64') : content;
    await writeFile(at, bytes, mode === 'executable' ? { mode: 0o755 } : {});
  }
}

/** What it is given to read: its role, its brief, how to answer, and what came of its last step. */
function textFor({ messages, tools }: ModelRequest, isWorker: boolean): string {
  const last = messages.findLastIndex(({ role }) => role === 'assistant');
  const head = messages.filter(({ role }, at) => at < (last < 0 ? messages.length : 2) && role !== 'assistant');
  const since = last < 0 ? [] : messages.slice(last + 1);
  const how = isWorker
    ? `You stand in a directory with the files of the repository. Change them; when you end with exit code 0, all that you changed is committed as one commit, within your scope only. To report more than that, write JSON to the file that the variable MOUND_STEP names: ${stepForm}; of the tools only finish and flag are of use there.`
    : `Write your next step as JSON to the file that the variable MOUND_STEP names: ${stepForm}. You are then run again with what came of it, until you call finish. The directory is for reading.`;
  const used = isWorker ? tools.filter(({ name }) => name === 'finish' || name === 'flag') : tools;
  const list = used.map(
    ({ name, description, parameters }) => `- ${name}: ${description} ${JSON.stringify(parameters)}`,
  );
  const before = messages.slice(2, Math.max(2, last + 1)).map((message) => turnText(message));
  return [
    ...head.map(({ content }) => content),
    `# How you answer\n\n${how}\n\nTools:\n${list.join('\n')}`,
    ...(isWorker || before.length === 0 ? [] : [`# What you did before\n\n${before.join('\n')}`]),
    ...(since.length === 0
      ? []
      : [`# What came of your last step\n\n${since.map((message) => turnText(message)).join('\n')}`]),
    '',
  ].join('\n\n');
}

function turnText(message: Message): string {
  if (message.role === 'tool') return `${message.name} answered: ${message.content}`;
  if (message.role !== 'assistant') return message.content;
  return message.calls.map(({ name, arguments: given }) => `You called ${name} ${JSON.stringify(given)}`).join('\n');
}

/** Whose money it is: that of one agent on one task. */
const ownerOf = (brief: Brief): string =>
  `${brief.run} ${brief.agent} ${brief.role === 'worker' ? `${brief.task.id} ${brief.generation}` : brief.role}`;

/** It was run often enough, or has no money left. */
function blocked({ messages }: ModelRequest, why?: string): ModelTurn {
  const results = messages.filter((message) => message.role === 'tool').slice(-2);
  const concerns = [
    ...(why === undefined ? [] : [why]),
    ...results.map(({ content }) => saidBy(content).slice(0, 500)),
  ];
  const calls = [{ id: 'call_0', name: 'finish', arguments: { status: 'blocked', concerns } }];
  return { text: '', calls, usage: noUsage, finish: 'stop', spent: [] };
}

/** What a tool's answer says; all of it, where it cannot be read. */
function saidBy(content: string): string {
  try {
    const answer = JSON.parse(content) as JsonValue;
    return isJsonObject(answer) && typeof answer['says'] === 'string' ? answer['says'] : content;
  } catch {
    return content;
  }
}
