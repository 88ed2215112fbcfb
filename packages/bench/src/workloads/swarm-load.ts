import { seededRandom } from '@mound/vcs';

import type { InitialFiles } from './operation.ts';
import { RankedDraw } from './ranked-draw.ts';
import { prose, type SeededRandom } from './source-text.ts';

/**
 * Shares of all touches of files, from the hottest file on: the 10 hottest of
 * 896 take 23.6 %, the 50 hottest 57.5 % (published of a swarm that built a
 * browser, first 5,447 commits). Within a part, a file is a little hotter than the next.
 */
const touches: readonly { readonly files: number; readonly share: number }[] = [
  { files: 10, share: 0.236 },
  { files: 40, share: 0.339 },
  { files: Number.POSITIVE_INFINITY, share: 0.425 },
];
const slopeWithinPart = 0.3;

/** Files a commit: median 1, p90 4, p99 15, at most 200 (the same source). */
const filesPerCommit: readonly { readonly share: number; readonly from: number; readonly to: number }[] = [
  { share: 0.6, from: 1, to: 1 },
  { share: 0.29, from: 2, to: 3 },
  { share: 0.1, from: 4, to: 14 },
  { share: 0.009, from: 15, to: 40 },
  { share: 0.001, from: 41, to: 200 },
];

/** Commits that set a setting back to what it was before: 2.1 % of all updates of files then restore an earlier content. */
const flipShare = 0.046;
const settingsFiles = 3;
const settingValues = ['deny', 'allow'] as const;

/** One in so many commits is made by several agents at once, each unaware of the others. */
const pileOnEvery = 800;
const pileOnAgents = 5;

/** A file is functions of so many lines, the first and the last of which are not edited. */
const functionLines = 24;
const functionsMin = 3;
const functionsMax = 17;
const hotFunctions = 50;
/** The hottest files of all are megafiles. */
const megafiles = 2;
const editedLinesMax = 3;

/** Room for the numbers of a commit's lines. */
const marksPerStep = 1024;

export interface SwarmLoadParameters {
  readonly files: number;
  readonly agents: number;
  /** Whole functions of these. */
  readonly megafileLines: number;
  readonly seed: number;
}

/** New text for a few lines in a row of one file; each line bears a mark that no other line ever bears. */
export interface LinesEdit {
  readonly path: string;
  /** The first line that it replaces, from 0. */
  readonly line: number;
  readonly marks: readonly number[];
  readonly texts: readonly string[];
}

/** What an agent does between two looks at the store. */
export type SwarmStep =
  | {
      readonly kind: 'edit';
      readonly edits: readonly LinesEdit[];
      /** Others make the same edit. */ readonly isPileOn: boolean;
    }
  | { readonly kind: 'flip'; readonly path: string };

/** The mark of a line; undefined in a line of the initial files. */
export function markOfLine(line: string): number | undefined {
  const found = /^ {2}trace\((\d+), \d+\);$/.exec(line);
  return found === null ? undefined : Number(found[1]);
}

/** The other value of a setting, in the content that an agent has seen. */
export function flipped(content: Buffer): Buffer {
  const text = content.toString('utf8');
  const [a, b] = settingValues;
  return Buffer.from(
    text.includes(`= "${a}"`) ? text.replace(`= "${a}"`, `= "${b}"`) : text.replace(`= "${b}"`, `= "${a}"`),
  );
}

export const isSetting = (content: Buffer): boolean =>
  settingValues.some((value) => content.toString('utf8') === settingText(value));

const settingText = (value: string): string => `[lints]\nunused_variables = "${value}"\n`;

/** Shares of the touches, the hottest of so many files first. */
export const touchShares = (files: number): number[] => {
  const weights: number[] = [];
  for (const part of touches) {
    const count = Math.min(part.files, files - weights.length);
    const raw = Array.from({ length: count }, (_, at) => 1 - (slopeWithinPart * at) / Math.max(1, count));
    const sum = raw.reduce((total, weight) => total + weight, 0);
    weights.push(...raw.map((weight) => (weight / sum) * part.share));
  }
  return weights;
};

/** Neighbours in rank lie in different directories. */
const pathOf = (rank: number): string =>
  `src/part${String(rank % 20).padStart(2, '0')}/file${String(rank).padStart(4, '0')}.rs`;

/**
 * The edits of a swarm as it was measured on a real one: few hot files, two
 * megafiles, mostly small commits and a few wide ones, edit wars over settings,
 * and agents that make the same edit at once. Edits keep the number of lines;
 * everything follows from the seed, an agent and the number of its step.
 */
export class SwarmLoad {
  readonly parameters: SwarmLoadParameters;
  readonly #touches: RankedDraw;

  constructor(parameters: SwarmLoadParameters) {
    this.parameters = parameters;
    this.#touches = new RankedDraw(touchShares(parameters.files));
  }

  linesOf(rank: number): number {
    return functionLines * this.#functionsOf(rank);
  }

  #functionsOf(rank: number): number {
    if (rank < megafiles) return Math.ceil(this.parameters.megafileLines / functionLines);
    return rank < 10 ? hotFunctions : functionsMin + ((rank * 7919) % (functionsMax - functionsMin));
  }

  get paths(): readonly string[] {
    return Array.from({ length: this.parameters.files }, (_, rank) => pathOf(rank));
  }

  get settings(): readonly string[] {
    return Array.from({ length: settingsFiles }, (_, at) => `settings/lints-${at}.toml`);
  }

  initialFiles(): InitialFiles {
    const random = seededRandom(this.parameters.seed);
    const files = new Map<string, Buffer>();
    for (const [rank, path] of this.paths.entries()) {
      const functions = Array.from({ length: this.#functionsOf(rank) }, (_, at) => functionText(random, at));
      files.set(path, Buffer.from(functions.join('')));
    }
    for (const path of this.settings) files.set(path, Buffer.from(settingText(settingValues[0])));
    return files;
  }

  /** What an agent does in its step `number`, from 0; both below a million. */
  step(agent: number, number: number): SwarmStep {
    const group = agent - (agent % pileOnAgents);
    const ofGroup = seededRandom(seedOf(this.parameters.seed, group, number, 1));
    if (ofGroup.below(pileOnEvery) === 0) {
      return { kind: 'edit', edits: this.#edits(ofGroup, group, number, 1), isPileOn: true };
    }
    const random = seededRandom(seedOf(this.parameters.seed, agent, number, 2));
    if (random.next() < flipShare) {
      return { kind: 'flip', path: this.settings[random.below(settingsFiles)] ?? '' };
    }
    return { kind: 'edit', edits: this.#edits(random, agent, number, filesOf(random)), isPileOn: false };
  }

  #edits(random: SeededRandom, owner: number, number: number, count: number): LinesEdit[] {
    const ranks = new Set<number>();
    while (ranks.size < Math.min(count, this.parameters.files)) ranks.add(this.#touches.draw(random));
    let mark = (owner * 1_000_000 + number) * marksPerStep;
    return [...ranks].map((rank) => {
      const lines = 1 + random.below(editedLinesMax);
      const marks = Array.from({ length: lines }, () => mark++);
      return {
        path: pathOf(rank),
        line: functionLines * random.below(this.#functionsOf(rank)) + 1 + random.below(functionLines - 1 - lines),
        marks,
        texts: marks.map((one) => `  trace(${one}, ${random.below(100_000)});`),
      };
    });
  }
}

function functionText(random: SeededRandom, at: number): string {
  const body = Array.from(
    { length: functionLines - 2 },
    () =>
      `  trace(${prose(random, 12)
        .replaceAll(/[^a-z]/gi, '_')
        .toLowerCase()}, ${random.below(100_000)});\n`,
  );
  return `fn step_${at}() {\n${body.join('')}}\n`;
}

/** How many files a commit touches. */
export function filesOf(random: SeededRandom): number {
  let value = random.next();
  for (const { share, from, to } of filesPerCommit) {
    if (value < share) return from + random.below(to - from + 1);
    value -= share;
  }
  return 1;
}

/** Different for each agent, step and use, and not near to its neighbours'. */
function seedOf(seed: number, agent: number, number: number, use: number): number {
  let mixed = seed | 0;
  for (const part of [agent, number, use]) mixed = Math.imul(mixed ^ (part + 0x9e3779b9), 0x85ebca6b) ^ (mixed >>> 13);
  return mixed >>> 0;
}

/** Where `count` lines from number `line` on begin and end. */
function spanOf(content: Buffer, line: number, count: number): { readonly from: number; readonly to: number } {
  let from = 0;
  for (let at = 0; at < line; at++) from = content.indexOf(10, from) + 1;
  let to = from;
  for (let at = 0; at < count; at++) to = content.indexOf(10, to) + 1;
  return { from, to };
}

/** The content with the edit, and the marks of the lines that it replaced, in the order of its own. */
export function rewritten(
  { line, texts }: LinesEdit,
  seen: Buffer,
): { readonly content: Buffer; readonly replaced: readonly (number | undefined)[] } {
  const { from, to } = spanOf(seen, line, texts.length);
  const before = seen.toString('utf8', from, to - 1).split('\n');
  const text = Buffer.from(texts.map((one) => `${one}\n`).join(''));
  return {
    content: Buffer.concat([seen.subarray(0, from), text, seen.subarray(to)]),
    replaced: before.map(markOfLine),
  };
}
