import { describe, expect, test } from 'vitest';

import { withTempDir } from '../harness/temp-dir.ts';
import { conformanceChecks } from './conformance.ts';
import { floorSubject } from './floor.ts';
import { commitSubjects, slowedMoundSubject } from './index.ts';
import type { Subject } from './subject.ts';

describe.each([...commitSubjects, slowedMoundSubject])('$name', (subject) => {
  test.for(conformanceChecks)('$name', async (conformance, context) => {
    const available = await subject.available();
    if (available !== true) context.skip(`needs ${available.missing}`);
    await expect(withTempDir(undefined, (dir) => conformance.check(subject, dir))).resolves.toBeUndefined();
  });
});

test.each(commitSubjects.filter(({ version }) => version !== undefined))('$name tells its version', async (subject) => {
  const isThere = (await subject.available()) === true;
  expect(await subject.version?.()).toEqual(isThere ? expect.stringMatching(/^\d+\.\d+/) : undefined);
});

/** Acknowledges everything and makes all commits but the last. */
const liar: Subject = {
  ...floorSubject,
  name: 'liar',
  prepare: async (files, dir, signal) => {
    const honest = await floorSubject.prepare(files, dir, signal);
    return {
      ...honest,
      run: async (operations, options) => {
        const { seconds } = await honest.run(operations.slice(0, -1), options);
        return { acknowledged: operations.length, seconds };
      },
    };
  },
};

test('a subject that loses a commit does not conform', async () => {
  const outcomes = await Promise.allSettled(
    conformanceChecks.map((conformance) => withTempDir(undefined, (dir) => conformance.check(liar, dir))),
  );
  expect(outcomes.map(({ status }) => status)).toEqual(conformanceChecks.map(() => 'rejected'));
});
