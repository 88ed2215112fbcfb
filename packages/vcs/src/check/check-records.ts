import type { Author } from '../core/intent.ts';
import { any, type RecordWrite } from '../core/intent.ts';
import type { Repo } from '../repo/api.ts';
import type { CheckVerdict } from './run-check.ts';

/** `flaky`: it failed and, run again on the same files, passed. */
export type HeadVerdict = CheckVerdict | 'flaky';

/** How a branch's check came out at one seq. */
export interface CheckView {
  readonly seq: number;
  readonly verdict: HeadVerdict;
  readonly command: string;
  /** Milliseconds since 1970, and how many it took. */
  readonly time: number;
  readonly ms: number;
  /** Exit code; undefined where it was ended for its time. */
  readonly code?: number;
}

/** A landing that broke the check, who made it, and what was done. */
export interface CulpritView {
  readonly seq: number;
  /** The newest seq before it at which the check passed. */
  readonly good: number;
  readonly command: string;
  readonly author: Author;
  readonly message: string;
  readonly task?: string;
  readonly commit?: string;
  /** Milliseconds since 1970. */
  readonly time: number;
  /** The last of what the check printed there. */
  readonly output: string;
  readonly action: CulpritAction;
}

/** `told`: by policy nothing. `kept`: the revert is a conflict, by its id. `branch`: where the work stands whole. */
export type CulpritAction =
  | { readonly kind: 'told' }
  | { readonly kind: 'reverted' | 'quarantined'; readonly seq: number; readonly branch?: string }
  | { readonly kind: 'kept'; readonly conflict: string; readonly branch?: string }
  | { readonly kind: 'refused'; readonly says: string; readonly branch?: string };

/** What a repo tells of the check of a branch. */
export interface GreenView {
  readonly branch: string;
  /** Newest seq at which the check is known to have passed; undefined: none. */
  readonly green: number | undefined;
  /** The branch's newest landing. */
  readonly head: number;
  /** Newest first; of the branch's head at that time, not of the search for a culprit. */
  readonly checks: readonly CheckView[];
  readonly passed: number;
  readonly failed: number;
  /** That failed and then passed, on the same files. */
  readonly flaky: number;
  /** Share of the checks that passed, at once or run again; undefined where there was none. */
  readonly passRate: number | undefined;
  /** Newest first. */
  readonly culprits: readonly CulpritView[];
}

const checkPrefix = (branch: string): string => `mound/checks/${branch}/`;
const culpritPrefix = (branch: string): string => `mound/culprits/${branch}/`;
const padded = (seq: number): string => String(seq).padStart(15, '0');

export const greenTag = (branch: string): string => (branch === 'main' ? 'green' : `green/${branch}`);

/** Each time that it ran counts, also twice at one seq. */
export const checkRecord = (branch: string, view: CheckView): RecordWrite => ({
  key: `${checkPrefix(branch)}${padded(view.seq)}.${padded(view.time)}`,
  expect: any,
  value: JSON.stringify({ format: 1, ...view }),
});

export const culpritRecord = (branch: string, view: CulpritView): RecordWrite => ({
  key: `${culpritPrefix(branch)}${padded(view.seq)}`,
  expect: any,
  value: JSON.stringify({ format: 1, ...view }),
});

function readAll<T>(repo: Repo, prefix: string): T[] {
  const records = repo.snapshot().records(prefix).toReversed();
  return records.map(({ value }) => {
    const { format: _, ...view } = JSON.parse(value.toString('utf8')) as T & { readonly format: 1 };
    return view as T;
  });
}

/** How a branch's check has come out so far. Errors: `no-such-branch`. */
export function readGreen(repo: Repo, branch = 'main'): GreenView {
  const checks = readAll<CheckView>(repo, checkPrefix(branch));
  const count = (wanted: HeadVerdict): number => checks.filter(({ verdict }) => verdict === wanted).length;
  const [passed, failed, flaky] = [count('passed'), count('failed'), count('flaky')];
  const all = passed + failed + flaky;
  return {
    branch,
    green: repo.tags().find(({ name }) => name === greenTag(branch))?.seq,
    head: repo.branch(branch).seq,
    checks,
    passed,
    failed,
    flaky,
    passRate: all === 0 ? undefined : (passed + flaky) / all,
    culprits: readAll<CulpritView>(repo, culpritPrefix(branch)),
  };
}
