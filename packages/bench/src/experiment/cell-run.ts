import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';

import { commandsOf, handsOf, listRuns, makeModels, redacted, resumeSwarm, runSwarm, settingsOf, type RunHeader } from '@mound/swarm'; // prettier-ignore
import { openRepo, type Repo } from '@mound/vcs';

import { Interrupted } from '../harness/interrupt.ts';
import type { Cell } from './cells.ts';
import { readCellResult, writeWhole, type CellResult } from './cell-result.ts';
import type { Experiment } from './experiment-file.ts';
import { violationsOf } from './measures/dependencies.ts';
import { duplicateShare } from './measures/duplication.ts';
import { likenessOf } from './measures/likeness.ts';
import { spendOf } from './measures/spend.ts';
import { addedLines, codeOf, sizeOf, textOfSnapshot } from './measures/tree-text.ts';
import { withPrompts } from './prompts.ts';
import { scoreCell } from './score-cell.ts';
import { seedRepo, type Seed } from './starting-tree.ts';

/** Of the one run that each repository of an experiment has. */
export const runId = 'experiment';
const clockEveryMs = 2000;

export interface CellPlace {
  /** The cell's own directory. */
  readonly dir: string;
  readonly seeds: readonly Seed[];
  /** False: trees are built and scored with a network and all files within reach. */
  readonly isSandboxed: boolean;
  readonly signal: AbortSignal;
  /** Told what became of a directory that was there already. */
  readonly say: (line: string) => void;
}

/**
 * One arm with one seed: a run in a repository of its own, and what it came to.
 * A finished one is only read; one whose process died goes on as the swarm goes
 * on; one that died before its run began is begun anew. Errors: `Interrupted`;
 * what the swarm and the store throw.
 */
export async function runCell(cell: Cell, experiment: Experiment, place: CellPlace): Promise<CellResult> {
  const { dir, say } = place;
  const resultFile = join(dir, 'cell.json');
  const kept = readCellResult(resultFile);
  if (kept !== undefined) {
    say(`${cell.name}: finished before, kept`);
    return kept;
  }
  const repoDir = join(dir, 'repo');
  const header = await headerIn(repoDir);
  if (header === undefined && existsSync(dir)) {
    say(`${cell.name}: died before its run began; begun anew`);
    rmSync(dir, { recursive: true, force: true });
  }
  mkdirSync(dir, { recursive: true });
  writeWhole(join(dir, 'config.json'), redacted(cell.config, process.env) as object);
  const measured = await runAndMeasure(cell, experiment, place, header);
  const curve = await scoreCell(experiment, repoDir, { ...place, run: measured.commits > 0 ? runId : undefined });
  const score = curve?.points.at(-1)?.score ?? (experiment.score === undefined ? undefined : 0);
  const result = { ...measured, ...(score !== undefined && { score }), ...(curve && { curve }) };
  writeWhole(resultFile, result);
  return result;
}

async function runAndMeasure(
  cell: Cell,
  experiment: Experiment,
  place: CellPlace,
  begun: RunHeader | undefined,
): Promise<CellResult> {
  const { dir, say } = place;
  let header = begun;
  const repo = await openRepo(join(dir, 'repo'), { create: header === undefined });
  try {
    const isOver = header !== undefined && header.state !== 'running' && header.reason !== 'aborted';
    if (header !== undefined && !isOver) say(`${cell.name}: was cut off before its end; resumed`);
    let reason: string | undefined;
    if (!isOver) {
      if (header === undefined) await seedRepo(repo, place.seeds);
      reason = await execute(cell, experiment, repo, place, header !== undefined);
    }
    header = headerOf(repo);
    if (header === undefined) throw new Error(`${cell.name}: its run has left no record`);
    return measure(cell, experiment, repo, { ...header, ...(reason !== undefined && { reason }) }, place);
  } finally {
    await repo.close();
  }
}

const headerOf = (repo: Repo): RunHeader | undefined => listRuns(repo).find(({ run }) => run === runId)?.header;

/** Of a run that was begun; undefined where there is none, or no repository. */
async function headerIn(dir: string): Promise<RunHeader | undefined> {
  if (!existsSync(dir)) return undefined;
  const repo = await openRepo(dir).catch(() => undefined);
  try {
    return repo && headerOf(repo);
  } finally {
    await repo?.close();
  }
}

async function execute(
  cell: Cell,
  { goal, budget, prompts, here }: Experiment,
  repo: Repo,
  place: CellPlace,
  isResumed: boolean,
): Promise<string> {
  const { dir, signal } = place;
  const late = new AbortController();
  const clock = new Clock(join(dir, 'clock.json'));
  const left = budget.minutes === 'unlimited' ? budget.minutes : Math.max(0.001, budget.minutes - clock.seconds / 60);
  // Everything that is asked stays beside the result, so that it can be replayed; scripts are their own record.
  const record = cell.minds === 'live' ? { record: join(dir, 'cassette.jsonl') } : {};
  const config = { ...cell.config, ...record, bounds: { ...cell.config.bounds, minutes: left } };
  const { close: closeMinds, ...minds } = await makeModels(config, { repo });
  const { settings: commands, says } = commandsOf(config, `${runId}-${process.pid}`, process.env);
  if (says !== undefined) place.say(`${cell.name}: ${says}`);
  const { tasks, policy, roles = {}, ...settings } = settingsOf(config, goal);
  const unsafe = cell.unsafeWithout.length > 0 ? { unsafeWithout: cell.unsafeWithout } : {};
  const parts = {
    repo,
    ...minds,
    ...settings,
    roles: withPrompts(roles, prompts && resolve(here, prompts)),
    policy: { ...policy, ...unsafe },
    ...(commands && { commands }),
    processes: handsOf(config),
    signal: AbortSignal.any([signal, late.signal]),
  };
  const timer = left === 'unlimited' ? undefined : setTimeout(() => late.abort(), left * 60_000 + graceMs(budget));
  clock.start();
  try {
    const result = isResumed
      ? await resumeSwarm({ ...parts, runId })
      : await runSwarm({ ...parts, ...(tasks && { tasks }), goal, runId });
    if (result.reason === 'aborted' && !late.signal.aborted) throw new Interrupted();
    return late.signal.aborted ? 'time-limit' : result.reason;
  } finally {
    clearTimeout(timer);
    clock.stop();
    await closeMinds();
  }
}

/** Agents may end their turn when the time is over; a mind that does not answer must not hold up the others for ever. */
const graceMs = ({ minutes }: Experiment['budget']): number =>
  minutes === 'unlimited' ? 0 : Math.min(10, minutes / 10) * 60_000;

/** How long a cell has run, over all its processes; kept in a file, for a process may die. */
class Clock {
  readonly #file: string;
  readonly #before: number;
  #startedMs: number | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(file: string) {
    this.#file = file;
    this.#before = secondsIn(file);
  }

  get seconds(): number {
    return this.#before + (this.#startedMs === undefined ? 0 : (performance.now() - this.#startedMs) / 1000);
  }

  start(): void {
    this.#startedMs = performance.now();
    this.#timer = setInterval(() => this.#write(), clockEveryMs);
    this.#timer.unref();
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#write();
  }

  #write(): void {
    writeWhole(this.#file, { seconds: this.seconds });
  }
}

function secondsIn(file: string): number {
  if (!existsSync(file)) return 0;
  return (JSON.parse(readFileSync(file, 'utf8')) as { readonly seconds: number }).seconds;
}

function measure(
  cell: Cell,
  experiment: Experiment,
  repo: Repo,
  header: RunHeader,
  { dir, seeds }: CellPlace,
): CellResult {
  const { dependencies, references, documentation } = experiment;
  const { config } = cell;
  // What came before the run is nobody's work: a starting tree lands before its first record.
  const landings = [...repo.log()].filter(({ changes }) => changes.length > 0).toReversed();
  const own = landings.filter(({ author }) => author.name !== 'experiment');
  const startSeq = (landings.findLast(({ author }) => author.name === 'experiment')?.seq as number | undefined) ?? 0;
  const without = [documentation?.into ?? [], 'design', config.guide?.folder ?? 'field-guide'].flat();
  const before = startSeq === 0 || seeds.length === 0 ? new Map<string, string>() : textOfSnapshot(repo.snapshot(startSeq), without); // prettier-ignore
  const snapshot = repo.snapshot();
  const tree = textOfSnapshot(snapshot, without);
  const code = codeOf(tree);
  const conflicts = [...repo.events()].filter(({ kind }) => kind === 'conflict.opened').length;
  return {
    format: 1,
    cell: cell.name,
    minds: cell.minds,
    reason: header.reason ?? header.state,
    ...(header.detail !== undefined && { detail: header.detail }),
    how: header.generation > 1 ? 'resumed' : 'in one go',
    seconds: secondsIn(join(dir, 'clock.json')),
    commits: own.length,
    conflicts,
    // The goal itself is no task.
    tasks: Math.max(0, repo.snapshot().records(`swarm/${runId}/brief/`).length - 1),
    acceptedLines: addedLines(before, tree),
    size: sizeOf(tree),
    duplicateShare: duplicateShare(code),
    violations: dependencies === undefined ? [] : violationsOf(tree, dependencies.allow),
    ...(references.length > 0 && { likeness: likenessOf(code, references) }),
    spend: spendOf(repo, runId),
    treeHash: treeHashOf(repo),
  };
}

/** Of the newest tree; two with the same files have the same. */
export function treeHashOf(repo: Repo): string {
  const hash = createHash('sha256');
  for (const { path, mode, blob } of repo.snapshot().list()) hash.update(`${mode} ${String(blob)} ${path}\n`);
  return hash.digest('hex');
}
