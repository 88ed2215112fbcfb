import { gitWorktrees } from '../../subjects/git-worktrees.ts';
import type { ContendedSubject } from '../../workloads/contended-trunk.ts';
import { moundContender, overwritingContender } from './mound.ts';
import { wholeNumber, type SuiteOption, type SuiteSize } from '../suite.ts';

export interface ContentionParameters {
  readonly subjects: readonly ContendedSubject[];
  readonly files: number;
  readonly agents: number;
  /** Edits of one arm in one round. */
  readonly commits: number;
  readonly rounds: number;
  /** After so long no agent begins another edit in this round. */
  readonly budgetMs: number;
  readonly seed: number;
  /** git agents that lose a race wait before they try again. */
  readonly backsOff: boolean;
  /** With the negative control. */
  readonly control: boolean;
}

type Sizing = Pick<ContentionParameters, 'commits' | 'rounds' | 'budgetMs'>;

const sizings: Readonly<Record<SuiteSize, Sizing>> = {
  quick: { commits: 48, rounds: 1, budgetMs: 6_000 },
  default: { commits: 128, rounds: 3, budgetMs: 12_000 },
  full: { commits: 320, rounds: 5, budgetMs: 60_000 },
};

const filesDefault = 200;
const agentsDefault = 16;

export const contentionOptions: readonly SuiteOption[] = [
  { flags: '--agents <n>', description: `agents at once (${agentsDefault})`, parse: wholeNumber(1, 1_000) },
  { flags: '--commits <n>', description: 'edits of an arm in a round', parse: wholeNumber(1, 100_000) },
  { flags: '--files <n>', description: `files that they edit (${filesDefault})`, parse: wholeNumber(1, 10_000) },
  { flags: '--rounds <n>', description: 'rounds after the warm-up', parse: wholeNumber(1, 1_000) },
  { flags: '--seed <n>', description: 'another load of the same kind (1)', parse: wholeNumber(0, 1_000_000_000) },
  { flags: '--no-backoff', description: 'git agents that lose a race try again at once' },
  { flags: '--control', description: 'with a Mound that overwrites, whose lost updates must be seen (on with --full)' },
];

/** From the command line's options. */
export function contentionParametersOf(
  size: SuiteSize,
  values: Readonly<Record<string, unknown>>,
): ContentionParameters {
  // commander's form of `--no-backoff` is `backoff: false`.
  const given = values as Partial<Omit<ContentionParameters, 'subjects' | 'budgetMs'>> & { readonly backoff?: boolean };
  const { commits, rounds, budgetMs } = sizings[size];
  const control = given.control ?? size === 'full';
  const backsOff = given.backoff ?? true;
  return {
    subjects: [moundContender, gitWorktrees({ backsOff }), ...(control ? [overwritingContender] : [])],
    files: given.files ?? filesDefault,
    agents: given.agents ?? agentsDefault,
    commits: given.commits ?? commits,
    rounds: given.rounds ?? rounds,
    budgetMs,
    seed: given.seed ?? 1,
    backsOff,
    control,
  };
}
