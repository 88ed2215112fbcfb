import { environmentFor, runCommand, toolLimits, type CommandEnd, type Sandbox } from '@mound/swarm';
import { writeSnapshot, type Snapshot } from '@mound/vcs';

import { throwIfInterrupted } from '../harness/interrupt.ts';
import { withTempDir } from '../harness/temp-dir.ts';
import type { Scored } from './curve.ts';
import { lastWords, scoreDirectory, type Scorer } from './scorer.ts';

export interface SnapshotBounds {
  /** For the shell; undefined: there is nothing to build. */
  readonly build: string | undefined;
  readonly scorer: Scorer;
  readonly sandbox: Sandbox;
  /** Directories that neither build nor score sees; the build and the engine do not see the corpus either. */
  readonly hidden: readonly string[];
  readonly buildSeconds: number;
  readonly scoreSeconds: number;
  /** Parent of the directory; default: the system's. */
  readonly dir: string | undefined;
  readonly signal: AbortSignal;
}

const nothing: Omit<Scored, 'state'> = {
  passed: 0,
  total: 0,
  categories: [],
  buildSeconds: 0,
  scoreSeconds: 0,
  reason: '',
};

const outputBytesMax = 16 * 1024;
const rounded = (ms: number): number => Math.round(ms) / 1000;

async function timed<Result>(act: () => Promise<Result>): Promise<[Result, number]> {
  const from = performance.now();
  const result = await act();
  return [result, rounded(performance.now() - from)];
}

/** Builds a snapshot in a new directory, which is removed again, and asks it. Errors: {@link Interrupted}. */
export function scoreSnapshot(snapshot: Snapshot | undefined, bounds: SnapshotBounds): Promise<Scored> {
  if (snapshot === undefined || snapshot.list().length === 0) return Promise.resolve({ ...nothing, state: 'empty' });
  return scoreTree((dir) => writeSnapshot(snapshot, dir), bounds);
}

/** Builds whatever `write` puts into a new directory, and asks it. Errors: {@link Interrupted}. */
export function scoreTree(write: (dir: string) => Promise<unknown>, bounds: SnapshotBounds): Promise<Scored> {
  const { build, scorer, sandbox, signal } = bounds;
  return withTempDir(bounds.dir, async (dir) => {
    await write(dir);
    const env = environmentFor(process.env, [], {});
    const unseen = scorer.kind === 'engine' ? [...bounds.hidden, scorer.corpus] : bounds.hidden;
    let buildSeconds = 0;
    if (build !== undefined) {
      let end: CommandEnd;
      [end, buildSeconds] = await timed(() =>
        runCommand({
          command: ['/bin/sh', '-c', build],
          cwd: dir,
          env,
          isMerged: true,
          sandbox,
          hidden: unseen,
          limits: { ...toolLimits, seconds: bounds.buildSeconds, outputBytesMax },
          signal,
        }),
      );
      throwIfInterrupted(signal);
      if (end.code !== 0) {
        const state = end.kind === 'timed-out' ? 'build-timed-out' : 'build-failed';
        return { ...nothing, state, buildSeconds, reason: lastWords(`${end.stdout}\n${end.says}`) };
      }
    }
    const { hidden, scoreSeconds: seconds } = bounds;
    const askBounds = { dir, sandbox, env, seconds, signal, hidden: scorer.kind === 'engine' ? unseen : hidden };
    const [answer, scoreSeconds] = await timed(() => scoreDirectory(scorer, askBounds));
    return { ...answer, buildSeconds, scoreSeconds };
  });
}
