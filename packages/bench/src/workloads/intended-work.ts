import { seededRandom } from '@mound/vcs';

import { RankedDraw } from './ranked-draw.ts';
import type { SeededRandom } from './source-text.ts';
import { filesOf, touchShares } from './swarm-load.ts';

/** Places in a file behind which lines are added, and lists of numbers that are added to. */
const placesPerFile = 6;
const listsPerFile = 4;
/** Of the edits: into a list that others add to as well, or a call of the core function. */
const listShare = 0.3;
const callShare = 0.35;
/** One task in so many gives the core function one more parameter, and follows it through all files. */
const extendEvery = 12;
const filesPerTaskMax = 20;

export interface IntendedWorkParameters {
  readonly files: number;
  /** Planners below the goal's. */
  readonly subtrees: number;
  readonly tasksPerSubtree: number;
  readonly seed: number;
}

/** One thing that somebody wants in a file; its token is in no other edit. */
export type IntendedEdit =
  | { readonly kind: 'line'; readonly path: string; readonly place: number; readonly token: string }
  /** A line that calls the core function, with as many arguments as it has by then. */
  | { readonly kind: 'call'; readonly path: string; readonly place: number; readonly token: string }
  /** A number in a list. */
  | { readonly kind: 'list'; readonly path: string; readonly list: number; readonly token: string };

export interface IntendedTask {
  readonly id: string;
  readonly subtree: number;
  readonly edits: readonly IntendedEdit[];
  /** Gives the core function one more parameter. */
  readonly extends: boolean;
}

/** The style that a subtree wants, and says that it decides; undefined: it lives with what is there. */
export interface IntendedSubtree {
  readonly id: string;
  readonly topics: readonly string[];
  readonly style: string | undefined;
}

export const corePath = 'src/core.ts';
/** As the files below a part name it. */
const coreSpecifier = '../core.ts';
export const settingsPath = 'src/settings.ts';

const pathOf = (rank: number): string => `src/part${String(rank % 5)}/file${String(rank).padStart(3, '0')}.ts`;
const coreText = (parameters: number): string => {
  const names = Array.from({ length: parameters }, (_, at) => `a${at}`);
  return `export const core = (${names.map((name) => `${name}: number`).join(', ')}): number => ${names.join(' + ')};\n`;
};
export const settingsText = (style: string): string => `export const style = '${style}' as const;\n`;

/** Ways to say one thing, so that only words tell that two topics are one. */
const styleTopics = ['style of messages', 'message styles', 'the styles for messages'];

/**
 * What a swarm is to bring into a small TypeScript project, the same for
 * everybody: tasks of edits, of which hot files get most, two subtrees that
 * want one setting each its own way, and now and then a change of a function
 * that every file calls.
 */
export class IntendedWork {
  readonly parameters: IntendedWorkParameters;
  readonly tasks: readonly IntendedTask[];
  readonly subtrees: readonly IntendedSubtree[];

  constructor(parameters: IntendedWorkParameters) {
    this.parameters = parameters;
    const { subtrees, tasksPerSubtree, files, seed } = parameters;
    const random = seededRandom(seed);
    const touches = new RankedDraw(touchShares(files));
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
    const files = new Map([
      [corePath, coreText(1)],
      [settingsPath, settingsText('plain')],
    ]);
    for (const path of this.paths) {
      const lists = Array.from({ length: listsPerFile }, (_, at) => `export const list${at} = [0];`);
      const places = Array.from(
        { length: placesPerFile },
        (_, at) => `// place ${at}\nexport const base${at} = core(1);`,
      );
      files.set(path, [`import { core } from '${coreSpecifier}';`, ...lists, ...places, ''].join('\n'));
    }
    return files;
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
  return { id: `task${number}`, subtree, edits, extends: number % extendEvery === extendEvery - 1 };
}

/** Of a list: different in every task, and no part of another. */
const numberOf = (task: number, at: number): string => String(1_000_000 + task * 1000 + at);

/** How many parameters the core function has in a text of its file. */
export const parametersOf = (core: string): number => core.match(/a\d+: number/g)?.length ?? 1;

const argumentsOf = (count: number): string => Array.from({ length: count }, (_, at) => at + 1).join(', ');

/** The file with the edit, by somebody who takes the core function to have so many parameters. */
export function withEdit(edit: IntendedEdit, text: string, parameters: number): string {
  if (edit.kind === 'list') {
    return text.replace(new RegExp(`(const list${edit.list} = \\[[^\\]]*)\\]`), `$1, ${edit.token}]`);
  }
  const value = edit.kind === 'call' ? `core(${argumentsOf(parameters)})` : '0';
  return text.replace(`// place ${edit.place}\n`, `// place ${edit.place}\nexport const ${edit.token} = ${value};\n`);
}

/** The core function's file with one more parameter. */
export const extended = (core: string): string => coreText(parametersOf(core) + 1);

/** The file with every call of the core function as it takes so many parameters. */
export const following = (text: string, parameters: number): string =>
  text.replaceAll(/\bcore\([\d, ]*\)/g, `core(${argumentsOf(parameters)})`);

/** Whether what an edit wants stands in a text of its file. */
export const stands = (edit: IntendedEdit, text: string): boolean =>
  edit.kind === 'list' ? text.includes(edit.token) : text.includes(`const ${edit.token} =`);
