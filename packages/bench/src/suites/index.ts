import { auditSuite } from './audit/audit.ts';
import { commitSuite } from './commit/commit.ts';
import { contentionSuite } from './contention/contention.ts';
import { coordinationSuite } from './coordination/coordination.ts';
import { curveSuite } from './curve/curve.ts';
import { gitSuite } from './git/git.ts';
import { historySuite } from './history/history.ts';
import { megafileSuite } from './megafile/megafile.ts';
import { mergesSuite } from './merges/merges.ts';
import { scaleSuite } from './scale/scale.ts';
import { sqllogictestSuite } from './sqllogictest/sqllogictest.ts';
import type { Suite } from './suite.ts';
import { swarmLoadSuite } from './swarm-load/swarm-load.ts';
import { swarmSuite } from './swarm/swarm.ts';
import { workspaceSuite } from './workspace/workspace.ts';

/** Every `mound bench NAME`, in the order of `--list`. To add one: implement `Suite`, add it here. */
export const suites: readonly Suite[] = [
  commitSuite,
  scaleSuite,
  workspaceSuite,
  contentionSuite,
  megafileSuite,
  mergesSuite,
  gitSuite,
  historySuite,
  swarmLoadSuite,
  swarmSuite,
  coordinationSuite,
  sqllogictestSuite,
  curveSuite,
  auditSuite,
];
