import type { Repo } from '@mound/vcs';
import {
  OpenAiModel,
  runSwarm,
  ScriptedModel,
  serveModel,
  type Script,
  type ScriptedTurn,
  type SwarmEvent,
  type SwarmResult,
} from '@mound/swarm';
import type { AcknowledgementFiles } from './acknowledgements.ts';
import { resolveFromRecord } from './recorded.ts';
import type { GitHistory, RecordedCommit } from './source.ts';
import { correctToRecord, Window } from './window.ts';

export interface ReplayOptions {
  readonly repo: Repo;
  readonly history: GitHistory;
  readonly acknowledgements: AcknowledgementFiles;
  readonly agents: number;
  /** Commits in one window. */
  readonly window: number;
  /** False: conflicts stay open and nothing is corrected. */
  readonly useRecord: boolean;
  readonly signal: AbortSignal;
  readonly onEvent: (event: SwarmEvent) => void;
  readonly onWindow: (number: number, count: number) => void;
}

export interface ReplayResult {
  readonly swarm: SwarmResult;
  readonly windows: number;
  /** Conflicts whose hunks came from the record. */
  readonly resolvedFromRecord: number;
  /** Paths that clean merges had made other than recorded. */
  readonly corrections: number;
  /** Intents that corrected them. */
  readonly correctionIntents: number;
}

/** A worker flags a file from this size on, once in a run. */
const flagBytesMin = 128 * 1024;
/** Paths of a task's scope; a commit that touches more may change everything. */
const scopeMax = 500;

const turn = (name: string, args: NonNullable<ScriptedTurn['calls']>[number]['arguments']): ScriptedTurn => ({
  calls: [{ name, arguments: args }],
});
const finish = (status: string, ...concerns: string[]): ScriptedTurn => turn('finish', { status, concerns });

/**
 * Lands a recorded history through a swarm: a planner hands out a window's
 * commits as tasks, workers put what their commit recorded, based on the
 * window's start, and mergers settle what would not merge.
 */
class Replay {
  resolvedFromRecord = 0;
  corrections = 0;
  correctionIntents = 0;
  private readonly options: ReplayOptions;
  private readonly count: number;
  private current: Window | undefined;
  private next = 0;
  private readonly flagged = new Set<string>();
  private readonly results = new Map<string, Buffer>();

  constructor(options: ReplayOptions) {
    this.options = options;
    this.count = Math.ceil(options.history.commits.length / options.window);
  }

  get windows(): number {
    return this.next;
  }

  private get window(): Window {
    if (this.current === undefined) throw new Error('no window is open');
    return this.current;
  }

  readonly planner: Script = async ({ results }) => {
    const [last] = results;
    if (last?.name === 'delegate' && last.value.ok) return turn('wait', {});
    if (last !== undefined && !last.value.ok) return finish('blocked', last.value.says);
    const { repo, history, acknowledgements, useRecord } = this.options;
    if (this.current !== undefined && useRecord) {
      const paths = await correctToRecord(repo, history, this.current, acknowledgements);
      this.corrections += paths;
      if (paths > 0) this.correctionIntents++;
    }
    if (this.next === this.count) return finish('done');
    return turn('delegate', { tasks: await this.openWindow() });
  };

  private async openWindow(): Promise<{ [key: string]: string | number | string[] }[]> {
    const { history, window, onWindow, repo } = this.options;
    const number = this.next++;
    onWindow(number, this.count);
    const opened = new Window(number, await history.read(number * window, (number + 1) * window));
    this.current = opened;
    this.results.clear();
    const base = repo.snapshot().seq;
    return opened.commits.map((commit, at) => ({
      id: opened.taskId(at),
      title: commit.subject || '(no subject)',
      scope: commit.changes.length > scopeMax ? [] : commit.changes.map(({ path }) => path),
      brief: `Put the files that commit ${commit.id} recorded.`,
      base,
      input: at,
    }));
  }

  private commitOf(input: unknown): RecordedCommit {
    const commit = typeof input === 'number' ? this.window.commits[input] : undefined;
    if (commit === undefined) throw new Error(`no commit ${String(input)} in window ${this.window.number}`);
    return commit;
  }

  readonly worker: Script = async ({ brief, results }) => {
    const commit = this.commitOf(brief.role === 'worker' ? brief.input : undefined);
    const [last] = results;
    if (last?.name === 'commit') return last.value.ok ? finish('done') : finish('blocked', last.value.says);
    if (commit.changes.length === 0) return finish('nothing-to-do');
    const large = last?.name === 'flag' ? undefined : await this.largeFileOf(commit);
    if (large !== undefined) return turn('flag', { path: large, reason: `larger than ${flagBytesMin} bytes` });
    const changes = commit.changes.map(({ path, mode, id }) =>
      id === undefined ? { path, content: null } : { path, contentRef: `${mode}:${id}`, mode },
    );
    const message = [commit.subject || '(no subject)', commit.body].filter((part) => part !== '').join('\n\n');
    return turn('commit', { changes, message, rationale: `As recorded in ${commit.id}.` });
  };

  /** A file over the threshold that nobody has flagged yet. */
  private async largeFileOf(commit: RecordedCommit): Promise<string | undefined> {
    for (const change of commit.changes) {
      if (change.id === undefined || this.flagged.has(change.path)) continue;
      const content = await this.options.history.content(change);
      // Another worker may have flagged it while this one was reading.
      if (content === undefined || content.length < flagBytesMin || this.flagged.has(change.path)) continue;
      this.flagged.add(change.path);
      return change.path;
    }
    return undefined;
  }

  readonly merger: Script = async ({ brief, results }) => {
    if (brief.role !== 'merger') throw new Error('the merger has a merger brief');
    const [last] = results;
    const { repo, history } = this.options;
    if (last?.name === 'resolve' && last.value.ok) this.resolvedFromRecord++;
    const open = [brief, ...(brief.also ?? [])].find((work) => repo.conflict(work.conflict).state === 'open');
    if (open === undefined) return finish('done');
    const { conflict } = open;
    // The file may have moved on since it was read: read it again.
    if (last?.name !== 'read_conflict') return turn('read_conflict', { conflict });
    const view = repo.conflict(conflict, Number(last.value['asOf']));
    const resolved = await Promise.all(
      view.paths.map(async ({ path, base, current, incoming }) => {
        const change = this.window.record.get(path);
        const sides = { base: base.content, current: current.content, incoming: incoming.content };
        const result = resolveFromRecord(sides, change && (await history.content(change)));
        if (result === null) return { path, content: null };
        const contentRef = `result:${conflict}:${brief.attempt}:${path}`;
        this.results.set(contentRef, result);
        return { path, contentRef, ...(change && { mode: change.mode }) };
      }),
    );
    const reason = `as recorded at the end of window ${this.window.number}`;
    const because = { kind: 'decision', id: `history/window-${this.window.number}` };
    const otherwise = { fate: 'discarded', reason, because };
    return turn('resolve', { conflict, results: resolved, otherwise });
  };

  readonly content = async (ref: string): Promise<Uint8Array> => {
    const result = this.results.get(ref);
    if (result !== undefined) return result;
    const [mode, id] = ref.split(':');
    const content = await this.options.history.content({ mode: mode as 'file', id });
    if (content === undefined) throw new Error(`nothing stands behind '${ref}'`);
    return content;
  };
}

export async function replayHistory(options: ReplayOptions): Promise<ReplayResult> {
  const { repo, agents, acknowledgements, signal, onEvent, useRecord } = options;
  const replay = new Replay(options);
  const script = new ScriptedModel({ planner: replay.planner, worker: replay.worker, merger: replay.merger }, 'replay');
  // The merger is a mind behind an endpoint, reached as any provider is; bulk work stays in the process.
  const server = await serveModel(script);
  try {
    const merger = new OpenAiModel({ baseURL: server.url, model: 'merger' });
    const swarm = await runSwarm({
      repo,
      goal: 'Land the recorded history, window by window',
      models: { planner: script, worker: script, ...(useRecord && { merger }) },
      agentsMax: agents,
      content: replay.content,
      // A replay is made again from its history: it needs no conversations to go on with.
      policy: { transcripts: false, thrashing: false },
      onEvent,
      onAcknowledged: (agent, { operationId, outcome, paths }) =>
        acknowledgements.write(agent, operationId, outcome, paths),
      signal,
    });
    const { windows, resolvedFromRecord, corrections, correctionIntents } = replay;
    return { swarm, windows, resolvedFromRecord, corrections, correctionIntents };
  } finally {
    await server.close();
  }
}
