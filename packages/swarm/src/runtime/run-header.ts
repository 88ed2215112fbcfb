import { createHash } from 'node:crypto';
import { absent, version, type Author, type BlobId, type Outcome, type RecordWrite, type Repo } from '@mound/vcs';
import type { JsonObject, JsonValue } from '../core/json.ts';
import type { CostReport } from '../cost/cost-ledger.ts';
import type { PriceOverride } from '../cost/prices.ts';
import type { Roles } from '../core/role.ts';
import { mayBeAlive, ownName, type ProcessName } from '../command/process-name.ts';
import type { RunKeys } from './run-keys.ts';

/** The record of a run as a whole. */
export interface RunHeader {
  readonly format: 1;
  readonly state: 'running' | 'stopped' | 'ended';
  readonly goal: string;
  /** Processes that have run it. */
  readonly generation: number;
  readonly root: 'planner' | 'given';
  /** Who runs it now, or ran it last. */
  readonly holder: ProcessName;
  readonly startedAt: number;
  readonly endedAt?: number;
  /** While it is: by whom it was asked stands in the log. */
  readonly paused?: { readonly at: number; readonly reason: string };
  /** Why it ended or stopped. */
  readonly reason?: string;
  readonly detail?: string;
  /** What the process that ended it, or stopped it, had spent. */
  readonly cost?: Pick<CostReport, 'total' | 'byRole' | 'byModel'>;
  /** What the run is made of, without secrets: models, roles, limits, policy. */
  readonly settings: JsonObject;
  /** Of the settings' canonical JSON, prompts by their hash included. */
  readonly settingsHash: string;
  /** By role: sha256 of the text, and the staged object that holds it. */
  readonly prompts: Readonly<Record<string, { readonly sha256: string; readonly blob: BlobId }>>;
  /** Set by the operator, as the process that runs it has them. */
  readonly prices?: readonly PriceOverride[];
  /** Settings that were taken up at a resume. */
  readonly changed: readonly { readonly at: number; readonly keys: readonly string[]; readonly from: string }[];
}

export const system: Author = { name: 'mound-swarm', kind: 'system' };

export const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

/** JSON with its keys in order: the same settings always have the same hash. */
export function canonicalJson(value: JsonValue | undefined): string {
  if (value === undefined) return 'null';
  if (Array.isArray(value)) return `[${value.map((part) => canonicalJson(part as JsonValue)).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const object = value as JsonObject;
  const keys = Object.keys(object)
    .filter((key) => object[key] !== undefined)
    .toSorted();
  return `{${keys.map((key) => `${JSON.stringify(key)}:${canonicalJson(object[key])}`).join(',')}}`;
}

/** Dotted names of what differs between two settings. */
export function differences(before: JsonValue | undefined, after: JsonValue | undefined, at = ''): string[] {
  if (canonicalJson(before) === canonicalJson(after)) return [];
  const [left, right] = [before, after].map((side) =>
    typeof side === 'object' && side !== null && !Array.isArray(side) ? (side as JsonObject) : undefined,
  );
  if (left === undefined || right === undefined) return [at || '(all)'];
  const keys = [...new Set([...Object.keys(left), ...Object.keys(right)])].toSorted();
  return keys.flatMap((key) => differences(left[key], right[key], at === '' ? key : `${at}.${key}`));
}

export interface ReadHeader {
  readonly header: RunHeader;
  readonly version: number;
}

export function readHeader(repo: Repo, keys: RunKeys): ReadHeader | undefined {
  const head = repo.snapshot().record(keys.header);
  return head && { header: JSON.parse(head.value.toString('utf8')) as RunHeader, version: head.version };
}

/** Runs of a repository, oldest first. */
export function listRuns(repo: Repo): { readonly run: string; readonly header: RunHeader }[] {
  return repo
    .snapshot()
    .records('swarm/')
    .filter(({ key }) => /^swarm\/[^/]+\/run$/.test(key))
    .map(({ key, value }) => ({
      run: key.split('/')[1] ?? '',
      header: JSON.parse(value.toString('utf8')) as RunHeader,
    }))
    .toSorted((left, right) => left.header.startedAt - right.header.startedAt);
}

/** Makes the prompts durable: what was said to a model can be read as long as the run's record stands. */
export async function stagePrompts(repo: Repo, roles: Roles): Promise<RunHeader['prompts']> {
  const entries = await Promise.all(
    Object.values(roles).map(
      async ({ name, prompt }) => [name, { sha256: sha256(prompt), blob: await repo.stage(prompt) }] as const,
    ),
  );
  return Object.fromEntries(entries);
}

export const headerWrite = (keys: RunKeys, header: RunHeader, seq: number): RecordWrite => ({
  key: keys.header,
  expect: seq === 0 ? absent : version(seq),
  value: JSON.stringify(header),
  objects: [...new Set(Object.values(header.prompts).map(({ blob }) => blob))],
});

/** True where the process that holds the run may still be there. */
export const isHeld = (header: RunHeader): boolean => {
  if (header.state !== 'running') return false;
  const own = ownName();
  const isSelf =
    own.pid === header.holder.pid && own.startTime === header.holder.startTime && own.space === header.holder.space;
  return !isSelf && mayBeAlive(header.holder);
};

export const landHeader = (
  repo: Repo,
  keys: RunKeys,
  header: RunHeader,
  seq: number,
  more: readonly RecordWrite[] = [],
): Promise<Outcome> =>
  repo.land({
    author: system,
    message: `run ${keys.run}: ${header.state}`,
    records: [headerWrite(keys, header, seq), ...more],
  });

/** The header of a run that goes on, or has ended. */
export function unpaused(header: RunHeader): RunHeader {
  const { paused: _, ...rest } = header;
  return rest;
}

/**
 * Writes what `change` makes of the newest header of this process's part of the run. Gives its seq, or undefined where
 * another process has taken the run over.
 */
export async function changeHeader(
  repo: Repo,
  keys: RunKeys,
  generation: number,
  change: (header: RunHeader) => RunHeader,
  more: readonly RecordWrite[] = [],
): Promise<number | undefined> {
  for (;;) {
    const read = readHeader(repo, keys);
    if (read?.header.generation !== generation) return undefined;
    const outcome = await landHeader(repo, keys, change(read.header), read.version, more);
    if (outcome.kind === 'landed') return outcome.seq;
    // Whoever came first wrote the header: a command, or the end of the run.
    if (outcome.kind !== 'rejected' || !outcome.paths.includes(keys.header))
      throw new Error(`the header of run ${keys.run} was not written: ${outcome.kind}`);
  }
}
