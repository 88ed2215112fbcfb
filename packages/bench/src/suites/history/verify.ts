import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { openRepo, type Repo, type RepoEvent } from '@mound/vcs';
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
  /** The negative control: intents that were never acknowledged as it was told here are found to be lost. */
  readonly controlShows: boolean;
  /** A line for each thing that is wrong, the first hundred. */
  readonly faults: readonly string[];
}

const run = promisify(execFile);

async function git(dir: string, args: readonly string[], input = ''): Promise<Buffer> {
  // The replayed repository may be another user's; it is only read.
  const running = run('git', ['-c', 'safe.directory=*', '-C', dir, ...args], {
    encoding: 'buffer',
    maxBuffer: 1 << 30,
  });
  // A command that needs no input may have ended before it is sent.
  running.child.stdin?.on('error', () => undefined).end(input);
  return (await running).stdout;
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

interface Wanted {
  readonly line: AcknowledgedLine;
  readonly commit: string;
  readonly path: string;
  /** BLAKE3 that was acknowledged; undefined: the path was deleted. */
  readonly blob: string | undefined;
}

/** Paths asked of one git process, so that what it answers fits in memory. */
const wantedMax = 500;

/** Reads back with plain git every byte that was acknowledged; a fault by operation. */
async function contentFaults(dir: string, wanted: readonly Wanted[]): Promise<Map<string, string>> {
  const faults = new Map<string, string>();
  for (let from = 0; from < wanted.length; from += wantedMax) {
    const part = wanted.slice(from, from + wantedMax);
    const found = await readPaths(dir, part);
    for (const [at, { line, path, commit, blob }] of part.entries()) {
      const bytes = found[at];
      const digest = bytes && hash(bytes).toString('hex');
      if (digest !== blob)
        faults.set(line.operationId, `${line.operationId}: ${path} is not in ${commit} as acknowledged`);
    }
  }
  return faults;
}

/** The bytes of paths in commits, in order; a gitlink's are its commit's id; undefined where there is nothing. */
async function readPaths(dir: string, wanted: readonly Wanted[]): Promise<(Buffer | undefined)[]> {
  const request = wanted.map(({ commit, path }) => `${commit}:${path.includes('\n') ? '' : path}\n`).join('');
  const answers = answersOf(await git(dir, ['cat-file', '--batch'], request));
  return Promise.all(
    wanted.map(async ({ commit, path }, at) => {
      const answer = path.includes('\n') ? undefined : answers[at];
      return answer ?? readPath(dir, commit, path);
    }),
  );
}

/** One by one what the batch cannot name or does not hold: odd names, gitlinks, and what is not there. */
async function readPath(dir: string, commit: string, path: string): Promise<Buffer | undefined> {
  const listed = (await git(dir, ['ls-tree', '-z', commit, '--', `:(literal)${path}`])).toString('utf8');
  const entry = /^\d+ (blob|commit) ([0-9a-f]{40})\t/.exec(listed);
  if (!entry) return undefined;
  return entry[1] === 'commit' ? Buffer.from(entry[2] ?? '') : git(dir, ['cat-file', 'blob', entry[2] ?? '']);
}

/** Answers of `cat-file --batch`: a header with the size, the bytes, a newline; or a line that says missing. */
function answersOf(output: Buffer): (Buffer | undefined)[] {
  const answers: (Buffer | undefined)[] = [];
  for (let at = 0; at < output.length;) {
    const end = output.indexOf('\n', at);
    const header = /^[0-9a-f]{40} (\w+) (\d+)$/.exec(output.toString('utf8', at, end));
    const size = Number(header?.[2] ?? 0);
    answers.push(header?.[1] === 'blob' ? output.subarray(end + 1, end + 1 + size) : undefined);
    at = header ? end + size + 2 : end + 1;
  }
  return answers;
}

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
  const wanted = lines.flatMap((line): Wanted[] => {
    const inCommit = operations.get(line.operationId);
    return inCommit === undefined ? [] : line.paths.map(({ path, blob }) => ({ line, commit: inCommit, path, blob }));
  });
  const changed = await contentFaults(exported, wanted);
  const controlShows = await controlOf(exported, operations, wanted[0]);
  const lost = withLog(request.repo, (log) => {
    const found = lines.flatMap((line) => lookUp(line, operations, log) ?? changed.get(line.operationId) ?? []);
    faults.push(...found);
    return found.length;
  });
  return {
    treeIdentical,
    exportFsckClean: fsck === '',
    acknowledged: lines.length,
    lost: await lost,
    controlShows,
    faults: faults.slice(0, 100),
  };
}

/** An intent that no commit carries, and one with a byte changed, made of one that is there. */
async function controlOf(
  exported: string,
  operations: ReadonlyMap<string, string>,
  there: Wanted | undefined,
): Promise<boolean> {
  if (there === undefined) return true;
  const { line, commit, path } = there;
  const log: Log = { parked: new Set(), seqOf: () => undefined, conflictFault: () => undefined };
  const forged = lookUp({ ...line, operationId: `${line.operationId}-forged`, outcome: 'landed', commit }, operations, log); // prettier-ignore
  const changed = await contentFaults(exported, [{ line, commit, path, blob: '0'.repeat(64) }]);
  return forged !== undefined && changed.size === 1;
}

/** What the log itself knows, for intents that left no commit. */
interface Log {
  /** Parked intents, by id. */
  readonly parked: ReadonlySet<string>;
  seqOf(operationId: string): number | undefined;
  /** A conflict must keep the very bytes that were acknowledged. */
  conflictFault(line: AcknowledgedLine, conflict: string): string | undefined;
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
      return log.conflictFault(line, conflict ?? '');
    case 'parked':
      return log.parked.has(`p${seq}`) ? undefined : `${operationId} is parked at ${seq}, which the log does not know`;
    default:
      return undefined;
  }
}

async function withLog<T>(dir: string, use: (log: Log) => T): Promise<T> {
  const repo = await openRepo(dir);
  try {
    const events: Iterable<RepoEvent> = repo.events();
    const parked = new Set<string>();
    for (const event of events) if (event.kind === 'intent.parked') parked.add(event.parked);
    return use({
      parked,
      seqOf(operationId) {
        const outcome = repo.outcome(operationId);
        return outcome && 'seq' in outcome ? outcome.seq : undefined;
      },
      conflictFault: (line, conflict) => conflictFault(repo, line, conflict),
    });
  } finally {
    await repo.close();
  }
}

function conflictFault(repo: Repo, { operationId, paths, seq }: AcknowledgedLine, id: string): string | undefined {
  try {
    const view = repo.conflict(id);
    if (view.operationId !== operationId) return `${id} keeps ${view.operationId}, not ${operationId}`;
    const wrong = view.paths.find(({ path, incoming }) => {
      const told = paths.find((entry) => entry.path === path);
      const bytes = incoming.content && hash(incoming.content).toString('hex');
      return told?.blob !== undefined && told.blob !== bytes;
    });
    return wrong && `${operationId}: ${wrong.path} is kept in ${id} with other bytes`;
  } catch (error) {
    return `${operationId} is kept as ${id} at ${seq}, which cannot be read: ${String(error)}`;
  }
}
