import type { BlobId, RepoPath } from '../core/ids.ts';
import type { Precondition } from '../core/intent.ts';
import type { Rejected, StaleDetail } from '../core/outcome.ts';
import { foldPath, parentsOfPath } from '../core/path.ts';
import { countLines } from '../core/text.ts';
import type { Place, StaleReadRow } from '../format/entry.ts';
import { reject } from '../intent/reject.ts';
import type { Target } from '../log/version.ts';
import type { LinkedTree, LinkingFile } from '../rules/links.ts';
import type { ReferenceFinding } from '../rules/references.ts';
import type { RuledDecisions, RuledFile, RuleSet, Violation } from '../rules/rule-set.ts';
import { citationsOf, isDesignPath, type Citation } from '../decisions/index.ts';
import { faultOfPolicy } from './rule-store.ts';
import type { LandingExtras, PreparedEdit, PreparedIntent } from './prepared.ts';

/** What `decide` may look at: one state of the repo, seen from the intent's branch. */
export interface DecideState {
  /** The newest version of a path; undefined where it never was. */
  head(path: RepoPath): HeadState | undefined;
  /** The same for the path of an edit. */
  headOf(edit: PreparedEdit): HeadState | undefined;
  targetAt(place: Place): Target | undefined;
  /** The seq at which a record was last written; 0: never. `isLive` is false after a delete. */
  record(key: string): { readonly seq: number; readonly isLive: boolean };
  /** Whether a staged object is there. */
  hasObject(blob: BlobId): boolean;
  /** Whether a freeze keeps an intent off a path. */
  isFrozenFor(intent: PreparedIntent, path: RepoPath): boolean;
  /** Token of the intent for whose merge a path is held; undefined: none. */
  holderOf(path: RepoPath): string | undefined;
  /** The landing rules; undefined: there are none. */
  readonly rules: RuleSet | undefined;
  /** Lines of a version's content. */
  linesAt(place: Place): number;
  /** What a version of a file cites. */
  citationsAt(place: Place): readonly Citation[];
  /** The decisions as they stand, and as they would with these edits. */
  decisionsWith(edits: readonly PreparedEdit[]): RuledDecisions;
  /** Files of one directory, with their texts. */
  textsIn(directory: RepoPath, fits: (path: RepoPath) => boolean): Iterable<LinkingFile>;
  /** Live paths below a directory, as few as are needed to know whether one is left. */
  liveBelow(directory: RepoPath, isGoing: (path: RepoPath) => boolean): RepoPath | undefined;
  /** A live path that equals this one on a file system that folds case or Unicode form. */
  collisionOf(path: RepoPath, isGoing: (path: RepoPath) => boolean): RepoPath | undefined;
  /** Whether a file that an edit deletes was moved, or split, and is there still. */
  isElsewhere(edit: PreparedEdit): boolean;
  /** Where a path that is added belongs, its directory having been moved since a seq; undefined: where it is. */
  movedDirectoryOf(path: RepoPath, asOf: number): RepoPath | undefined;
  /** Files added since `asOf` to a directory that an intent moves whole, and where they go along. */
  leftBehind(intent: PreparedIntent): readonly { readonly path: RepoPath; readonly to: RepoPath }[];
}

export interface HeadState {
  readonly place: Place;
  /** undefined: a tombstone. */
  readonly target: Target | undefined;
}

/** A path that came to what an intent asks by another landing than its author saw. */
export interface PiledPath {
  readonly path: RepoPath;
  readonly at: Place;
}

const nonePiled: readonly PiledPath[] = [];

export type Verdict =
  | {
      readonly kind: 'land';
      readonly edits: readonly PreparedEdit[];
      readonly staleReads: readonly StaleReadRow[];
      readonly piled: readonly PiledPath[];
      /** References that are not right, told by policy. */
      readonly flagged: readonly ReferenceFinding[];
    }
  | { readonly kind: 'unchanged'; readonly seq: number; readonly piled: readonly PiledPath[] }
  | { readonly kind: 'stale'; readonly details: readonly StaleDetail[] }
  | { readonly kind: 'parked'; readonly paths: readonly RepoPath[] }
  | { readonly kind: 'held'; readonly hold: string }
  | Rejected;

const isSame = (a: Target | undefined, b: Target | undefined): boolean => a?.blob === b?.blob && a?.mode === b?.mode;

const isAt = (a: Place, b: Place): boolean => a.seq === b.seq && a.index === b.index;

function holds(edit: PreparedEdit, head: HeadState | undefined, state: DecideState): boolean {
  const { expect } = edit;
  if (expect.kind === 'any') {
    return edit.isDerived === undefined || head === undefined || isAt(head.place, edit.base);
  }
  if (expect.kind === 'absent') return head?.target === undefined;
  if (head === undefined || head.place.seq <= expect.seq) return true;
  const seen = edit.base.seq === 0 ? undefined : state.targetAt(edit.base);
  return isSame(seen, head.target);
}

type Standing = 'done' | 'holds' | 'stale';

/** How an edit stands to the state: already true, landable as it is, or stale. */
export function standingOf(edit: PreparedEdit, head: HeadState | undefined, state: DecideState): Standing {
  if (edit.isPurged === true) return 'stale';
  if (isSame(edit.target, head?.target)) {
    const isDelete = edit.target === undefined && edit.movedTo === undefined && edit.base.seq > 0;
    // It is gone from here, but others only moved it.
    return isDelete && state.isElsewhere(edit) ? 'stale' : 'done';
  }
  // The source of a move is gone: landing the destination alone would bring a deleted file back.
  if (edit.movedFrom !== undefined && state.head(edit.movedFrom)?.target === undefined) return 'stale';
  return holds(edit, head, state) ? 'holds' : 'stale';
}

export const expectedOf = (expect: Precondition): StaleDetail['expected'] =>
  expect.kind === 'version' ? expect.seq : expect.kind;

const noStaleReads: readonly StaleReadRow[] = [];

/**
 * Answers what an intent comes to in this state: land, unchanged, stale,
 * parked, held (to be asked again soon) or rejected. Pure; it never merges.
 */
export function decide(state: DecideState, intent: PreparedIntent): Verdict {
  const { admitted, extras } = intent;
  if (admitted.records.length > 0) {
    const fault = decideRecords(state, intent);
    if (fault) return fault;
  }
  const effective: PreparedEdit[] = [];
  let frozen: RepoPath[] | undefined;
  let stale: StaleDetail[] | undefined;
  let piled: PiledPath[] | undefined;
  let isCreating = false;
  let hold: string | undefined;
  for (const edit of intent.edits) {
    const head = state.headOf(edit);
    const standing = standingOf(edit, head, state);
    if (standing !== 'done') {
      effective.push(edit);
      if (head?.target === undefined && edit.target !== undefined) isCreating = true;
      if (state.isFrozenFor(intent, edit.path)) (frozen ??= []).push(edit.path);
      const holder = state.holderOf(edit.path);
      if (holder !== undefined && holder !== intent.hold) hold ??= holder;
    } else if (head !== undefined && !holds(edit, head, state)) {
      (piled ??= []).push({ path: edit.path, at: head.place });
    }
    // Under `reject` the precondition counts, even where the path came to the same by another's hand.
    if (standing === 'stale' || (standing === 'done' && admitted.onStale === 'reject' && !holds(edit, head, state))) {
      const actual = head?.target === undefined ? 0 : head.place.seq;
      (stale ??= []).push({ path: edit.path, expected: expectedOf(edit.expect), actual });
    }
  }
  const { rules } = state;
  if (rules !== undefined) {
    // Whoever may edit a file may edit it where it went.
    const paths = effective.map(({ path, askedPath }) => askedPath ?? path);
    const violation = rules.ofReach(admitted, paths);
    if (violation !== undefined) return rejectViolation(violation);
  }
  if (frozen) return { kind: 'parked', paths: frozen };
  if (hold !== undefined) return { kind: 'held', hold };
  // Only who told what it had seen can be told what was moved since.
  if (admitted.asOf !== undefined && admitted.onStale === 'merge') {
    for (const path of displacedBy(state, intent, effective))
      (stale ??= []).push({ path, expected: 'absent', actual: 0 });
  }
  if (stale) return admitted.onStale === 'merge' ? { kind: 'stale', details: stale } : rejectStale(stale);

  const staleReads = admitted.reads.length > 0 ? staleReadsOf(state, intent) : noStaleReads;
  if (staleReads.length > 0 && admitted.onStaleRead === 'reject') return rejectStaleReads(staleReads);

  if (isCreating) {
    const clash = decideTree(state, effective);
    if (clash) return clash;
  }
  // A resolution lands even where it keeps what is there: it says who decided so.
  const isNothing = effective.length === 0 && admitted.records.length === 0 && !isResolution(extras);
  if (isNothing) return { kind: 'unchanged', seq: newestOf(state, intent.edits), piled: piled ?? nonePiled };
  const ruled = decideContents(state, admitted, effective);
  if ('rule' in ruled) return rejectViolation(ruled);
  const isWhole = effective.length === intent.edits.length || extras.split !== undefined;
  const edits = isWhole ? intent.edits : effective;
  return { kind: 'land', edits, staleReads, piled: piled ?? nonePiled, flagged: ruled };
}

/** Added paths that belong elsewhere by now, or clash with what came since; and what a moved directory would lose. */
function displacedBy(state: DecideState, intent: PreparedIntent, effective: readonly PreparedEdit[]): RepoPath[] {
  const tree = treeOf(effective, state);
  const displaced = effective.filter((edit) => displacementOf(state, intent, edit, tree) !== undefined);
  return [...displaced.map(({ path }) => path), ...state.leftBehind(intent).map(({ path }) => path)];
}

export type Displacement =
  | { readonly kind: 'moved'; readonly to: RepoPath }
  /** A file stands where this one needs a directory, or the other way round. */
  | { readonly kind: 'clash'; readonly with: RepoPath };

/** What became of the place of an added path since its author looked; undefined: nothing. */
export function displacementOf(
  state: DecideState,
  { admitted }: PreparedIntent,
  edit: PreparedEdit,
  tree: Tree,
): Displacement | undefined {
  const { asOf } = admitted;
  const isAdded = asOf !== undefined && edit.target !== undefined && state.headOf(edit)?.target === undefined;
  if (!isAdded) return undefined;
  if (edit.movedFrom === undefined && edit.expect.kind === 'absent') {
    const to = state.movedDirectoryOf(edit.path, asOf);
    if (to !== undefined && to !== edit.path && !tree.coming.has(to)) return { kind: 'moved', to };
  }
  const other = clashOf(state, edit.path, tree);
  const isNew = other !== undefined && !tree.coming.has(other) && (state.head(other)?.place.seq ?? 0) > asOf;
  return isNew ? { kind: 'clash', with: other } : undefined;
}

export const isResolution = ({ resolves, ending }: LandingExtras): boolean => resolves > 0 && ending === 'resolution';

const newestOf = (state: DecideState, edits: readonly PreparedEdit[]): number =>
  edits.reduce((newest, edit) => Math.max(newest, state.headOf(edit)?.place.seq ?? 0), 0);

const noneFlagged: readonly ReferenceFinding[] = [];

/** What rules say of what lands: that it must not, or references that are to be told. */
function decideContents(
  state: DecideState,
  admitted: PreparedIntent['admitted'],
  effective: readonly PreparedEdit[],
): Violation | readonly ReferenceFinding[] {
  const { rules } = state;
  if (rules === undefined) return noneFlagged;
  const files = ruledFiles(state, effective);
  const links = rules.areLinksRuled
    ? rules.ofLinks(admitted, files, goneOf(effective), linkedTree(state, effective))
    : undefined;
  const violation = rules.ofContents(admitted, files) ?? links;
  if (violation !== undefined || !rules.areReferencesRuled) return violation ?? noneFlagged;
  const isCiting = effective.some(({ cites, path }) => cites !== undefined || isDesignPath(path));
  return isCiting ? rules.ofReferences(admitted, files, state.decisionsWith(effective)) : noneFlagged;
}

const goneOf = (edits: readonly PreparedEdit[]): RepoPath[] =>
  edits.flatMap(({ path, target }) => (target === undefined ? [path] : []));

/** The tree as these edits leave it. */
function linkedTree(state: DecideState, edits: readonly PreparedEdit[]): LinkedTree {
  const changed = new Map<string, PreparedEdit>(edits.map((edit) => [edit.path, edit]));
  const isGone = (path: RepoPath): boolean => changed.get(path)?.target === undefined && changed.has(path);
  return {
    has(path) {
      const edit = changed.get(path);
      if (edit !== undefined) return edit.target !== undefined;
      const isThere = state.head(path as RepoPath)?.target !== undefined;
      if (isThere || state.liveBelow(path as RepoPath, isGone) !== undefined) return true;
      return edits.some((one) => one.target !== undefined && one.path.startsWith(`${path}/`));
    },
    *beside(path, fits) {
      const directory = path.slice(0, Math.max(0, path.lastIndexOf('/'))) as RepoPath;
      yield* state.textsIn(directory, (other) => !changed.has(other) && fits(other));
    },
  };
}

function ruledFiles(state: DecideState, edits: readonly PreparedEdit[]): RuledFile[] {
  return edits.flatMap((edit) => {
    const { path, content } = edit;
    if (content === undefined) return [];
    const head = state.headOf(edit);
    const source = edit.movedFrom === undefined ? undefined : state.head(edit.movedFrom);
    const before = head?.target === undefined ? source : head;
    return [
      {
        path,
        lines: () => countLines(content),
        text: () => content.toString('utf8'),
        linesBefore: () => (head?.target === undefined ? 0 : state.linesAt(head.place)),
        citations: () => (edit.cites === undefined ? [] : citationsOf(content)),
        citationsBefore: () => (before?.target === undefined ? [] : state.citationsAt(before.place)),
      },
    ];
  });
}

const rejectViolation = ({ rule, message, next, paths }: Violation): Rejected =>
  reject('rule-violated', message, next, { paths, rule: rule.name });

function staleReadsOf(state: DecideState, { admitted }: PreparedIntent): StaleReadRow[] {
  return admitted.reads.flatMap((read) => {
    const head = state.head(read.path as RepoPath);
    const actual = head?.target === undefined ? 0 : head.place.seq;
    const hasChanged = read.version === 0 ? actual !== 0 : (head?.place.seq ?? 0) > read.version;
    return hasChanged ? [{ path: read.path, seen: read.version, actual }] : [];
  });
}

function decideRecords(state: DecideState, intent: PreparedIntent): Rejected | undefined {
  const details = intent.admitted.records.flatMap((record): StaleDetail[] => {
    const { seq, isLive } = state.record(record.key);
    const { expect } = record;
    const isTrue = expect.kind === 'any' || (expect.kind === 'absent' ? !isLive : isLive && seq <= expect.seq);
    return isTrue ? [] : [{ path: record.key, expected: expectedOf(expect), actual: isLive ? seq : 0 }];
  });
  if (details.length === 0) return faultyPolicy(intent) ?? missingObject(state, intent);
  const message = `record ${describe(details)}`;
  return reject('record-stale', message, 'read the records again and decide anew', {
    paths: details.map((detail) => detail.path),
    stale: details,
  });
}

/** Rules are read by every process: what cannot be read must not become one. */
function faultyPolicy({ admitted }: PreparedIntent): Rejected | undefined {
  for (const { key, value } of admitted.records) {
    const fault = faultOfPolicy(key, value);
    if (fault === undefined) continue;
    return reject('invalid-intent', `record ${key} cannot be read: ${fault}`, 'correct it and land it again', {
      paths: [key],
    });
  }
  return undefined;
}

function missingObject(state: DecideState, { admitted }: PreparedIntent): Rejected | undefined {
  for (const { key, objects } of admitted.records) {
    const missing = objects.find((blob) => !state.hasObject(blob));
    if (missing === undefined) continue;
    const message = `record ${key} names object ${missing}, which is not staged`;
    return reject('no-such-object', message, 'stage it again, then land the record', { paths: [key] });
  }
  return undefined;
}

const describe = (details: readonly StaleDetail[]): string =>
  details.map(({ path, expected, actual }) => `${path}: expected ${expected}, found ${actual || 'absent'}`).join('; ');

function rejectStale(details: readonly StaleDetail[]): Rejected {
  return reject('stale', describe(details), 'read the paths again, apply the change to what is there, land again', {
    paths: details.map((detail) => detail.path),
    stale: details,
  });
}

function rejectStaleReads(rows: readonly StaleReadRow[]): Rejected {
  const details = rows.map(({ path, seen, actual }) => ({ path, expected: seen, actual }));
  return reject('stale-read', `read since changed: ${describe(details)}`, 'read the paths again and decide anew', {
    paths: rows.map((row) => row.path),
    stale: details,
  });
}

/** Paths that an intent takes away, and those that it brings. */
export interface Tree {
  readonly going: ReadonlySet<RepoPath>;
  readonly coming: ReadonlySet<RepoPath>;
}

export function treeOf(edits: readonly PreparedEdit[], state: DecideState): Tree {
  const going = new Set(edits.filter(({ target }) => target === undefined).map(({ path }) => path));
  const created = edits.filter((edit) => edit.target !== undefined && state.headOf(edit)?.target === undefined);
  return { going, coming: new Set(created.map(({ path }) => path)) };
}

/** A file where a path needs a directory, or one below it. */
export function clashOf(state: DecideState, path: RepoPath, { going, coming }: Tree): RepoPath | undefined {
  const above = parentsOfPath(path).find(
    (parent) => coming.has(parent) || (state.head(parent)?.target !== undefined && !going.has(parent)),
  );
  return above ?? state.liveBelow(path, (other) => going.has(other));
}

/** A name that an intent brings, and the first path that has it. */
interface Named {
  readonly name: string;
  readonly path: RepoPath;
}

/** The path of the same intent whose name, or that of a directory above, differs in case or Unicode form only. */
function twinIn(folded: Map<string, Named>, path: RepoPath): RepoPath | undefined {
  for (const name of [path, ...parentsOfPath(path).map((directory) => `${directory}/`)]) {
    const fold = foldPath(name as RepoPath);
    const known = folded.get(fold);
    if (known === undefined) folded.set(fold, { name, path });
    else if (known.name !== name) return known.path;
    // What is above a known directory was looked at.
    else return undefined;
  }
  return undefined;
}

/** A path that comes to be must fit the tree: no file above or below it, no twin by folding. */
function decideTree(state: DecideState, edits: readonly PreparedEdit[]): Rejected | undefined {
  const tree = treeOf(edits, state);
  const folded = new Map<string, Named>();
  for (const path of tree.coming) {
    const other = clashOf(state, path, tree);
    if (other !== undefined) {
      const message = `${path} cannot stand beside ${other}: one is a file where the other needs a directory`;
      return reject('path-clash', message, `delete or move ${other} in the same intent, or choose another path`, {
        paths: [path, other],
      });
    }
    const twin = twinIn(folded, path) ?? state.collisionOf(path, (going) => tree.going.has(going));
    if (twin !== undefined) {
      const message = `${path} collides with ${twin}: they differ in case or Unicode form only`;
      return reject('path-collision', message, `use ${twin}, or choose another path`, { paths: [path, twin] });
    }
  }
  return undefined;
}
