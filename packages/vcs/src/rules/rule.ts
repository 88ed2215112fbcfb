import type { AuthorKind } from '../core/intent.ts';

/** Whose intents a rule is about: those that fit every list that is given. */
export interface RuleSubjects {
  readonly tasks?: readonly string[];
  /** Agent ids, or names of authors that have none. */
  readonly agents?: readonly string[];
  readonly roles?: readonly string[];
  readonly kinds?: readonly AuthorKind[];
  readonly branches?: readonly string[];
}

/**
 * A landing rule: data in the repo that the store interprets. Paths are git's
 * patterns over whole paths; one that fits a directory fits all below it.
 * - `scope`: intents change these paths only, unless they state a breakage.
 * - `line-budget`: no file of these paths grows beyond so many lines.
 * - `links`: no Markdown link of these files to a file of the repo leads nowhere.
 * - `fence`: an intent that changes files also writes this record, under what its author saw of it. `{task}` and
 *   `{agent}` stand for the intent's own; without `to` it is about intents that have them.
 * - `references`: what an intent adds to these paths cites no decision that is missing or superseded, and leaves the
 *   design documents readable; `bad: 'flag'` lets it land and tells of it.
 */
export type Rule =
  | { readonly kind: 'scope'; readonly to?: RuleSubjects; readonly paths: readonly string[] }
  | {
      readonly kind: 'line-budget';
      readonly to?: RuleSubjects;
      readonly paths: readonly string[];
      readonly linesMax: number;
    }
  | {
      readonly kind: 'references';
      readonly to?: RuleSubjects;
      readonly paths: readonly string[];
      readonly bad?: 'refuse' | 'flag';
    }
  | { readonly kind: 'links'; readonly to?: RuleSubjects; readonly paths: readonly string[] }
  | { readonly kind: 'fence'; readonly to?: RuleSubjects; readonly record: string };

export interface NamedRule {
  readonly name: string;
  readonly rule: Rule;
}

/** Records under this are rules; the rest of the key is the rule's name. */
export const rulePrefix = 'mound/rules/';
