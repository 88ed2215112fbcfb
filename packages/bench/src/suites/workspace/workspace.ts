import { join } from 'node:path';

import { seededRandom } from '@mound/vcs';

import { gitVersion } from '../../harness/machine.ts';
import { makeResult } from '../../harness/make-result.ts';
import { sampleOf, type Sample, type WorkloadFields } from '../../harness/result-file.ts';
import { runRounds } from '../../harness/rounds.ts';
import { medianOf } from '../../harness/statistics.ts';
import { withTempDir } from '../../harness/temp-dir.ts';
import { editLines } from '../../workloads/source-text.ts';
import { Slab } from '../../workloads/slab.ts';
import { wholeNumber, type Suite, type SuiteContext, type SuiteOutcome, type SuiteSize } from '../suite.ts';
import { targetNotes, type Target } from '../targets.ts';
import { GitPlaces, MoundPlaces, type Places } from './places.ts';
import { scanFiles, treeFiles, wrongFilesBelow } from './tree-files.ts';

export interface WorkspaceParameters {
  readonly files: number;
  readonly bytes: number;
  readonly changed: number;
  readonly statusFiles: number;
  readonly rounds: number;
  readonly seed: number;
}

const common = { bytes: 4096, changed: 10, seed: 1 };

const sizes: Readonly<Record<SuiteSize, WorkspaceParameters>> = {
  quick: { ...common, files: 500, statusFiles: 2000, rounds: 3 },
  default: { ...common, files: 5000, statusFiles: 20_000, rounds: 5 },
  full: { ...common, files: 5000, statusFiles: 100_000, rounds: 9 },
};

/** A look at a file does not depend on what it holds; 100,000 of them need not fill the disk. */
const statusBytes = 100;
/** The control does what Mound does, then is busy until so many times as long has passed. */
const slowdown = 4;
/** So fast, of Mound, the control may seem at most. */
const controlMax = 0.5;

const targets: readonly Target[] = [
  {
    what: 'adding a workspace, times as fast as git worktree add',
    metric: 'ratioToPeer',
    where: { workload: 'workspace-add', peer: 'git-worktree' },
    atLeast: 2.5,
  },
  { what: 'a sync, in ms', metric: 'workspaceMs', where: { workload: 'workspace-sync' }, below: 50 },
  {
    what: 'status, of the speed of a bare lstat scan',
    metric: 'ratioToPeer',
    where: { workload: 'workspace-status', peer: 'lstat-scan' },
    atLeast: 0.5,
  },
];

export const workspaceSuite: Suite = {
  name: 'workspace',
  summary: 'Files of a workspace: adding one, a sync, status; beside git worktrees and a bare scan',
  options: [
    {
      flags: '--files <n>',
      description: 'files that are added, and of which a sync changes some',
      parse: wholeNumber(20, 1_000_000),
    },
    { flags: '--bytes <n>', description: 'bytes of each of them', parse: wholeNumber(500, 10_000_000) },
    { flags: '--changed <n>', description: 'files that a sync changes', parse: wholeNumber(1, 5000) },
    { flags: '--status-files <n>', description: 'files that status looks at', parse: wholeNumber(1, 1_000_000) },
    { flags: '--rounds <n>', description: 'rounds after the warm-up', parse: wholeNumber(1, 100) },
    { flags: '--seed <n>', description: 'decides contents and edits', parse: wholeNumber(0, 2 ** 31 - 1) },
  ],
  run: (context) => runWorkspaceSuite({ ...sizes[context.size], ...context.values }, context),
};

/** One thing that is measured, once a round; gives milliseconds. */
interface Arm {
  readonly name: string;
  readonly run: () => Promise<number>;
}

interface Phase {
  readonly workload: WorkloadFields;
  readonly arms: readonly Arm[];
}

const mound = 'mound';
const control = 'mound-slow';
const linked = 'mound-links';

export async function runWorkspaceSuite(
  parameters: WorkspaceParameters,
  { dir: parent, signal, progress }: Pick<SuiteContext, 'dir' | 'signal' | 'progress'>,
): Promise<SuiteOutcome> {
  const { files: count, bytes, statusFiles, rounds, seed } = parameters;
  const hasGit = (await gitVersion()) !== undefined;
  return withTempDir(parent, async (dir): Promise<SuiteOutcome> => {
    const samples: Sample[] = [];
    const open: { close(): Promise<void> }[] = [];
    const opened = async <P extends { close(): Promise<void> }>(making: Promise<P>): Promise<P> => {
      const place = await making;
      open.push(place);
      return place;
    };
    const measure = async (phase: Phase): Promise<void> => {
      samples.push(...(await measured(phase, rounds, signal, (label) => progress.step(label))));
    };
    progress.begin((4 + 3 + 3) * (rounds + 1));
    try {
      const files = treeFiles(count, bytes, seed);
      const ours = await opened(MoundPlaces.create(join(dir, mound), files));
      const slow = await opened(MoundPlaces.create(join(dir, control), files));
      const git = hasGit ? await opened(GitPlaces.create(join(dir, 'git'), files, signal)) : undefined;
      const subjects: [string, Places][] = [
        [mound, ours],
        [control, slow],
      ];
      if (git !== undefined) subjects.push(['git-worktree', git]);
      const wrong = new Map<string, number>();
      const readBack = (name: string, place: string, wanted: ReadonlyMap<string, Buffer>): void => {
        wrong.set(name, (wrong.get(name) ?? 0) + wrongFilesBelow(place, wanted));
      };
      await measure({
        workload: { workload: 'workspace-add', files: count, bytes },
        arms: [
          ...subjects.map(([name, places]) => ({
            name,
            run: () => places.add((place) => readBack(name, place, files)),
          })),
          { name: linked, run: () => ours.addLinked((place) => readBack(linked, place, files)) },
        ],
      });
      await measure({
        workload: { workload: 'workspace-sync', files: count, bytes, changed: parameters.changed },
        arms: subjects.map(([name, places]) => {
          const edits = new Edits(files, parameters);
          return {
            name,
            run: async () => {
              const ms = await places.follow(edits.next());
              readBack(name, places.standing, edits.files);
              return ms;
            },
          };
        }),
      });
      for (const [name, found] of wrong) {
        samples.push(sampleOf(name, { workload: 'read-back', files: count, bytes }, 'wrongFiles', [found]));
      }
      const many = await opened(MoundPlaces.create(join(dir, 'status'), treeFiles(statusFiles, statusBytes, seed)));
      await measure({
        workload: { workload: 'workspace-status', files: statusFiles, bytes: statusBytes },
        arms: [
          { name: mound, run: () => many.status() },
          { name: control, run: () => many.status() },
          { name: 'lstat-scan', run: () => Promise.resolve(scanMs(many.standing)) },
        ],
      });
    } finally {
      progress.end();
      for (const place of open.toReversed()) await place.close();
    }
    const { notes, isRight } = judge(samples);
    if (!hasGit) notes.push('missing: git-worktree: there is no git');
    const result = await makeResult({ suite: workspaceSuite.name, samples, notes, seeds: [seed] });
    return { kind: 'result', result, exitCode: isRight ? 0 : 1 };
  });
}

/** The same edits for each subject. */
class Edits {
  readonly files: Map<string, Buffer>;
  private readonly random: ReturnType<typeof seededRandom>;
  private readonly slab = new Slab();
  private readonly changed: number;

  constructor(files: ReadonlyMap<string, Buffer>, { changed, seed }: WorkspaceParameters) {
    this.files = new Map(files);
    this.random = seededRandom(seed + 1);
    this.changed = Math.min(changed, files.size);
  }

  next(): Map<string, Buffer> {
    const paths = [...this.files.keys()];
    const edited = new Map<string, Buffer>();
    while (edited.size < this.changed) {
      const path = paths[this.random.below(paths.length)] ?? '';
      const before = this.files.get(path);
      if (before !== undefined) edited.set(path, editLines(this.random, before, 3, this.slab));
    }
    for (const [path, content] of edited) this.files.set(path, content);
    return edited;
  }
}

function scanMs(root: string): number {
  const from = performance.now();
  scanFiles(root);
  return performance.now() - from;
}

function beBusyMs(ms: number): number {
  const from = performance.now();
  while (performance.now() - from < ms);
  return performance.now() - from;
}

async function measured(
  { workload, arms }: Phase,
  rounds: number,
  signal: AbortSignal,
  step: (label: string) => void,
): Promise<Sample[]> {
  const times = new Map<string, number[]>(arms.map(({ name }) => [name, []]));
  await runRounds(arms, rounds, signal, async ({ name, run }, round) => {
    step(`${workload['workload']}: ${name}, ${round < 0 ? 'warm-up' : `round ${round + 1} of ${rounds}`}`);
    const ms = await run();
    const spent = name === control ? ms + beBusyMs(ms * (slowdown - 1)) : ms;
    if (round >= 0) times.get(name)?.push(spent);
  });
  const ours = times.get(mound) ?? [];
  const ratio = (subject: string, mine: readonly number[], peer: string, others: readonly number[]): Sample =>
    sampleOf(
      subject,
      { ...workload, peer },
      'ratioToPeer',
      mine.map((ms, round) => (others[round] ?? Number.NaN) / ms),
    );
  return arms.flatMap(({ name }) => {
    const mine = times.get(name) ?? [];
    const sample = sampleOf(name, workload, 'workspaceMs', mine);
    if (name === mound) return [sample];
    const isOurs = name === control || name === linked;
    return [sample, isOurs ? ratio(name, mine, mound, ours) : ratio(mound, ours, name, mine)];
  });
}

/** What the figures come to; wrong files, and a control that does not show, fail the run. Targets never do. */
export function judge(samples: readonly Sample[]): { readonly notes: string[]; readonly isRight: boolean } {
  const wrong = samples.filter(({ metric }) => metric === 'wrongFiles');
  const bad = wrong.filter(({ max }) => max > 0);
  const controls = samples.filter(({ subject, metric }) => subject === control && metric === 'ratioToPeer');
  const hidden = controls.filter(({ median }) => median > controlMax);
  const shown = controls.length === 0 ? Number.NaN : medianOf(controls.map(({ median }) => median));
  return {
    isRight: bad.length === 0 && hidden.length === 0 && controls.length > 0,
    notes: [
      ...targetNotes(targets, samples, mound),
      bad.length === 0
        ? 'read back: every file in place is byte for byte what it should be'
        : bad.map(({ subject, max }) => `read back: ${subject} has ${max} WRONG FILES`).join('; '),
      hidden.length === 0
        ? `control: a Mound that takes ${slowdown} times as long shows as ${shown.toPrecision(3)} times as fast`
        : `control: a Mound that takes ${slowdown} times as long DOES NOT SHOW in ${hidden.map(({ workload }) => workload['workload']).join(', ')}; trust nothing here`,
      "git's times include the start of its process; Mound runs in the bench's own, as it does in a swarm",
      `${linked}: hard links; the warm-up fills the cache that the rounds link from`,
    ],
  };
}
