import { MoundError } from '../core/errors.ts';
import { absent, version, type Change, type Intent } from '../core/intent.ts';
import type { Unchanged } from '../core/outcome.ts';
import { isPathFault, parsePath } from '../core/path.ts';
import type { DiffEntry, FileHead, RestoreOptions, RevertOptions, Snapshot } from './api.ts';

/** Paths whose blob or mode differ, in byte order. */
export function diffSnapshots(from: Snapshot, to: Snapshot, prefix?: string): DiffEntry[] {
  const before = new Map(from.list(prefix).map((head) => [head.path, head]));
  const entries: DiffEntry[] = [];
  for (const after of to.list(prefix)) {
    const was = before.get(after.path);
    before.delete(after.path);
    const isSame = was?.blob === after.blob && was.mode === after.mode;
    if (!isSame) entries.push({ path: after.path, before: was, after });
  }
  for (const was of before.values()) entries.push({ path: was.path, before: was, after: undefined });
  return entries.toSorted((a, b) => Buffer.compare(Buffer.from(a.path), Buffer.from(b.path)));
}

export const optionsOf = ({ branch, rationale, operationId, onStale }: RevertOptions): Partial<Intent> => ({
  ...(branch !== undefined && { branch }),
  ...(rationale !== undefined && { rationale }),
  ...(operationId !== undefined && { operationId }),
  ...(onStale !== undefined && { onStale }),
});

/** The intent that makes paths what they were; `unchanged` where all of them are already. */
export function restoreIntent(
  then: Snapshot,
  now: Snapshot,
  paths: readonly string[],
  options: RestoreOptions,
): Intent | Unchanged {
  const entries = paths.length === 0 ? diffSnapshots(now, then) : paths.flatMap((path) => entriesOf(then, now, path));
  const changes = [...new Map(entries.map((entry) => [entry.path, entry])).values()].map((entry): Change => {
    const { path, before, after } = entry;
    const expect = before ? version(now.seq) : absent;
    const content = after && then.read(path);
    if (after === undefined || content === undefined) return { kind: 'delete', path, expect };
    return { kind: 'put', path, content, mode: after.mode, expect };
  });
  if (changes.length === 0) return { kind: 'unchanged', seq: now.seq };
  const what = paths.length === 0 ? 'the tree' : paths.join(', ');
  const message = options.message ?? `Restore ${what} to seq ${then.seq}`;
  return { author: options.author, message, changes, ...optionsOf(options) };
}

function entriesOf(then: Snapshot, now: Snapshot, path: string): DiffEntry[] {
  const parsed = parsePath(path.replace(/\/+$/, ''));
  if (isPathFault(parsed)) throw new MoundError('invalid-argument', `path '${path}' ${parsed.reason}`, { path });
  const [before, after] = [now.head(parsed), then.head(parsed)];
  const below = diffSnapshots(now, then, parsed);
  const isSame = before?.blob === after?.blob && before?.mode === after?.mode;
  const own: DiffEntry[] = isSame ? [] : [{ path: parsed, before, after }];
  const isNothing = !before && !after && below.length === 0 && !hasFiles(now, parsed) && !hasFiles(then, parsed);
  if (isNothing) {
    throw new MoundError('no-such-path', `there is no ${path} at seq ${then.seq} and none now`, { path });
  }
  return [...own, ...below];
}

const hasFiles = (snapshot: Snapshot, path: string): boolean => snapshot.list(path).some((head: FileHead) => head.path);
