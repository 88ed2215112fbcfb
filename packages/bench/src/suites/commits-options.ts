import { wholeNumber, type SuiteOption } from './suite.ts';

const seq = wholeNumber(1, 1_000_000_000);

/** Which commits of which repository a suite looks at. */
export const commitsOptions: readonly SuiteOption[] = [
  { flags: '--repo <dir>', description: 'directory of the repository; it is only read' },
  { flags: '--run <run>', description: 'a swarm’s run (default: the newest that landed something)' },
  { flags: '--branch <name>', description: 'default: main' },
  { flags: '--from <seq>', description: 'first commit, where no swarm ran', parse: seq },
  { flags: '--to <seq>', description: 'last commit', parse: seq },
];
