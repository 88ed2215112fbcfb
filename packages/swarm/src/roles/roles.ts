import type { Role, RoleKind } from '../core/role.ts';
import { merger } from './merger.ts';
import { planner } from './planner.ts';
import { worker } from './worker.ts';

/** The roles that a run has where its caller gives no others. */
export const roles: Readonly<Record<RoleKind, Role>> = { planner, worker, merger };
