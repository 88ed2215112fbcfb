import { changedLines } from './changed-lines.ts';

/** Lines of a text that went to a module as they are or rewritten, one line for one. Lines count from 0. */
export interface LineRun {
  readonly start: number;
  readonly count: number;
  /** Key of the module. */
  readonly to: string;
  readonly toStart: number;
}

/** Rounds in which what was moved in another order is looked for. */
const roundsMax = 16;

/**
 * Where the lines of a text went when it was split into modules, found by
 * comparing: the longest equal runs first, also where their order changed. A line
 * that stands once in the text and in several modules has a run for each of them;
 * of lines that say nothing for themselves (`}`) each goes to one place. In the
 * order of the text.
 */
export function provenanceOf(text: readonly string[], modules: ReadonlyMap<string, readonly string[]>): LineRun[] {
  const counts = new Map<string, number>();
  for (const line of text) counts.set(line, (counts.get(line) ?? 0) + 1);
  const isTaken = new Uint8Array(text.length);
  const isMatched = new Map([...modules].map(([key, lines]) => [key, new Uint8Array(lines.length)]));
  const found: LineRun[] = [];
  for (let round = 0; round < roundsMax; round++) {
    const runs = [...modules].flatMap(([key, lines]) => equalRuns(text, isTaken, key, lines, isMatched.get(key)));
    // In the first round nothing is taken, so that copies are seen.
    const took = runs
      .toSorted((a, b) => b.count - a.count || a.start - b.start)
      .flatMap((run) =>
        claim(run, isTaken, isMatched.get(run.to), (line) => round === 0 && counts.get(text[line] as string) === 1),
      );
    found.push(...took);
    if (took.length === 0) break;
  }
  return found.toSorted((a, b) => a.start - b.start || (a.to < b.to ? -1 : 1));
}

/** Lines of a module and of the text that are free on both sides and equal, in the order of both. */
function equalRuns(
  text: readonly string[],
  isTaken: Uint8Array,
  to: string,
  lines: readonly string[],
  isMatched = new Uint8Array(lines.length),
): LineRun[] {
  const free = freeOf(isTaken);
  const wanted = freeOf(isMatched);
  if (free.length === 0 || wanted.length === 0) return [];
  const changes = changedLines(
    free.map((at) => text[at] as string),
    wanted.map((at) => lines[at] as string),
  );
  const runs: LineRun[] = [];
  const add = (at: number, beside: number): void => {
    const [line, toLine] = [free[at] as number, wanted[beside] as number];
    const last = runs.at(-1);
    if (last !== undefined && last.start + last.count === line && last.toStart + last.count === toLine) {
      runs[runs.length - 1] = { ...last, count: last.count + 1 };
    } else runs.push({ start: line, count: 1, to, toStart: toLine });
  };
  let at = 0;
  let beside = 0;
  for (const { baseStart, baseCount, sideStart, sideCount } of changes) {
    while (at < baseStart) add(at++, beside++);
    at = baseStart + baseCount;
    beside = sideStart + sideCount;
  }
  while (at < free.length && beside < wanted.length) add(at++, beside++);
  return runs;
}

function freeOf(marks: Uint8Array): number[] {
  const free: number[] = [];
  for (const [at, mark] of marks.entries()) if (mark === 0) free.push(at);
  return free;
}

/** The parts of a run whose lines nobody has yet, or which are copies. */
function claim(
  { start, count, to, toStart }: LineRun,
  isTaken: Uint8Array,
  isMatched: Uint8Array | undefined,
  isCopy: (line: number) => boolean,
): LineRun[] {
  const parts: LineRun[] = [];
  for (let offset = 0; offset < count; offset++) {
    const line = start + offset;
    if (isTaken[line] === 1 && !isCopy(line)) continue;
    isTaken[line] = 1;
    if (isMatched) isMatched[toStart + offset] = 1;
    const last = parts.at(-1);
    if (last !== undefined && last.start + last.count === line && last.toStart + last.count === toStart + offset) {
      parts[parts.length - 1] = { ...last, count: last.count + 1 };
    } else parts.push({ start: line, count: 1, to, toStart: toStart + offset });
  }
  return parts;
}
