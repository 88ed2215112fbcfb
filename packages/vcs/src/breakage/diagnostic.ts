export type DiagnosticTool = 'tsc' | 'rustc' | 'gcc' | 'go' | 'python' | 'eslint';

export interface SourcePlace {
  /** As the tool printed it, without a `./` before it. */
  readonly path: string;
  /** From 1. */
  readonly line: number;
  /** From 1; undefined where the tool tells none. */
  readonly column?: number;
}

/** One thing that a compiler, a linter or an interpreter found wrong. */
export interface Diagnostic extends SourcePlace {
  readonly tool: DiagnosticTool;
  readonly code?: string;
  readonly message: string;
  /** Other places that it speaks of: where what it misses is declared. */
  readonly related: readonly SourcePlace[];
  /** The line of the source, where it is printed. */
  readonly source?: string;
}

const escapes = new RegExp(`${String.fromCharCode(27)}\\[[0-9;]*[A-Za-z]`, 'g');

/** Output as lines, without colours. */
export const plainLines = (output: string): string[] => output.replaceAll(escapes, '').split(/\r\n|\n|\r/);

/** A place as a tool's line names it. */
export function placeOf(path: string, line: string, column: string | undefined): SourcePlace {
  const plain = path.replaceAll('\\', '/').replace(/^(?:\.\/)+/, '');
  return { path: plain, line: Number(line), ...(column !== undefined && { column: Number(column) }) };
}
