import { expect, test } from 'vitest';

import { controlNote } from '../suites/audit/audit-result.ts';
import { auditControl } from './control.ts';

test('a repository that cheats in every way is found out in each, an honest one in none', async () => {
  const control = await auditControl(undefined);
  expect(control).toEqual({ missed: [], alarms: [] });
  expect(controlNote(control)).toMatch(/^control: .* each is found, in an honest one none$/);
  expect(controlNote({ missed: ['network'], alarms: ['tests'] })).toBe(
    'FAULT: control: network is not found where it was planted; tests is found where nothing is: trust nothing here',
  );
}, 30_000);
