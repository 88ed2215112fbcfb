import type { Breakage, Diagnostic, DiagnosticTool, Evidence, SourceLine, SourcePlace } from '../breakage/index.ts';
import type { RepoPath, Seq } from '../core/ids.ts';
import type { DocumentFault, StandingDecision } from '../decisions/index.ts';

export interface AsOfOptions {
  /** Default: the newest seq. */
  readonly at?: number;
  /** Default: `main`. */
  readonly branch?: string;
}

export interface ReferenceOptions extends AsOfOptions {
  /** Id of a decision; default: any. */
  readonly decision?: string;
  /** Default: all files. */
  readonly path?: string;
}

export interface BreakageOptions extends AsOfOptions {
  /** Newest to list; default: all. */
  readonly limit?: number;
}

export interface ExplainOptions extends AsOfOptions {
  /** Lines of the files that were built, where they are not those of the snapshot. */
  readonly sourceLine?: SourceLine;
}

/** A breakage that landed. */
export interface BreakageView extends Breakage {
  readonly seq: Seq;
  /** Milliseconds since 1970. */
  readonly time: number;
  readonly message: string;
  /** What it changed. */
  readonly paths: readonly RepoPath[];
}

/** What one diagnostic has to do with a breakage. */
export interface ExplainedPlace extends SourcePlace {
  readonly tool: DiagnosticTool;
  readonly code?: string;
  readonly message: string;
  /** `symbol`: it speaks of a name that was changed; `range`, `file`: of lines, or a file, that were. */
  readonly by: readonly Evidence[];
}

export interface ExplainedBreakage extends BreakageView {
  /** Changed names that diagnostics speak of. */
  readonly symbols: readonly string[];
  readonly matches: readonly ExplainedPlace[];
  /** From 1 (the same file only) to 7 (names, lines and file). */
  readonly weight: number;
}

export interface Explanation {
  readonly diagnostics: readonly Diagnostic[];
  readonly breakages: readonly ExplainedBreakage[];
}

export interface DecisionList {
  /** In byte order of their documents' paths. */
  readonly decisions: readonly StandingDecision[];
  /** Documents that cannot be read, or are at odds with one another. */
  readonly faults: readonly DocumentFault[];
}
