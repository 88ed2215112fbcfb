import { plainLines, type Diagnostic } from './diagnostic.ts';
import { readEslint, readGcc, readGo, readPython } from './read-others.ts';
import { readRustc } from './read-rustc.ts';
import { readTsc } from './read-tsc.ts';

const readers = [readTsc, readRustc, readGcc, readGo, readPython, readEslint];
/** Lines of output that are looked at: a build says what is wrong before that. */
const linesMax = 20_000;
/** Longer lines are no diagnostics. */
const lineCharsMax = 4000;

/** What tools printed of errors, whichever of those that are known they were. */
export function readDiagnostics(output: string): Diagnostic[] {
  const lines = plainLines(output).slice(0, linesMax).map((line) => line.slice(0, lineCharsMax));
  return readers.flatMap((read) => read(lines));
} // prettier-ignore
