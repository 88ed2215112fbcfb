export { breakageOf, type Breakage } from './breakage.ts';
export { changedSymbols, declarationLine, type LineStretch } from './changed-symbols.ts';
export { breakageComment, insertComment } from './comment.ts';
export type { Diagnostic, DiagnosticTool, SourcePlace } from './diagnostic.ts';
export { explainBy, weightOf, type BrokenFile, type Evidence, type ExplainedBy, type SourceLine } from './explain.ts'; // prettier-ignore
export { readDiagnostics } from './read-output.ts';
