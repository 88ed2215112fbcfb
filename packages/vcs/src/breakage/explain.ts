import type { ChangedSymbols, LineStretch } from './changed-symbols.ts';
import type { Diagnostic, SourcePlace } from './diagnostic.ts';

/** What a breakage changed of one file. */
export interface BrokenFile extends ChangedSymbols {
  readonly path: string;
  /** Lines that it changed, as it left the file. */
  readonly ranges: readonly LineStretch[];
}

/** By what a diagnostic was found to come from a breakage, the strongest first. */
export type Evidence = 'symbol' | 'range' | 'file';

export interface ExplainedBy {
  readonly diagnostic: Diagnostic;
  readonly by: readonly Evidence[];
  /** Changed names that it speaks of. */
  readonly symbols: readonly string[];
}

/** Text of a source line, as it was compiled; undefined where it is not known. */
export type SourceLine = (path: string, line: number) => string | undefined;

const weights: Readonly<Record<Evidence, number>> = { symbol: 4, range: 2, file: 1 };

/** How sure it is that they belong together. */
export const weightOf = (matches: readonly ExplainedBy[]): number =>
  Math.max(0, ...matches.map(({ by }) => by.reduce((sum, evidence) => sum + weights[evidence], 0)));

/** Whether a path as a tool prints it, from wherever it ran, is one of the repository. */
export function isSamePath(printed: string, path: string): boolean {
  return printed === path || printed.endsWith(`/${path}`) || path.endsWith(`/${printed}`);
}

const words = (text: string): string[] => text.match(/[A-Za-z_$][\w$]*/g) ?? [];
const quoted = (text: string): string[] =>
  [...text.matchAll(/['"`‘“]([^'"`’”]+)['"`’”]|\b([A-Za-z_$][\w$]*)\(\)/g)].flatMap(([, name, called]) =>
    words(name ?? called ?? ''),
  );

/** The word at a column, from 1. */
function wordAt(line: string, column: number | undefined): string[] {
  if (column === undefined) return [];
  const found = [...line.matchAll(/[A-Za-z_$][\w$]*/g)].find(
    ({ 0: text, index }) => index < column && column <= index + text.length,
  );
  return found === undefined ? [] : [found[0]];
}

const isIn = ({ line }: SourcePlace, { ranges }: BrokenFile): boolean =>
  ranges.some(({ start, count }) => line > start && line <= start + Math.max(count, 1));

/** How a diagnostic bears on what a breakage changed; undefined: not at all. */
function explainOne(
  diagnostic: Diagnostic,
  files: readonly BrokenFile[],
  sourceLine: SourceLine,
): ExplainedBy | undefined {
  const { path, line, column, message, related } = diagnostic;
  const source = diagnostic.source ?? sourceLine(path, line) ?? '';
  const told = new Set([...quoted(message), ...wordAt(source, column)]);
  const near = new Set([...told, ...words(source)]);
  const by = new Set<Evidence>();
  const symbols = new Set<string>();
  for (const file of files) {
    for (const name of file.declared) if (near.has(name)) symbols.add(name);
    for (const name of file.members) if (told.has(name)) symbols.add(name);
    for (const place of [diagnostic, ...related]) {
      if (!isSamePath(place.path, file.path)) continue;
      by.add('file');
      if (isIn(place, file)) by.add('range');
    }
  }
  if (symbols.size > 0) by.add('symbol');
  if (by.size === 0) return undefined;
  const order: readonly Evidence[] = ['symbol', 'range', 'file'];
  return { diagnostic, by: order.filter((evidence) => by.has(evidence)), symbols: [...symbols] };
}

/** The diagnostics that what a breakage changed explains. Pure. */
export function explainBy(
  diagnostics: readonly Diagnostic[],
  files: readonly BrokenFile[],
  sourceLine: SourceLine,
): ExplainedBy[] {
  return diagnostics.flatMap((diagnostic) => explainOne(diagnostic, files, sourceLine) ?? []);
}
