import type { Target } from '../targets.ts';

export const scaleTargets: readonly Target[] = [
  { what: 'rate of the last stretch, of the first’s', metric: 'ratioToFirstStretch', where: {}, atLeast: 0.8 },
  {
    what: 'rate of the last stretch, commits/s',
    metric: 'commitsPerSecond',
    where: { stretch: 'last' },
    atLeast: 10_000,
  },
  { what: 'bytes of disk a commit', metric: 'bytesPerCommit', where: { stretch: 'all' }, below: 600 },
  { what: 'open a snapshot at an old seq, us', metric: 'snapshotOpenUs', where: { at: 'old seq' }, below: 20 },
  { what: 'read any old version, median us', metric: 'readUsP50', where: { at: 'any old version' }, below: 20 },
  { what: 'list all files at the head, ms', metric: 'listMs', where: { at: 'head' }, below: 150 },
  { what: 'list all files at an old seq, ms', metric: 'listMs', where: { at: 'old seq' }, below: 150 },
  { what: 'fork an empty history, median ms', metric: 'forkMsP50', where: { at: 'before the first commit' }, below: 1 },
  { what: 'fork after all commits and forks, median ms', metric: 'forkMsP50', where: { at: 'after all' }, below: 1 },
];
