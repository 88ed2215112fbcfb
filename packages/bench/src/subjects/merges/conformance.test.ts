import { describe, expect, test } from 'vitest';

import { withTempDir } from '../../harness/temp-dir.ts';
import { mergeConformanceChecks } from './conformance.ts';
import { mergePeers, moundDrivers } from './index.ts';
import { carelessMerges, slowedMerges } from './mound.ts';

describe.each([...Object.values(moundDrivers), ...mergePeers, slowedMerges])('$name', (subject) => {
  test.for(mergeConformanceChecks)('$name', async (conformance, context) => {
    const available = await subject.available();
    if (available !== true) context.skip(`needs ${available.missing}`);
    await expect(withTempDir(undefined, (dir) => conformance.check(subject, dir))).resolves.toBeUndefined();
  });
});

test('a subject that merges what is in conflict does not conform', async () => {
  const outcomes = await Promise.allSettled(
    mergeConformanceChecks.map((conformance) =>
      withTempDir(undefined, (dir) => conformance.check(carelessMerges, dir)),
    ),
  );
  expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'rejected', 'rejected']);
});
