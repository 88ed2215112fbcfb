import { execFile } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { openRepo, type Repo } from '@mound/vcs';
import { exportGit, requireGit } from '@mound/vcs/git';
import { makeResult } from '../../harness/make-result.ts';
import { withTempDir } from '../../harness/temp-dir.ts';
import { wholeNumber, type Suite, type SuiteContext, type SuiteOutcome } from '../suite.ts';
import { AcknowledgementFiles } from './acknowledgements.ts';
import { generateHistory } from './generated.ts';
import { measurePeers } from './peers.ts';
import { replayHistory, type ReplayResult } from './replay.ts';
import { GitHistory } from './source.ts';
import { historySamples } from './samples.ts';
import { historyNotes, renderSummary, summarise, type HistoryInput } from './summary.ts';
import type { Verification, VerifyRequest } from './verify.ts';

const agentsDefault = 64;
const windowDefault = 64;
/** A shorter history is no load: a generated one takes its place. */
const commitsMin = 200;
const generatedShape = { seed: 20261129, commits: 640, files: 90 };

interface Values {
  readonly repo?: string;
  readonly agents?: number;
  readonly window?: number;
  /** commander's form of `--no-record`. */
  readonly record?: boolean;
  /** The same of `--no-peers`. */
  readonly peers?: boolean;
  readonly commits?: number;
  readonly keep?: string;
}

interface Source {
  readonly gitDir: string;
  readonly kind: HistoryInput['kind'];
  readonly history: GitHistory;
}

/** The named repository; else this checkout's own, or a generated one where that is short or absent. */
async function openSource(values: Values, context: SuiteContext, dir: string): Promise<Source> {
  await requireGit();
  if (values.repo !== undefined) {
    const history = await GitHistory.open(values.repo);
    return { gitDir: history.gitDir, kind: 'git', history };
  }
  const own = await GitHistory.open(process.cwd()).catch(() => undefined);
  if (own !== undefined && own.commits.length >= commitsMin) return { gitDir: own.gitDir, kind: 'git', history: own };
  await own?.close();
  const gitDir = join(dir, 'generated.git');
  const commits = Math.min(values.commits ?? generatedShape.commits, generatedShape.commits);
  await generateHistory(gitDir, { ...generatedShape, commits }, context.signal);
  return { gitDir, kind: 'generated', history: await GitHistory.open(gitDir) };
}

const verifier = fileURLToPath(new URL('../../../bin/verify-history.js', import.meta.url));

/** The proof runs in a process of its own, from files alone. */
async function verifyApart(request: VerifyRequest, signal: AbortSignal): Promise<Verification> {
  const options = { signal, maxBuffer: 1 << 26 };
  const { stdout } = await promisify(execFile)(process.execPath, [verifier, JSON.stringify(request)], options).catch(
    (error: unknown) => {
      // It exits with 1 where it found a fault; its words are on standard output all the same.
      if (typeof error === 'object' && error !== null && 'stdout' in error && error.stdout)
        return error as { stdout: string };
      const words = typeof error === 'object' && error !== null && 'stderr' in error ? String(error.stderr) : '';
      throw new Error(`the proof could not be made: ${words.trim().split('\n').at(-1) || String(error)}`);
    },
  );
  return JSON.parse(stdout) as Verification;
}

function countEvents(repo: Repo): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { kind } of repo.events()) counts[kind] = (counts[kind] ?? 0) + 1;
  return counts;
}

async function runIn(dir: string, context: SuiteContext): Promise<SuiteOutcome> {
  const values = context.values as Values;
  const { agents = agentsDefault, window = windowDefault } = values;
  const { record: useRecord = true, peers: usePeers = true } = values;
  const source = await openSource(values, context, dir);
  const { history, gitDir, kind } = source;
  const commits = Math.min(values.commits ?? Number.POSITIVE_INFINITY, history.commits.length);
  const replayed = history.first(commits);
  const repoDir = join(dir, 'repo');
  const repo = await openRepo(repoDir, { create: true });
  const acknowledgements = new AcknowledgementFiles(join(dir, 'acknowledgements'));
  try {
    const replay = await replayWithProgress(context, {
      repo,
      history: replayed,
      acknowledgements,
      agents,
      window,
      useRecord,
    });
    acknowledgements.close();
    const exported = join(dir, 'export.git');
    await exportGit(repo, exported, {});
    const request: VerifyRequest = {
      acknowledgements: join(dir, 'acknowledgements'),
      repo: repoDir,
      exported,
      source: gitDir,
      commit: useRecord ? replayed.commits.at(-1)?.id : undefined,
    };
    const verification = await verifyApart(request, context.signal);
    const peers = usePeers ? await measurePeers(replayed, join(dir, 'peers'), context.signal) : [];
    const summary = summarise({ kind, commits, window }, agents, replay, verification, countEvents(repo), peers);
    const isProven =
      verification.controlShows &&
      verification.lost === 0 &&
      verification.exportFsckClean &&
      (verification.treeIdentical || !useRecord);
    const isFinished = replay.swarm.reason === 'finished';
    const samples = historySamples(summary);
    const seeds = kind === 'generated' ? [generatedShape.seed] : [];
    const result = await makeResult({ suite: 'history', samples, notes: historyNotes(summary), seeds });
    const exitCode = isProven && isFinished ? 0 : 1;
    return { kind: 'result', result: { ...summary, ...result }, text: renderSummary(summary), exitCode };
  } finally {
    acknowledgements.close();
    await repo.close();
    await history.close();
  }
}

async function replayWithProgress(
  { progress, signal }: SuiteContext,
  options: Omit<Parameters<typeof replayHistory>[0], 'signal' | 'onEvent' | 'onWindow'>,
): Promise<ReplayResult> {
  let [ended, conflicts] = [0, 0];
  progress.begin(Math.ceil(options.history.commits.length / options.window));
  try {
    return await replayHistory({
      ...options,
      signal,
      onEvent: ({ kind }) => {
        if (kind === 'task.finished') ended++;
        if (kind === 'conflict.opened') conflicts++;
      },
      onWindow: (number, count) =>
        progress.step(`window ${number + 1} of ${count}: ${ended} tasks ended, ${conflicts} conflicts`),
    });
  } finally {
    progress.end();
  }
}

/** The main job: a real git history lands through a swarm. */
export const historySuite: Suite = {
  name: 'history',
  summary: 'A git history lands through a swarm, window by window, and is proven by plain git',
  options: [
    { flags: '--repo <git>', description: "the git repository (default: this checkout's, else a generated history)" },
    { flags: '--agents <n>', description: 'workers and mergers at once (default: 64)', parse: wholeNumber(1, 10_000) },
    {
      flags: '--window <n>',
      description: 'commits that start from one snapshot (default: 64)',
      parse: wholeNumber(1, 100_000),
    },
    { flags: '--commits <n>', description: 'only the first so many commits', parse: wholeNumber(1, 10_000_000) },
    { flags: '--no-record', description: 'leave conflicts open instead of resolving them from the record' },
    { flags: '--no-peers', description: 'without git making the same commits beside it' },
    {
      flags: '--keep <dir>',
      description: 'leave the repository, the export and the acknowledgement files in this directory',
    },
  ],
  async run(context) {
    const { keep } = context.values as Values;
    if (keep === undefined) return withTempDir(context.dir, (dir) => runIn(dir, context));
    await mkdir(keep, { recursive: true });
    return runIn(keep, context);
  },
};
