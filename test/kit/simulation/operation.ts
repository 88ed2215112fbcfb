import { absent, any, version, type Change, type Intent, type Outcome, type Repo } from '@mound/vcs';

/** What one path of an operation asks, in lines; every line ever written is unique. */
export interface AskedEdit {
  readonly path: string;
  /** Text that its author saw. */
  readonly seen: string | undefined;
  readonly removed: readonly string[];
  readonly added: readonly string[];
  readonly isDelete: boolean;
}

/** Something with an operation id that may be sent again when its answer did not arrive. */
export interface Operation {
  readonly id: string;
  readonly branch: string;
  readonly edits: readonly AskedEdit[];
  /** It may overwrite what its author has not seen: by `any`, or because it settles a conflict. */
  readonly isForced: boolean;
  /** The `counter` record goes up by one. */
  readonly counts: boolean;
  /** Paths that must be gone where it lands. */
  readonly drops?: readonly string[];
  send(repo: Repo): Promise<Outcome>;
  /** As whom it acts. */
  readonly agent: string;
  /** What the store answered first; a rejection is no answer to keep. */
  first?: Outcome;
}

export const linesOf = (text: string | undefined): string[] => (text ?? '').split('\n').filter((line) => line !== '');

export interface Draw {
  below(bound: number): number;
}

export interface Place {
  readonly branch: string;
  /** What the author looks at; later landings are unknown to it. */
  readonly seq: number;
}

const fileLines = 14;

/** One of the paths; often one that changed since the author looked: what is stale is what goes wrong. */
function drawPath(repo: Repo, draw: Draw, paths: readonly string[], { branch, seq }: Place): string {
  const [then, now] = [repo.snapshot(seq, branch), repo.snapshot(undefined, branch)];
  const isChanged = (path: string): boolean => then.head(path)?.version !== now.head(path)?.version;
  const changed = draw.below(2) === 0 ? paths.filter(isChanged) : [];
  const from = changed.length > 0 ? changed : paths;
  return from[draw.below(from.length)] ?? '';
}

/** Draws an intent on one or two paths of what stood at a place. */
export function drawIntent(
  repo: Repo,
  draw: Draw,
  paths: readonly string[],
  place: Place,
  id: string,
  as: { readonly name: string; readonly replaces?: string } = { name: id },
): Operation {
  const snapshot = repo.snapshot(place.seq, place.branch);
  const targets = [drawPath(repo, draw, paths, place), drawPath(repo, draw, paths, place)];
  const wanted = draw.below(4) === 0 ? [...new Set(targets)] : targets.slice(0, 1);
  const isForced = draw.below(15) === 0;
  const changes: Change[] = [];
  const edits: AskedEdit[] = [];
  for (const path of wanted) {
    const head = snapshot.head(path);
    const seen = snapshot.readText(path);
    const expect = isForced ? any : head ? version(head.version) : absent;
    const plain = { path, seen, removed: [], added: [], isDelete: false };
    const roll = draw.below(16);
    if (head === undefined) {
      const added = Array.from({ length: fileLines }, (_, line) => `${id} ${path} ${line}`);
      changes.push({ kind: 'put', path, content: `${added.join('\n')}\n`, expect });
      edits.push({ ...plain, added });
    } else if (roll < 2) {
      changes.push({ kind: 'delete', path, expect });
      edits.push({ ...plain, removed: linesOf(seen), isDelete: true });
    } else if (roll < 4) {
      changes.push({ kind: 'chmod', path, mode: head.mode === 'file' ? 'executable' : 'file', expect });
      edits.push(plain);
    } else if (roll < 7 && wanted.length === 1) {
      const to = drawPath(repo, draw, paths, place);
      if (to === path) continue;
      const toHead = snapshot.head(to);
      changes.push({ kind: 'move', path, to, expect, expectTo: toHead ? version(toHead.version) : absent });
      // What stood at the destination goes, as its author saw it.
      edits.push(plain, { ...plain, path: to, removed: linesOf(snapshot.readText(to)) });
    } else {
      const lines = linesOf(seen);
      const at = draw.below(Math.max(1, lines.length));
      const line = `${id} ${path}`;
      changes.push({ kind: 'put', path, content: `${lines.toSpliced(at, 1, line).join('\n')}\n`, expect });
      edits.push({ ...plain, removed: lines.slice(at, at + 1), added: [line] });
    }
  }
  const onStale = draw.below(5) === 0 ? 'reject' : 'merge';
  const { name, ...named } = as;
  const intent = { branch: place.branch, author: { name, kind: 'agent' }, message: id, operationId: id } as const;
  return operationOf({ ...intent, ...named, changes, onStale }, edits, isForced);
}

export function operationOf(
  intent: Intent & { operationId: string; branch: string },
  edits: AskedEdit[],
  isForced: boolean,
): Operation {
  const { operationId: id, branch } = intent;
  return { id, branch, edits, isForced, agent: intent.author.name, counts: false, send: (repo) => repo.land(intent) };
}

/** One up from what the author sees; of those that see the same, one lands. */
export function drawCount(repo: Repo, place: Place, id: string): Operation {
  const seen = repo.snapshot(place.seq).record('counter');
  const value = `${Number(seen?.value.toString('utf8') ?? 0) + 1}`;
  const records = [{ key: 'counter', expect: seen ? version(seen.version) : absent, value }];
  const intent: Intent = { author: { name: id, kind: 'agent' }, message: id, operationId: id, records };
  return {
    id,
    branch: 'main',
    edits: [],
    isForced: false,
    agent: id,
    counts: true,
    send: (repo_) => repo_.land(intent),
  };
}

/** Stands in for what one of the agents has in an open conflict. */
export function drawReplacement(
  repo: Repo,
  draw: Draw,
  paths: readonly string[],
  id: string,
  kept: (conflict: string) => Operation | undefined,
): Operation | undefined {
  const open = repo.conflicts();
  const view = open[draw.below(Math.max(1, open.length))];
  const operation = view && kept(view.id);
  if (view === undefined || operation === undefined) return undefined;
  const place = { branch: view.branch, seq: draw.below(2) === 0 ? view.asOf : repo.conflict(view.id).asOf - 1 };
  const drawn = drawIntent(repo, draw, paths, place, id, { name: operation.agent, replaces: view.id });
  return drawn.edits.length > 0 ? drawn : undefined;
}

/** Settles an open conflict so that no line of either side is lost. */
export function drawResolution(
  repo: Repo,
  draw: Draw,
  id: string,
  kept: (conflict: string) => Operation | undefined,
): Operation | undefined {
  const open = repo.conflicts();
  const view = open[draw.below(Math.max(1, open.length))];
  if (view === undefined) return undefined;
  const linesAt = new Map<string, readonly string[]>();
  for (const { path, base, current, incoming } of view.paths) {
    const now = linesAt.get(path) ?? linesOf(current.content?.toString('utf8'));
    const old = new Set(linesOf(base.content?.toString('utf8')));
    const fresh = linesOf(incoming.content?.toString('utf8')).filter((line) => !old.has(line) && !now.includes(line));
    linesAt.set(path, [...now, ...fresh]);
  }
  const results = [...linesAt].map(([path, lines]) => ({
    path,
    content: lines.length === 0 ? null : `${lines.join('\n')}\n`,
  }));
  const because = { kind: 'decision', id: 'D-1' } as const;
  const otherwise = { fate: 'discarded', reason: 'settled by the simulation', because } as const;
  const resolution = {
    author: { name: id, kind: 'agent' } as const,
    operationId: id,
    results,
    otherwise,
    asOf: view.asOf,
  };
  return {
    id,
    branch: view.branch,
    edits: kept(view.id)?.edits ?? [],
    isForced: true,
    agent: id,
    counts: false,
    send: (repo_) => repo_.resolve(view.id, resolution),
  };
}
