import { seededRandom } from '@mound/vcs';

import { AskedProcess } from '../../harness/asked-process.ts';
import { percentileOf } from '../../harness/statistics.ts';
import { commitAndNote } from './growth.ts';
import type { GrowingRepo } from './growing-repo.ts';
import type { Journal } from './journal.ts';
import type { ScaleParameters } from './parameters.ts';
import { readVersions } from './read-back.ts';
import type { ListAnswer, LogAnswer, OpenAnswer, ReaderRequest } from './reader-process.ts';
import type { ScaleSamples } from './samples.ts';

const listTimes = 5;
const snapshotsOpened = 10_000;
const logPaths = 200;

/** Read with other bytes in mind than were put: each has to be told of. */
const controlReads = 5;

const spoilt = (journal: Journal): Pick<Journal, 'length' | 'row'> => ({
  length: journal.length,
  row: (at) => ({ ...journal.row(at), blob: '0'.repeat(64) }),
});

/** Starts a process that has nothing but the repository's directory. */
export async function openReader(dir: string, signal: AbortSignal): Promise<[AskedProcess<ReaderRequest>, OpenAnswer]> {
  const reader = new AskedProcess<ReaderRequest>('scale-reader', signal);
  try {
    return [reader, await reader.ask<OpenAnswer>({ kind: 'open', dir })];
  } catch (error) {
    await reader.close();
    throw error;
  }
}

/** Everything that is read when the history is there; gives what was read wrong. */
export async function measureReads(
  grown: GrowingRepo,
  parameters: ScaleParameters,
  samples: ScaleSamples,
): Promise<{ readonly faults: readonly string[]; readonly versionsRead: number; readonly controlShows: boolean }> {
  const { dir, signal, journal, seededSeq } = grown;
  const { seed, readBack, files } = parameters;
  const [reader, opened] = await openReader(dir, signal);
  try {
    samples.add('openMs', {}, [opened.openMs]);
    samples.add('residentMiB', { at: 'opened' }, [opened.residentMiB]);
    const versions = await readVersions(reader, journal, readBack, seed, signal);
    const control = await readVersions(reader, spoilt(journal), controlReads, seed, signal);
    samples.add('readUsP50', { at: 'any old version' }, [percentileOf(versions.timesUs, 0.5)]);
    samples.add('readUsP99', { at: 'any old version' }, [percentileOf(versions.timesUs, 0.99)]);
    samples.add('residentMiB', { at: 'all read' }, [versions.residentMiB]);
    const head = journal.row(journal.length - 1).seq;
    // Half way through the history: as many entries before it as after.
    const old = journal.row(Math.floor(journal.length / 2)).seq;
    const faults = [...versions.faults];
    for (const [at, seq] of [
      ['head', head],
      ['old seq', old],
      ['before the first commit', seededSeq],
    ] as const) {
      const random = seededRandom(seed + seq);
      const opens = await reader.ask<number>({
        kind: 'snapshots',
        seqs: Array.from({ length: snapshotsOpened }, () => seq),
      });
      samples.add('snapshotOpenUs', { at }, [opens]);
      const listed = await reader.ask<ListAnswer>({ kind: 'list', seq, times: listTimes });
      samples.add('listMs', { at }, [...listed.timesMs]);
      if (listed.counts.some((count) => count !== files))
        faults.push(`a listing at ${at} has ${listed.counts[0]} files`);
      const paths = [...grown.workload.files.keys()];
      const wanted = Array.from({ length: logPaths }, () => paths[random.below(paths.length)] ?? '');
      if (at !== 'head') continue;
      const log = await reader.ask<LogAnswer>({ kind: 'log', paths: wanted });
      samples.add('logMsP50', { at }, [percentileOf(log.timesMs, 0.5)]);
      samples.add('logMsP99', { at }, [percentileOf(log.timesMs, 0.99)]);
      // The landing that made the file, and all that changed it since.
      if (log.entries < logPaths) faults.push(`${logPaths} paths have only ${log.entries} entries in the log`);
    }
    return { faults, versionsRead: versions.count, controlShows: control.faults.length === control.count };
  } finally {
    await reader.close();
  }
}

/** A reader lists all files as of one seq while all agents commit; gives what it saw change. */
export async function measureScan(
  grown: GrowingRepo,
  { scanMs, files }: ScaleParameters,
  samples: ScaleSamples,
): Promise<readonly string[]> {
  const { dir, signal, repo, stream, inFlight } = grown;
  const [reader] = await openReader(dir, signal);
  try {
    const { seq } = repo.snapshot();
    const before = await reader.ask<ListAnswer>({ kind: 'scan', seq, forMs: scanMs });
    const scanning = reader.ask<ListAnswer>({ kind: 'scan', seq, forMs: scanMs });
    const operations = stream.peek(Math.max(inFlight, commitsWhile(scanMs, inFlight)));
    const committed = await commitAndNote(grown, operations, scanMs);
    const during = await scanning;
    samples.add('listMs', { at: 'one seq, nobody commits' }, [...before.timesMs]);
    samples.add('listMs', { at: 'one seq, all agents commit' }, [...during.timesMs]);
    samples.add('commitsPerSecond', { at: 'one seq, all agents commit' }, [committed.commits / committed.seconds]);
    const digests = new Set([...before.digests, ...during.digests]);
    const counts = [...before.counts, ...during.counts].filter((count) => count !== files);
    return [
      ...(digests.size === 1 ? [] : [`a snapshot changed while agents committed: ${digests.size} different listings`]),
      ...(counts.length === 0 ? [] : [`a snapshot lists ${counts[0]} files instead of ${files}`]),
    ];
  } finally {
    await reader.close();
  }
}

/** More than will be made: rates of a few ten thousand a second are the most that was ever seen. */
const commitsWhile = (ms: number, inFlight: number): number => Math.ceil((ms * 20) / inFlight) * inFlight;
