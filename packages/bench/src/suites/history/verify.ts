import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { openRepo, type RepoEvent } from '@mound/vcs';
import { hash } from 'blake3-wasm';
import { readAcknowledgements, type AcknowledgedLine } from './acknowledgements.ts';

export interface VerifyRequest {
  /** Directory of the agents' acknowledgement files. */
  readonly acknowledgements: string;
  /** The Mound repository, for its log. */
  readonly repo: string;
  /** The exported git repository and the one that was replayed. */
  readonly exported: string;
  readonly source: string;
  /** Commit of the source whose tree must have come out; undefined: it need not. */
  readonly commit: string | undefined;
}

export interface Verification {
  readonly treeIdentical: boolean;
  readonly exportFsckClean: boolean;
  /** Acknowledged intents. */
  readonly acknowledged: number;
  /** Acknowledged intents that are not where they must be. */
  readonly lost: number;
  /** A line for each thing that is wrong, the first hundred. */
  readonly faults: readonly string[];
}

const run = promisify(execFile);

async function git(dir: string, args: readonly string[]): Promise<Buffer> {
  const { stdout } = await run('git', ['-C', dir, ...args], { encoding: 'buffer', maxBuffer: 1 << 30 });
  return stdout;
}

/** Commit ids by the operation that they carry, read with plain git. */
async function operationsOf(dir: string): Promise<Map<string, string>> {
  const format = '%H%x00%(trailers:key=Operation,valueonly,separator=%x00)%x01';
  const log = (await git(dir, ['log', `--format=${format}`, 'refs/heads/main'])).toString('utf8');
  const found = new Map<string, string>();
  for (const record of log.split('\u0001')) {
    const [commit = '', ...operations] = record.trim().split('\0');
    for (const operation of operations) if (operation !== '') found.set(operation.trim(), commit);
  }
  return found;
}

/** Whether a commit holds the bytes that were acknowledged for its paths. */
async function contentFault(dir: string, commit: string, line: AcknowledgedLine): Promise<string | undefined> {
  for (const { path, blob } of line.paths) {
    const entry = (await git(dir, ['ls-tree', '-z', commit, '--', `:(literal)${path}`])).toString('utf8');
    const object = /^\d+ (blob|commit) ([0-9a-f]{40})\t/.exec(entry);
    if (blob === undefined) {
      if (object) return `${line.operationId}: ${path} was deleted but stands in ${commit}`;
      continue;
    }
    if (!object) return `${line.operationId}: ${path} is not in ${commit}`;
    const bytes =
      object[1] === 'commit' ? Buffer.from(object[2] ?? '') : await git(dir, ['cat-file', 'blob', object[2] ?? '']);
    if (hash(bytes).toString('hex') !== blob) return `${line.operationId}: ${path} has other bytes in ${commit}`;
  }
  return undefined;
}

/** Acknowledgements whose bytes are read back one by one; the rest are looked up in the log. */
const contentChecksMax = 150;

/** Proves a replay from what its agents were told and from the export, with plain git. */
export async function verify(request: VerifyRequest): Promise<Verification> {
  const { exported, source, commit } = request;
  const faults: string[] = [];
  const fsck = await run('git', ['-C', exported, 'fsck', '--strict', '--no-dangling']).then(
    ({ stdout, stderr }) => `${stdout}${stderr}`.trim(),
    (error: unknown) => String(error),
  );
  if (fsck !== '') faults.push(`git fsck: ${fsck.split('\n')[0] ?? ''}`);
  const trees = await Promise.all([
    git(exported, ['rev-parse', 'refs/heads/main^{tree}']),
    commit === undefined ? undefined : git(source, ['rev-parse', `${commit}^{tree}`]),
  ]);
  const treeIdentical = trees[1] !== undefined && trees[0].equals(trees[1]);
  if (commit !== undefined && !treeIdentical)
    faults.push(`tree ${trees[0].toString().trim()} is not that of ${commit}`);

  const lines = readAcknowledgements(request.acknowledgements);
  const operations = await operationsOf(exported);
  const stride = Math.max(1, Math.floor(lines.length / contentChecksMax));
  const lost = await withLog(request.repo, async (log) => {
    let count = 0;
    for (const [at, line] of lines.entries()) {
      const missing = lookUp(line, operations, log);
      const commitId = at % stride === 0 ? operations.get(line.operationId) : undefined;
      const fault = missing ?? (commitId && (await contentFault(exported, commitId, line)));
      if (fault === undefined) continue;
      count++;
      faults.push(fault);
    }
    return count;
  });
  return {
    treeIdentical,
    exportFsckClean: fsck === '',
    acknowledged: lines.length,
    lost,
    faults: faults.slice(0, 100),
  };
}

/** What the log itself knows, for intents that left no commit. */
interface Log {
  /** Conflicts and parked intents, by id. */
  readonly kept: ReadonlySet<string>;
  seqOf(operationId: string): number | undefined;
}

function lookUp(line: AcknowledgedLine, operations: ReadonlyMap<string, string>, log: Log): string | undefined {
  const { operationId, outcome, seq, conflict, commit } = line;
  switch (outcome) {
    case 'landed':
    case 'merged':
      if (commit === undefined)
        return log.seqOf(operationId) === seq ? undefined : `${operationId} is not in the log at ${seq}`;
      return operations.has(operationId) ? undefined : `${operationId} (${outcome} at ${seq}) is in no exported commit`;
    case 'conflicted':
      return log.kept.has(conflict ?? '')
        ? undefined
        : `${operationId} is kept as ${conflict}, which the log does not know`;
    case 'parked':
      return log.kept.has(`p${seq}`) ? undefined : `${operationId} is parked at ${seq}, which the log does not know`;
    default:
      return undefined;
  }
}

async function withLog<T>(dir: string, use: (log: Log) => Promise<T>): Promise<T> {
  const repo = await openRepo(dir);
  try {
    const kept = new Set<string>();
    const events: Iterable<RepoEvent> = repo.events();
    for (const event of events) {
      if (event.kind === 'conflict.opened') kept.add(event.conflict);
      if (event.kind === 'intent.parked') kept.add(event.parked);
    }
    const seqOf = (operationId: string): number | undefined => {
      const outcome = repo.outcome(operationId);
      return outcome && 'seq' in outcome ? outcome.seq : undefined;
    };
    return await use({ kept, seqOf });
  } finally {
    await repo.close();
  }
}
