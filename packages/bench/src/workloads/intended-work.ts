import { seededRandom } from '@mound/vcs';

import {
  behind,
  callOf,
  corePath,
  coreText,
  entriesPerSection,
  entryAnchor,
  listsPerFile,
  parametersOf,
  partFileText,
  placeAnchor,
  placesPerFile,
  plainLineOf,
  registryPath,
  registrySections,
  registryText,
  settingsPath,
  settingsText,
  tokensIn,
  withNumber,
  withParameters,
} from './intended-text.ts';
import { RankedDraw } from './ranked-draw.ts';
import type { SeededRandom } from './source-text.ts';
import { filesOf, touchShares } from './swarm-load.ts';

/** Of the edits of parts: into a list that others add to as well, or a call of the core function. */
const listShare = 0.3;
const callShare = 0.35;
/** One task in so many gives the core function one more parameter, */
const extendEvery = 12;
/** one in so many has an entry for the registry, */
const entryEvery = 4;
/** and one in so many meets an agent that stands still for longer than its lease, once. */
const stallEvery = 24;
const extendAt = 6;
const stallAt = 5;
const filesPerTaskMax = 20;

export interface IntendedWorkParameters {
  readonly files: number;
  /** Planners below the goal's. */
  readonly subtrees: number;
  readonly tasksPerSubtree: number;
  /** How hot hot files are: 1 as the published swarm's, 0 all alike, 2 the squares of their shares. */
  readonly skew?: number;
  readonly seed: number;
}

/** One thing that somebody wants in a file, a line added or changed; its token is in no other edit. */
export type IntendedEdit =
  | { readonly kind: 'line'; readonly path: string; readonly place: number; readonly token: string }
  /** A line that calls the core function, with as many arguments as it has by then. */
  | { readonly kind: 'call'; readonly path: string; readonly place: number; readonly token: string }
  /** A number in a list. */
  | { readonly kind: 'list'; readonly path: string; readonly list: number; readonly token: string }
  /** A line of the registry. */
  | { readonly kind: 'entry'; readonly path: string; readonly section: number; readonly entry: number; readonly token: string } // prettier-ignore
  /** One more parameter of the core function, which every call has to follow. */
  | { readonly kind: 'parameter'; readonly path: string; readonly token: string };

export interface IntendedTask {
  readonly id: string;
  readonly subtree: number;
  readonly edits: readonly IntendedEdit[];
  /** Whoever takes it first stands still for longer than its lease. */
  readonly stalls: boolean;
}

/** The style that a subtree wants, and says that it decides; undefined: it lives with what is there. */
export interface IntendedSubtree {
  readonly id: string;
  readonly topics: readonly string[];
  readonly style: string | undefined;
}

const pathOf = (rank: number): string => `src/part${String(rank % 5)}/file${String(rank).padStart(3, '0')}.ts`;

/** Ways to say one thing, so that only words tell that two topics are one. */
const styleTopics = ['style of messages', 'message styles', 'the styles for messages'];

/**
 * What a swarm is to bring into a small TypeScript project, the same for
 * everybody: tasks of edits, of which hot files get most, one large file that
 * many add to, two subtrees that want one setting each its own way, now and
 * then a change of a function that every file calls, files that may not grow
 * though nothing in them says so, and an agent that stands still.
 */
export class IntendedWork {
  readonly parameters: IntendedWorkParameters;
  readonly tasks: readonly IntendedTask[];
  readonly subtrees: readonly IntendedSubtree[];

  constructor(parameters: IntendedWorkParameters) {
    this.parameters = parameters;
    const { subtrees, tasksPerSubtree, files, seed, skew = 1 } = parameters;
    const random = seededRandom(seed);
    const touches = new RankedDraw(touchShares(files).map((share) => share ** skew));
    this.subtrees = Array.from({ length: subtrees }, (_, at) => {
      const fights = at < styleTopics.length && at < 2;
      const topic = styleTopics[at];
      return {
        id: `sub${at}`,
        topics: fights && topic !== undefined ? [topic] : [`area ${at}`],
        style: fights ? (['short', 'long'][at] ?? 'short') : undefined,
      };
    });
    this.tasks = Array.from({ length: subtrees * tasksPerSubtree }, (_, at) =>
      taskOf(random, touches, at, at % subtrees, files),
    );
  }

  get paths(): readonly string[] {
    return Array.from({ length: this.parameters.files }, (_, rank) => pathOf(rank));
  }

  /** Every token that is to stand in the end. */
  get tokens(): readonly string[] {
    return this.tasks.flatMap(({ edits }) => edits.map(({ token }) => token));
  }

  initialFiles(): Map<string, string> {
    return new Map([
      [corePath, coreText()],
      [settingsPath, settingsText('plain')],
      [registryPath, registryText()],
      ...this.paths.map((path) => [path, partFileText()] as const),
    ]);
  }
}

function taskOf(
  random: SeededRandom,
  touches: RankedDraw,
  number: number,
  subtree: number,
  files: number,
): IntendedTask {
  const ranks = new Set<number>();
  const wanted = Math.min(filesOf(random), filesPerTaskMax, files);
  while (ranks.size < wanted) ranks.add(touches.draw(random));
  let token = 0;
  const edits = [...ranks].map((rank): IntendedEdit => {
    const own = `t${number}_${token++}`;
    const drawn = random.next();
    const path = pathOf(rank);
    if (drawn < listShare)
      return { kind: 'list', path, list: random.below(listsPerFile), token: numberOf(number, token) };
    const kind = drawn < listShare + callShare ? 'call' : 'line';
    return { kind, path, place: random.below(placesPerFile), token: own };
  });
  if (number % entryEvery === entryEvery - 1) {
    const [section, entry] = [random.below(registrySections), random.below(entriesPerSection)];
    edits.push({ kind: 'entry', path: registryPath, section, entry, token: `t${number}_entry` });
  }
  if (number % extendEvery === extendAt) edits.push({ kind: 'parameter', path: corePath, token: `p${number}` });
  return { id: `task${number}`, subtree, edits, stalls: number % stallEvery === stallAt };
}

/** Of a list: different in every task, and no part of another. */
const numberOf = (task: number, at: number): string => String(1_000_000 + task * 1000 + at);

/** The file with the edit, by somebody who takes the core function to have so many parameters; undefined where it has no room for it. */
export function withEdit(edit: IntendedEdit, text: string, parameters: number): string | undefined {
  switch (edit.kind) {
    case 'list':
      return withNumber(text, edit.list, edit.token);
    case 'parameter':
      return withParameters(text, [...parametersOf(text), edit.token]);
    case 'entry':
      return behind(text, entryAnchor(edit.section, edit.entry), plainLineOf(edit.token));
    default:
      return behind(text, placeAnchor(edit.place), lineOf(edit, parameters));
  }
}

/** The line that an edit adds, wherever it comes to stand. */
export const lineOf = ({ kind, token }: IntendedEdit, parameters: number): string =>
  kind === 'call' ? callOf(token, parameters) : plainLineOf(token);

/** Tokens that stand in a tree, in whatever file. */
export const standing = (tree: ReadonlyMap<string, string>): Set<string> =>
  new Set([...tree.values()].flatMap((text) => tokensIn(text)));
