import { join } from 'node:path';
import { coordinationOf } from '../core/coordination.ts';
import { rootTask, type RunId } from '../core/ids.ts';
import type { JsonObject } from '../core/json.ts';
import type { Roles } from '../core/role.ts';
import type { Task } from '../core/task.ts';
import { defaultThrashing } from '../state/thrashing.ts';
import { sha256 } from './run-header.ts';
import {
  checkOf,
  defaultGuide,
  type GivenTask,
  type ResumeOptions,
  type RunPolicy,
  type SwarmLimits,
  type SwarmOptions,
} from './run-options.ts';

/** A task that comes with the goal, as its record holds it. */
export const givenTask = (request: GivenTask, base: number, roles: Roles, default_: string | undefined): Task => {
  const {
    check: _,
    unchecked: __,
    after,
    budget: ___,
    topics: ____,
    role = 'worker',
    base: from = base,
    ...rest
  } = request;
  const check = checkOf(request, roles[role], default_);
  return {
    ...rest,
    parent: rootTask,
    role,
    base: from,
    ...(check !== undefined && { check }),
    ...(after !== undefined && { after }),
  };
};

/** With every default filled in. */
export function policyOf(options: ResumeOptions | SwarmOptions, run: RunId): RunPolicy {
  const {
    transcripts,
    guide = {},
    checks = 'optional',
    approve = 'nothing',
    check,
    thrashing = defaultThrashing,
    coordination,
    review,
    green,
    unsafeWithout,
  } = options.policy ?? {};
  const directory = transcripts ?? join(options.repo.dir, '.mound', 'swarm', run);
  return {
    transcripts: directory === false ? undefined : directory,
    guide: { ...defaultGuide, ...guide },
    checks,
    approve,
    check,
    thrashing: thrashing === false ? undefined : thrashing,
    coordination: coordinationOf(coordination),
    review,
    green,
    ...(unsafeWithout !== undefined && unsafeWithout.length > 0 && { unsafeWithout }),
  };
}

/**
 * What makes a run what it is: a resume with other settings is a choice, not an
 * accident. Budget and time limit are none of it: more of them is what one
 * resumes for.
 */
export function settingsOf(
  options: ResumeOptions | SwarmOptions,
  roles: Roles,
  limits: SwarmLimits,
  { guide, checks, approve, check, coordination, thrashing, review, green, unsafeWithout }: RunPolicy,
): JsonObject {
  return {
    agentsMax: options.agentsMax,
    models: Object.fromEntries(Object.entries(options.models).map(([name, model]) => [name, model.name])),
    roles: Object.fromEntries(
      Object.entries(roles).map(([name, { prompt, ...role }]) => [name, { ...role, prompt: sha256(prompt) }]),
    ),
    limits: Object.fromEntries(
      Object.entries(limits)
        .filter(([name]) => name !== 'wallClockMs')
        .map(([name, value]) => [name, String(value)]),
    ),
    policy: {
      checks,
      ...(approve !== 'nothing' && { approve }),
      coordination: { ...coordination },
      ...(check !== undefined && { check }),
      guide: { ...guide },
      ...(review && {
        review: { onBlocking: review.onBlocking, lenses: review.lenses.map((lens) => ({ ...lens })) },
      }),
      ...(unsafeWithout && { unsafeWithout: [...unsafeWithout] }),
      ...(green && { green: { ...green } }),
      ...(thrashing && { thrashing: { ...thrashing } }),
    },
    ...(options.settings !== undefined && { more: options.settings }),
  };
}
