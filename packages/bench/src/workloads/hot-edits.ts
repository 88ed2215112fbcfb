import { seededRandom } from '@mound/vcs';

import type { WorkloadFields } from '../harness/result-file.ts';
import type { InitialFiles } from './operation.ts';
import { statementLine } from './source-text.ts';
import { zipf, type RankedDraw } from './ranked-draw.ts';

/** Top 10 of 200 files then take about 42% of the edits, as the top 10 of a published swarm's files did. */
const zipfExponent = 0.9;
const linesPerFile = 100;
const editedLinesMax = 3;
/** Lines that everybody wants, like a file's imports or its registry, and the share of edits that go there. */
const hotLines = 5;
const hotLineShare = 0.25;

export interface HotEditsParameters {
  readonly files: number;
  readonly agents: number;
  readonly seed: number;
}

/** New text for a few lines in a row; what else is in the file is as its agent last saw it. */
export interface HotEdit {
  readonly id: string;
  /** From 0. */
  readonly agent: number;
  readonly round: number;
  readonly path: string;
  /** The first line that it replaces, from 0. */
  readonly line: number;
  /** Each bears a mark that no other line ever bears. */
  readonly texts: readonly string[];
}

/** The mark in a line of an edit; undefined in a line of the initial files. */
export const markOf = (line: string): string | undefined => /^ {2}trace\('(e[\d-]+\.\d)', \d+\);$/.exec(line)?.[1];

/**
 * Many agents edit few files: the file by Zipf, the line mostly anywhere in it,
 * sometimes one of the few that everybody wants. Edits keep the number of lines, and
 * each line is a whole statement, so that what they make of a file is code that parses.
 */
export class HotEdits {
  readonly parameters: HotEditsParameters;
  readonly files: InitialFiles;
  readonly linesPerFile = linesPerFile;
  readonly #paths: readonly string[];
  readonly #zipf: RankedDraw;

  constructor(parameters: HotEditsParameters) {
    this.parameters = parameters;
    const random = seededRandom(parameters.seed);
    this.#paths = Array.from({ length: parameters.files }, (_, rank) => pathOf(rank));
    this.#zipf = zipf(parameters.files, zipfExponent);
    const content = (): Buffer =>
      Buffer.from(Array.from({ length: linesPerFile }, () => `${statementLine(random)}\n`).join(''));
    this.files = new Map(this.#paths.map((path) => [path, content()]));
  }

  fields(): WorkloadFields {
    const { files, agents, seed } = this.parameters;
    return { workload: 'hot-edits', agents, files, filesPerCommit: 1, skew: `zipf ${zipfExponent}`, seed };
  }

  /** In words: how hot the hot files are. */
  describe(): string {
    const top = Math.round(this.#zipf.shareOfTop(10) * 100);
    const hot = Math.round(hotLineShare * 100);
    return `the 10 hottest files take ${top}% of the edits; ${hot}% of the edits want one of the file's first ${hotLines} lines`;
  }

  /** The edits of one round, the same for every arm; edit i is made by agent i mod N. */
  round(round: number, count: number): readonly HotEdit[] {
    const random = seededRandom(this.parameters.seed + 7919 * (round + 2));
    return Array.from({ length: count }, (_, index) => {
      const id = `e${this.parameters.seed}-${round + 1}-${index}`;
      const lineCount = 1 + random.below(editedLinesMax);
      const from = random.next() < hotLineShare ? random.below(hotLines) : random.below(linesPerFile - lineCount + 1);
      return {
        id,
        agent: index % this.parameters.agents,
        round,
        path: this.#paths[this.#zipf.draw(random)] ?? '',
        line: from,
        texts: Array.from({ length: lineCount }, (__, at) => `  trace('${id}.${at}', ${random.below(100_000)});`),
      };
    });
  }
}

/** Neighbours in rank lie in different directories. */
const pathOf = (rank: number): string =>
  `src/part${String(rank % 20).padStart(2, '0')}/file${String(rank).padStart(4, '0')}.ts`;
