import type { ResultFile } from '../harness/result-file.ts';

/** The command line asks for something that is not there; one line, exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** Something named on the command line cannot be read as what it should be; one line, exit code 42. */
export class UnreadableError extends Error {
  override readonly name = 'UnreadableError';
}

/** How thorough a run is; a suite says what that means for it. */
export type SuiteSize = 'quick' | 'default' | 'full';

/** Tells a person at a terminal how far a run is. */
export interface Progress {
  begin(steps: number): void;
  step(label: string): void;
  end(): void;
}

export const noProgress: Progress = { begin: () => undefined, step: () => undefined, end: () => undefined };

export interface SuiteContext {
  readonly size: SuiteSize;
  /** By the camel-case name of the option; absent where it was not given. */
  readonly values: Readonly<Record<string, unknown>>;
  /** Parent of temporary directories (`--dir`); default: the system's. */
  readonly dir: string | undefined;
  readonly signal: AbortSignal;
  readonly progress: Progress;
}

/** Shown in `--help`; `parse` throws a {@link UsageError} on a value that cannot be. */
export interface SuiteOption {
  /** As commander takes it: `--files <n>`. */
  readonly flags: string;
  readonly description: string;
  readonly parse?: (text: string) => unknown;
}

/** The one thing that a suite may be given without an option's name; in `values` under the camel-case name. */
export interface SuiteArgument {
  /** As commander takes it: `[git-dir]`. */
  readonly flags: string;
  readonly name: string;
  readonly description: string;
}

/**
 * What a suite hands back: a result file, which may have more fields than every
 * one has, with a text of its own where tables of samples would say it worse;
 * or something that measured nothing.
 */
export type SuiteOutcome =
  | {
      readonly kind: 'result';
      readonly result: ResultFile;
      readonly text?: string;
      /** For a person at a terminal: what can be done with it now. It may name directories, which a result must not. */
      readonly next?: string;
      readonly exitCode: number;
    }
  | { readonly kind: 'own'; readonly json: object; readonly text: string; readonly exitCode: number };

/** One `mound bench NAME`. `--quick`, `--full`, `--json` and `--dir` come with every suite. */
export interface Suite {
  readonly name: string;
  readonly summary: string;
  readonly argument?: SuiteArgument;
  readonly options: readonly SuiteOption[];
  run(context: SuiteContext): Promise<SuiteOutcome>;
}

/** What a suite's own options say: `--json`, `--dir` and the size are no part of a load, and not for a result. */
export function ownValues(
  options: readonly SuiteOption[],
  values: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  const names = options.map(({ flags }) => /--(?:no-)?([a-z-]+)/.exec(flags)?.[1] ?? '');
  const known = new Set(names.map((name) => name.replaceAll(/-([a-z])/g, (_, letter: string) => letter.toUpperCase())));
  return Object.fromEntries(Object.entries(values).filter(([name]) => known.has(name)));
}

/** A parser for options that take a whole number. */
export const wholeNumber =
  (min: number, max: number) =>
  (text: string): number => {
    const value = Number(text);
    if (!/^\d+$/.test(text) || value < min || value > max) {
      throw new UsageError(`'${text}' is no whole number from ${min} to ${max}`);
    }
    return value;
  };

/** A parser for options that take a list with commas. */
export const listOf =
  <Item>(parseOne: (text: string) => Item) =>
  (text: string): Item[] =>
    text.split(',').map((part) => parseOne(part.trim()));
