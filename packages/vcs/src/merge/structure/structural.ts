import type { DriverInput, DriverVerdict, MergeDriver } from '../driver.ts';
import { isChanged, joined, type LineRange } from '../combine.ts';
import { linesAt } from '../cut-text.ts';
import { mergeByLine, type LineMerge } from '../drivers/text.ts';
import { miscounted } from './count.ts';
import { Grammar, grammarOf } from './grammars.ts';
import { mergeOutlines } from './merge-outlines.ts';
import type { Outline } from './outline.ts';
import { isSuspicious, isWithinBodies } from './suspicion.ts';

/** Bytes of the longest content that is parsed. */
const parsedBytesMax = 512 * 1024;

const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
const encoder = new TextEncoder();

/**
 * Lines first, the structure of the text as a second opinion. Where the lines
 * conflict, whole declarations may still merge. Where they merge clean, a
 * declaration that would be there twice, or be missing, makes a conflict. What
 * cannot be parsed is left to the lines.
 */
export class StructuralDriver implements MergeDriver {
  readonly id = 'structural';
  readonly version: string;
  private readonly grammar: Grammar;

  constructor(grammar: Grammar) {
    this.grammar = grammar;
    this.version = `3+${grammar.version}`;
  }

  /** Once a process or thread, before a merge that is not quick; never fails: what cannot be loaded is `unavailable`. */
  load(): Promise<void> {
    return this.grammar.load();
  }

  /** The verdict where the lines are enough; undefined where the texts have to be parsed. */
  mergeQuickly(input: DriverInput): DriverVerdict | undefined {
    return withoutParse(input, mergeByLine(input));
  }

  merge(input: DriverInput): DriverVerdict {
    const lines = mergeByLine(input);
    const quick = withoutParse(input, lines);
    if (quick !== undefined) return quick;
    const { verdict: byLine } = lines;
    const { outline } = this.grammar;
    if (outline === undefined) return { ...byLine, structure: 'unavailable' };
    const read = (content: Uint8Array): Outline | undefined => outline(decoder.decode(content));
    const base = input.base && read(input.base);
    const current = base && read(input.current);
    const incoming = current && read(input.incoming);
    if (base === undefined || current === undefined || incoming === undefined) {
      return { ...byLine, structure: 'unparsed' };
    }
    if (byLine.kind === 'conflict') {
      const text = mergeOutlines({ base, current, incoming });
      const result = text === undefined ? undefined : outline(text);
      const isRight = result !== undefined && miscounted(base, current, incoming, result) === undefined;
      if (text === undefined || !isRight) return { ...byLine, structure: 'conflict' };
      return { kind: 'clean', lines: 'conflict', structure: 'clean', content: encoder.encode(text) };
    }
    const result = read(byLine.content);
    // Each side was read without an error; what they make together must be, too.
    if (result === undefined) return { kind: 'conflict', lines: 'clean', structure: 'conflict' };
    const name = miscounted(base, current, incoming, result);
    if (name === undefined) return { ...byLine, structure: 'clean' };
    const refused = regionsWith(lines, name);
    return { kind: 'conflict', lines: 'clean', structure: 'conflict', ...(refused && { refused }) };
  }
}

const isLarge = ({ base, current, incoming }: DriverInput): boolean =>
  Math.max(base?.length ?? 0, current.length, incoming.length) > parsedBytesMax;

function withoutParse(input: DriverInput, { cut, regions, verdict }: LineMerge): DriverVerdict | undefined {
  const isEnough = verdict.kind === 'clean' ? !isSuspicious(cut, regions) : isWithinBodies(cut, regions);
  if (isEnough) return { ...verdict, structure: 'unasked' };
  return isLarge(input) ? { ...verdict, structure: 'too-large' } : undefined;
}

/** Lines of the base from the first to the last change that holds the name of a declaration. */
function regionsWith({ cut, regions }: LineMerge, declaration: string): LineRange | undefined {
  const name = /[\p{L}\p{N}_$]+(?=[^\p{L}\p{N}_$]*$)/u.exec(declaration.replace(/\(.*$/, ''))?.[0];
  if (name === undefined) return undefined;
  const holds = (side: 'current' | 'incoming', range: LineRange): boolean =>
    linesAt(cut[side], range).some((line) => line.includes(name));
  const named = regions.filter(
    (region) => isChanged(region) && (holds('current', region.current) || holds('incoming', region.incoming)),
  );
  return named.length === 0 ? undefined : joined(named).base;
}

const drivers = new Map<Grammar, StructuralDriver>();

/** The structural driver for a path; undefined where its language is not read or its grammar not installed. */
export function structuralDriverOf(path: string): StructuralDriver | undefined {
  const grammar = grammarOf(path);
  if (grammar === undefined) return undefined;
  let driver = drivers.get(grammar);
  if (driver === undefined) drivers.set(grammar, (driver = new StructuralDriver(grammar)));
  return driver;
}
