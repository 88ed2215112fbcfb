import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { describeMachine } from './machine.ts';
import { formatVersion, type EvidenceTable, type ResultFile, type Sample } from './result-file.ts';

/** What a suite found; what every result has beside that is added once for all. */
export interface ResultParts {
  readonly suite: string;
  readonly samples: readonly Sample[];
  readonly notes: readonly string[];
  readonly tables?: readonly EvidenceTable[];
  /** Where no workload names them as its `seed`. */
  readonly seeds?: readonly number[];
  /** Of what was measured beside Mound, by name. */
  readonly versions?: Readonly<Record<string, string>>;
}

export async function makeResult({ suite, samples, notes, tables, seeds, versions }: ResultParts): Promise<ResultFile> {
  return {
    suite,
    formatVersion,
    measuredAt: new Date().toISOString(),
    machine: await describeMachine(),
    versions: { ...(await ownVersions()), ...versions },
    seeds: seeds ?? seedsOf(samples),
    samples,
    notes,
    ...(tables !== undefined && { tables }),
  };
}

function seedsOf(samples: readonly Sample[]): number[] {
  const found = samples.flatMap(({ workload }) => (typeof workload['seed'] === 'number' ? [workload['seed']] : []));
  return [...new Set(found)].toSorted((a, b) => a - b);
}

const home = dirname(fileURLToPath(new URL('../../package.json', import.meta.url)));

/** Mound's own; in a checkout with its commit, and `-dirty` where files differ from it. */
async function ownVersions(): Promise<Record<string, string>> {
  const { version } = JSON.parse(await readFile(join(home, 'package.json'), 'utf8')) as { version: string };
  const run = promisify(execFile);
  try {
    // An installed package may lie within somebody else's repository.
    await run('git', ['ls-files', '--error-unmatch', 'package.json'], { cwd: home });
    const { stdout } = await run('git', ['describe', '--always', '--dirty', '--exclude', '*'], { cwd: home });
    return { mound: `${version} (${stdout.trim()})` };
  } catch {
    return { mound: version };
  }
}
